// Goal: what the gate must know after a restart is there after it, expired tokens and lifted bans
// are not, and a file of another kind is refused. Method: a real file, opened again and again.
#include "server/auth/gate_db.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct seen {
    cm_gate_row rows[64];
    uint32_t count;
} seen;

static void take(void *context, const cm_gate_row *row)
{
    seen *s = context;
    cr_assert_lt(s->count, 64);
    s->rows[s->count++] = *row;
}

static cm_gate_db *open_db(const char *directory, uint64_t now, seen *s)
{
    cm_gate_db *db;
    char error[1280] = "";
    memset(s, 0, sizeof *s);
    cr_assert_eq(cm_gate_db_open(directory, now, &db, error, sizeof error), CAROM_OK, "%s", error);
    cr_assert_eq(cm_gate_db_read(db, take, s), CAROM_OK);
    return db;
}

static void keep(cm_gate_db *db, cm_gate_row_kind kind, uint64_t number, bool gone)
{
    cm_gate_row row = {.kind = kind, .gone = gone, .number = number, .until_unix_s = number + 1};
    if (kind == CM_GATE_ROW_USED) {
        memset(row.id, (int)number, sizeof row.id);
    }
    cm_gate_db_keep(db, &row);
}

static void clean(char *directory, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    unlink(path);
}

Test(gate_db, rows_are_there_after_a_restart)
{
    char directory[] = "/tmp/carom_door_XXXXXX", error[1280];
    cr_assert(mkdtemp(directory) != NULL);
    seen s;
    cm_gate_db *db = open_db(directory, 100, &s);
    cr_assert_eq(s.count, 0);
    keep(db, CM_GATE_ROW_USED, 150, false);
    keep(db, CM_GATE_ROW_USED, 250, false);
    keep(db, CM_GATE_ROW_CLIENT, UINT64_MAX, false);
    keep(db, CM_GATE_ROW_CLIENT, 5, false);
    keep(db, CM_GATE_ROW_ADDRESS, 5, false);
    keep(db, CM_GATE_ROW_CLIENT, 5, true);
    keep(db, CM_GATE_ROW_TERM, 6, false);
    keep(db, CM_GATE_ROW_ADDRESS_TERM, 6, false);
    keep(db, CM_GATE_ROW_TERM, 5, false);
    keep(db, CM_GATE_ROW_ADDRESS_TERM, 5, false);
    keep(db, CM_GATE_ROW_TERM, 5, true);
    cm_gate_db *other;
    cr_assert_eq(cm_gate_db_open(directory, 100, &other, error, sizeof error), CAROM_ERROR_IO);
    cr_assert(strstr(error, "another server uses it") != NULL, "%s", error);
    cm_gate_db_close(db); // what still waits is written

    db = open_db(directory, 200, &s);
    cr_assert(cm_gate_db_is_valid(db, error, sizeof error));
    cr_assert_eq(s.count, 6, "the token of 150 has expired, the client's ban of 5 is lifted");
    uint32_t found = 0;
    for (uint32_t i = 0; i < s.count; i++) {
        found |= s.rows[i].kind == CM_GATE_ROW_USED && s.rows[i].number == 250 &&
                 s.rows[i].id[0] == 250 && s.rows[i].id[CM_GATE_DB_ID - 1] == 250;
        found |= (uint32_t)(s.rows[i].kind == CM_GATE_ROW_CLIENT && s.rows[i].number == UINT64_MAX)
                 << 1;
        found |= (uint32_t)(s.rows[i].kind == CM_GATE_ROW_ADDRESS && s.rows[i].number == 5) << 2;
        if (s.rows[i].kind >= CM_GATE_ROW_TERM && s.rows[i].until_unix_s == s.rows[i].number + 1) {
            found |= 8u << (2 * (s.rows[i].kind - CM_GATE_ROW_TERM) + s.rows[i].number - 5);
        }
    }
    cr_assert_eq(found, 7 | 8 << 1 | 8 << 2 | 8 << 3, "of a client 6, of addresses 5 and 6: %x",
                 found);
    cm_gate_db_close(db);
    clean(directory, "gate.db");
    cr_assert_eq(rmdir(directory), 0, "closed, it is one file");
}

Test(gate_db, a_file_of_another_kind_is_refused)
{
    char directory[] = "/tmp/carom_door_XXXXXX", path[128], error[1280] = "";
    cr_assert(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/gate.db", directory);
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 1000; i++) {
        fprintf(file, "not a database ");
    }
    fclose(file);
    cm_gate_db *db;
    cr_assert_eq(cm_gate_db_open(directory, 1, &db, error, sizeof error), CAROM_ERROR_CORRUPT);
    cr_assert(strstr(error, "gate.db: ") != NULL, "%s", error);
    cr_assert(db == NULL);
    clean(directory, "gate.db");
    rmdir(directory);
}
