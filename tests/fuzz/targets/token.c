// Tokens from strangers: any text and any sealed part are refused or read, and what is read is
// written again to the same text.
#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/wire/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A sealed part whose plaintext is the fuzzer's: what a backend with the key may write.
static void fuzz_plain(uint8_t kind, const uint8_t *data, size_t size)
{
    static const carom_token_key key = {7, {1, 2, 3}};
    uint8_t bytes[CM_TOKEN_MAX] = {kind, 7};
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

// What is an address is the same one when it is read again.
static void fuzz_address(const char *text)
{
    char again[CM_ADDRESS_TEXT_MAX];
    cm_address address, same;
    uint64_t network, other;
    if (cm_address_read(text, &address)) {
        cm_address_write(&address, again);
        CM_ASSERT(cm_address_read(again, &same) && cm_address_equal(&address, &same));
    }
    if (cm_address_read_network(text, &network)) {
        cm_address_write_network(network, again);
        CM_ASSERT(cm_address_read_network(again, &other) && other == network);
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
    fuzz_address(text);
    fuzz_plain(CM_TOKEN_CONNECT, data, size);
    fuzz_plain(3, data, size); // format 2
    free(text);
    return 0;
}
