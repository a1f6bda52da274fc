// See the header.
#include "server/record/format/match_meta.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/sim/inspect.h"

#ifndef CAROM_COMMIT
#define CAROM_COMMIT "unknown"
#endif

#define KEY(kind, member, when)                                                                    \
    {                                                                                              \
#member, CM_META_##kind, offsetof(cm_match_info, member),                                  \
            sizeof(((cm_match_info *)0)->member), CM_META_##when                                   \
    }

const cm_meta_key cm_meta_keys[CM_META_KEYS] = {
    KEY(TEXT, engine_text, ALWAYS),   KEY(U32, engine_version, ALWAYS),
    KEY(NUMBER, gap_from, OF_SEAM),   KEY(NUMBER, gap_to, OF_SEAM),
    KEY(HEX, layout_hash, ALWAYS),    KEY(HEX, match_id, ALWAYS),
    KEY(TEXT, module, ALWAYS),        KEY(U32, module_abi, ALWAYS),
    KEY(TEXT, module_file, ALWAYS),   KEY(TEXT, module_source, ALWAYS),
    KEY(U32, module_version, ALWAYS), KEY(NAME, opened, GIVEN),
    KEY(HEX, origin, OF_SEAM),        KEY(HEX, parent, OF_SEAM),
    KEY(NAME, room, LATER),           KEY(HEX, seed, ALWAYS),
    KEY(TEXT, sign_key, ALWAYS),      KEY(NUMBER, started_unix_ms, ALWAYS),
    KEY(U32, tick_rate, ALWAYS),
};

void cm_meta_begin(const cm_match_def *def, const char *sign_key, cm_match_info *info)
{
    const carom_module *module = def->rules != NULL ? def->rules : cm_module_find(def->module);
    CM_ASSERT(module != NULL); // the store has started a game with it
    carom_world_def world;
    cm_scene_world_def(def->scene, &world);
    *info = (cm_match_info){.match_id = def->match_id,
                            .engine_version = CAROM_ENGINE_VERSION,
                            .layout_hash = cm_layout_hash(),
                            .engine_text = "carom, commit " CAROM_COMMIT,
                            .module_version = def->module_version,
                            .module_abi = module->abi,
                            .seed = def->seed,
                            .started_unix_ms = def->started_unix_ms & INT64_MAX,
                            .tick_rate = world.tick_rate,
                            .parent = def->parent,
                            .origin = def->origin,
                            .gap_to = def->gap_to};
    snprintf(info->module, sizeof info->module, "%s", def->module);
    snprintf(info->module_file, sizeof info->module_file, "%s", cm_module_file_hash(module));
    snprintf(info->module_source, sizeof info->module_source, "%s",
             module->source != NULL ? module->source : "");
    snprintf(info->room, sizeof info->room, "%s", def->room != NULL ? def->room : "");
    snprintf(info->opened, sizeof info->opened, "%s", def->opened != NULL ? def->opened : "");
    snprintf(info->sign_key, sizeof info->sign_key, "%s", sign_key);
}

bool cm_meta_text(const cm_match_info *info, const cm_meta_key *key, char text[CM_META_TEXT_MAX])
{
    const char *from = (const char *)info + key->offset;
    uint64_t number = 0;
    if (key->kind == CM_META_TEXT || key->kind == CM_META_NAME) {
        snprintf(text, CM_META_TEXT_MAX, "%s", from);
        return true;
    }
    if (key->kind == CM_META_U32) {
        number = *(const uint32_t *)(const void *)from;
    } else {
        memcpy(&number, from, sizeof number);
    }
    bool hex = key->kind == CM_META_HEX;
    snprintf(text, CM_META_TEXT_MAX, hex ? "%016" PRIx64 : "%" PRIu64, number);
    return hex;
}
