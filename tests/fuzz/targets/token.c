// Tokens from strangers: any text and any sealed part are refused or read, and what is read is
// written again to the same text.
#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/wire/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A sealed part whose plaintext is the fuzzer's: what a backend with the key may write.
static void fuzz_plain(const uint8_t *data, size_t size)
{
    static const carom_token_key key = {7, {1, 2, 3}};
    uint8_t bytes[CM_TOKEN_MAX] = {CM_TOKEN_CONNECT, 7};
    size_t plain = size < CM_TOKEN_PLAIN_MAX ? size : CM_TOKEN_PLAIN_MAX;
    memcpy(bytes + CM_TOKEN_HEADER, data, plain);
    cm_crypto_token_seal(bytes + CM_TOKEN_HEADER, plain, bytes, CM_TOKEN_HEADER, bytes + 13,
                         key.secret);
    cm_token token;
    if (cm_token_open(bytes, CM_TOKEN_HEADER + plain + CM_TAG_BYTES, &key, 1, &token) == CAROM_OK) {
        CM_ASSERT(token.body.server_count <= CAROM_TOKEN_SERVERS_MAX);
        CM_ASSERT(token.body.user_data_size <= CAROM_TOKEN_DATA_MAX);
        CM_ASSERT(memchr(token.body.name, 0, sizeof token.body.name) != NULL);
        CM_ASSERT(memchr(token.body.room, 0, sizeof token.body.room) != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    carom_token_keys keys;
    carom_token token;
    cm_token_pass pass;
    uint32_t line;
    char *text = malloc(size + 1), again[CAROM_TOKEN_TEXT_MAX];
    CM_ASSERT(text != NULL && cm_crypto_init());
    memcpy(text, data, size);
    text[size] = '\0';
    (void)carom_token_keys_read(text, size, &keys, &line);
    (void)carom_token_read(text, NULL, &token);
    if (cm_token_pass_read(text, &pass)) {
        CM_ASSERT(cm_token_pass_write(&pass, again, sizeof again));
        CM_ASSERT(strcmp(text, again) == 0);
    }
    fuzz_plain(data, size);
    free(text);
    return 0;
}
