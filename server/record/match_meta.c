// See the header; the order is that of the table and of the chain.
#include "server/record/match_meta.h"

#include <stdio.h>

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

void cm_meta_rows(const cm_match_def *def, const char *sign_key, cm_meta_row rows[CM_META_ROWS])
{
    const carom_module *module = def->rules != NULL ? def->rules : cm_module_find(def->module);
    CM_ASSERT(module != NULL); // the store has started a game with it
    carom_world_def world;
    cm_scene_world_def(def->scene, &world);
    text_row(&rows[0], "engine_text", "carom, commit " CAROM_COMMIT);
    number_row(&rows[1], "engine_version", CAROM_ENGINE_VERSION);
    hex_row(&rows[2], "layout_hash", cm_layout_hash());
    hex_row(&rows[3], "match_id", def->match_id);
    text_row(&rows[4], "module", def->module);
    number_row(&rows[5], "module_abi", module->abi);
    text_row(&rows[6], "module_file", cm_module_file_hash(module));
    text_row(&rows[7], "module_source", module->source != NULL ? module->source : "");
    number_row(&rows[8], "module_version", def->module_version);
    text_row(&rows[9], "room", def->room != NULL ? def->room : "");
    hex_row(&rows[10], "seed", def->seed);
    text_row(&rows[11], "sign_key", sign_key);
    number_row(&rows[12], "started_unix_ms", def->started_unix_ms);
    number_row(&rows[13], "tick_rate", world.tick_rate);
}
