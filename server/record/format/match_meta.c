// See the header; the order is that of the table and of the chain.
#include "server/record/format/match_meta.h"

#include <stdio.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/sim/inspect.h"

#ifndef CAROM_COMMIT
#define CAROM_COMMIT "unknown"
#endif

static void text_row(cm_meta_row *row, const char *key, const char *text)
{
    row->key = key;
    row->is_text = true;
    snprintf(row->text, sizeof row->text, "%s", text);
}

static void hex_row(cm_meta_row *row, const char *key, uint64_t value)
{
    row->key = key;
    row->is_text = true;
    snprintf(row->text, sizeof row->text, "%016llx", (unsigned long long)value);
}

static void number_row(cm_meta_row *row, const char *key, uint64_t value)
{
    row->key = key;
    row->is_text = false;
    snprintf(row->text, sizeof row->text, "%llu", (unsigned long long)(value & INT64_MAX));
}

uint32_t cm_meta_rows(const cm_match_def *def, const char *sign_key,
                      cm_meta_row rows[CM_META_ROWS_MAX])
{
    const carom_module *module = def->rules != NULL ? def->rules : cm_module_find(def->module);
    CM_ASSERT(module != NULL); // the store has started a game with it
    carom_world_def world;
    cm_scene_world_def(def->scene, &world);
    cm_meta_row *row = rows;
    text_row(row++, "engine_text", "carom, commit " CAROM_COMMIT);
    number_row(row++, "engine_version", CAROM_ENGINE_VERSION);
    if (def->parent != 0) {
        number_row(row++, "gap_from", 0);
        number_row(row++, "gap_to", def->gap_to);
    }
    hex_row(row++, "layout_hash", cm_layout_hash());
    hex_row(row++, "match_id", def->match_id);
    text_row(row++, "module", def->module);
    number_row(row++, "module_abi", module->abi);
    text_row(row++, "module_file", cm_module_file_hash(module));
    text_row(row++, "module_source", module->source != NULL ? module->source : "");
    number_row(row++, "module_version", def->module_version);
    if (def->parent != 0) {
        hex_row(row++, "origin", def->origin);
        hex_row(row++, "parent", def->parent);
    }
    text_row(row++, "room", def->room != NULL ? def->room : "");
    hex_row(row++, "seed", def->seed);
    text_row(row++, "sign_key", sign_key);
    number_row(row++, "started_unix_ms", def->started_unix_ms);
    number_row(row++, "tick_rate", world.tick_rate);
    return (uint32_t)(row - rows);
}

void cm_meta_set_gap_from(cm_meta_row *rows, uint32_t count, uint64_t gap_from)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(rows[i].key, "gap_from") == 0) {
            number_row(&rows[i], "gap_from", gap_from);
        }
    }
}
