// Defences of SQLite connections. Reading all pages costs 0.6 ms a MiB.
#include "server/record/format/untrusted_db.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

void cm_untrusted_db_defend(sqlite3 *db, int length_max)
{
    sqlite3_extended_result_codes(db, 1);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, length_max);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 4096);
    sqlite3_limit(db, SQLITE_LIMIT_COLUMN, 32);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 20);
    sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, 3);
    sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 25000);
    sqlite3_limit(db, SQLITE_LIMIT_FUNCTION_ARG, 8);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50);
    sqlite3_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, 20);
    sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    // A mapped page could change after it was checked.
    sqlite3_exec(db, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY",
                 NULL, NULL, NULL);
}

int64_t cm_untrusted_number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *row = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW) {
        value = sqlite3_column_int64(row, 0);
    }
    sqlite3_finalize(row);
    return value;
}

bool cm_untrusted_db_check_pages(sqlite3 *db, char *found, size_t size)
{
    sqlite3_stmt *row = NULL;
    bool good = false;
    found[0] = '\0';
    if (sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(row, 0);
        good = text != NULL && strcmp(text, "ok") == 0;
        if (!good) {
            snprintf(found, size, "%s", text != NULL ? text : "");
            found[strcspn(found, "\n")] = ' ';
        }
    }
    sqlite3_finalize(row);
    return good;
}
