// See the header.
#include "server/record/format/match_names.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/format/match_rows.h"
#include "shared/scene/scene_json.h"

typedef struct name {
    uint64_t tick, client_id;
    uint8_t commitment[CM_CHAIN_BYTES], salt[CM_SALT_BYTES];
    char text[CM_RECORD_PERSONAL_MAX + 1];
} name;

static carom_result take_name(sqlite3_stmt *row, name *found, cm_match_error *error)
{
    uint8_t commitment[CM_CHAIN_BYTES];
    if (!cm_column_u64(row, 0, &found->tick) || !cm_column_id(row, 1, &found->client_id) ||
        !cm_column_bytes(row, 2, found->commitment, sizeof found->commitment) ||
        !cm_column_bytes(row, 3, found->salt, sizeof found->salt) ||
        !cm_column_text(row, 4, found->text, sizeof found->text)) {
        return cm_match_corrupt(error, "personal: expected a tick, an id, a hash, a salt, a text");
    }
    cm_commitment(found->salt, "name", found->text, strlen(found->text), commitment);
    return memcmp(commitment, found->commitment, sizeof commitment) == 0
               ? CAROM_OK
               : cm_match_corrupt(error,
                                  "personal: row of tick %llu: the text is not the one committed "
                                  "to",
                                  (unsigned long long)found->tick);
}

static void put_name(FILE *out, const name *found, bool first)
{
    char quoted[6 * sizeof found->text + 3];
    char salt[2 * CM_SALT_BYTES + 1], commitment[2 * CM_CHAIN_BYTES + 1];
    cm_json_quote(found->text, quoted, sizeof quoted);
    cm_crypto_hex(found->salt, sizeof found->salt, salt);
    cm_crypto_hex(found->commitment, sizeof found->commitment, commitment);
    fprintf(out,
            "%s\n{\"tick\": %" PRIu64 ", \"client_id\": \"%" PRIu64
            "\", \"name\": %s, \"salt\": \"%s\", \"commitment\": \"%s\"}",
            first ? "" : ",", found->tick, found->client_id, quoted, salt, commitment);
}

static carom_result put_names(cm_match_file *file, FILE *out, cm_match_error *error)
{
    sqlite3_stmt *rows = cm_match_prepare(
        file, "SELECT tick, client_id, commitment, salt, value FROM personal WHERE kind = 'name' "
              "AND value IS NOT NULL ORDER BY number");
    name *found = malloc(sizeof *found);
    carom_result result = rows != NULL && found != NULL
                              ? CAROM_OK
                              : cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    int code = SQLITE_DONE;
    for (uint32_t i = 0;
         result == CAROM_OK && i < CM_MATCH_NAMES_MAX && (code = sqlite3_step(rows)) == SQLITE_ROW;
         i++) {
        result = take_name(rows, found, error);
        if (result == CAROM_OK) {
            put_name(out, found, i == 0);
        }
    }
    if (result == CAROM_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
        result = cm_match_db_wrong(&file->db, "personal", error);
    }
    sqlite3_finalize(rows);
    free(found);
    return result;
}

carom_result cm_match_names(const char *path, char **text, size_t *size, cm_match_error *error)
{
    cm_match_file *file;
    *text = NULL;
    carom_result result = cm_match_open_unread(path, &file, error);
    if (result != CAROM_OK) {
        return result;
    }
    FILE *out = open_memstream(text, size);
    if (out == NULL) {
        cm_match_close(file);
        return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    }
    fprintf(out, "{\"match_id\": \"%016" PRIx64 "\", \"players\": [", file->info.match_id);
    result = put_names(file, out, error);
    fprintf(out, "]}\n");
    bool whole = ferror(out) == 0;
    whole = fclose(out) == 0 && whole;
    if (result == CAROM_OK && !whole) {
        result = cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    }
    if (result != CAROM_OK) {
        free(*text);
        *text = NULL;
    }
    cm_match_close(file);
    return result;
}
