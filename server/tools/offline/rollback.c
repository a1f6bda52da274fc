// The rollback oracle. A tick costs 2 R + 1 steps, three saves and two restores; pyramid.json with
// R = 7 runs 600 ticks in seconds.
#include "server/tools/offline/rollback.h"

#include <stdlib.h>
#include <string.h>

#include "shared/scene/scene_json.h"
#include "shared/sim/inspect.h"

carom_result cm_rollback_create(const cm_offline *run, uint32_t ticks_back, cm_rollback *rollback)
{
    memset(rollback, 0, sizeof *rollback);
    rollback->ticks_back = ticks_back;
    rollback->bound = cm_offline_save_bound(run);
    carom_result result =
        cm_offline_create_with(run->scene, run->inputs, run->solver, &rollback->other);
    if (result != CAROM_OK) {
        cm_offline_destroy(&rollback->other);
        return result;
    }
    // Aligned as worlds are: a save is copied in rows.
    size_t size = (rollback->bound + 63) / 64 * 64;
    rollback->save = aligned_alloc(64, size);
    rollback->first_image = aligned_alloc(64, size);
    rollback->second_image = aligned_alloc(64, size);
    rollback->generations =
        calloc((size_t)carom_world_limits(run->world).bodies + 1, sizeof(uint32_t));
    if (rollback->save == NULL || rollback->first_image == NULL || rollback->second_image == NULL ||
        rollback->generations == NULL) {
        cm_rollback_destroy(rollback);
        return CAROM_ERROR_MEMORY;
    }
    for (uint32_t slot = 0; slot < carom_world_body_slots(run->world); slot++) {
        rollback->generations[slot] = carom_world_body_at(run->world, slot).generation;
    }
    return CAROM_OK;
}

void cm_rollback_destroy(cm_rollback *rollback)
{
    cm_offline_destroy(&rollback->other);
    free(rollback->save);
    free(rollback->first_image);
    free(rollback->second_image);
    free(rollback->generations);
    rollback->save = rollback->first_image = rollback->second_image = NULL;
    rollback->generations = NULL;
}

// Steps R times; `after_one` gets the hash after the first step.
static void step_back(const cm_rollback *rollback, cm_offline *run, uint64_t *after_one)
{
    for (uint32_t i = 0; i < rollback->ticks_back; i++) {
        cm_offline_step(run);
        if (i == 0 && after_one != NULL) {
            *after_one = cm_offline_hash(run);
        }
    }
}

static void name_difference(cm_rollback *rollback, const cm_offline *first,
                            const cm_offline *second)
{
    cm_difference found;
    if (rollback->differs) {
        return;
    }
    rollback->differs = true;
    rollback->difference.tick = carom_world_tick(first->world);
    if (!cm_world_difference(first->world, second->world, &found)) {
        // Nothing of the world: what the module keeps, or the form of the save itself.
        snprintf(rollback->difference.field, sizeof rollback->difference.field, "module");
        snprintf(rollback->difference.first, sizeof rollback->difference.first, "%016llx",
                 (unsigned long long)cm_offline_hash(first));
        snprintf(rollback->difference.second, sizeof rollback->difference.second, "%016llx",
                 (unsigned long long)cm_offline_hash(second));
        return;
    }
    rollback->difference.tick = found.tick;
    if (found.body != UINT32_MAX) {
        cm_offline_body_name(first, found.body, rollback->difference.body,
                             sizeof rollback->difference.body);
    }
    snprintf(rollback->difference.field, sizeof rollback->difference.field, "%s.%s[%u]",
             found.section, found.field, (unsigned)found.element);
    snprintf(rollback->difference.first, sizeof rollback->difference.first, "%s", found.first);
    snprintf(rollback->difference.second, sizeof rollback->difference.second, "%s", found.second);
}

static void count_tick(cm_rollback *rollback, const carom_world *world)
{
    carom_world_stats stats;
    carom_world_stats_get(world, &stats);
    rollback->contacts += stats.touching;
    rollback->joints += stats.joints;
    uint32_t events = 0;
    const carom_sleep_event *sleeps = carom_world_sleep_events(world, &events);
    for (uint32_t i = 0; i < events; i++) {
        rollback->sleeps += sleeps[i].asleep;
    }
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        uint32_t generation = carom_world_body_at(world, slot).generation;
        if (generation != 0 && generation != rollback->generations[slot]) {
            rollback->generations[slot] = generation;
            rollback->creations++;
        }
    }
}

carom_result cm_rollback_tick(cm_rollback *rollback, cm_offline *run)
{
    cm_offline *other = &rollback->other;
    uint64_t once = 0;
    size_t saved = cm_offline_save(run, rollback->save, rollback->bound);

    step_back(rollback, run, &once);
    memset(rollback->first_image, 0x11, rollback->bound);
    size_t first = cm_offline_save(run, rollback->first_image, rollback->bound);

    cm_world_spoil_scratch(other->world, 0xa5);
    carom_result result = cm_offline_restore(other, rollback->save, saved);
    if (result != CAROM_OK) {
        return result;
    }
    if (rollback->perturb != NULL) {
        rollback->perturb(rollback->perturb_context, other->world);
    }
    step_back(rollback, other, NULL);
    memset(rollback->second_image, 0x22, rollback->bound);
    size_t second = cm_offline_save(other, rollback->second_image, rollback->bound);
    if (first != second || memcmp(rollback->first_image, rollback->second_image, first) != 0) {
        name_difference(rollback, run, other);
    }

    cm_world_spoil_scratch(run->world, 0x5a);
    result = cm_offline_restore(run, rollback->save, saved);
    if (result != CAROM_OK) {
        return result;
    }
    cm_offline_step(run);
    rollback->rewinds += 2;
    if (cm_offline_hash(run) != once) {
        // The second world gives the step's first run again, for the name of what differs.
        result = cm_offline_restore(other, rollback->save, saved);
        if (result != CAROM_OK) {
            return result;
        }
        cm_offline_step(other);
        name_difference(rollback, other, run);
    }
    count_tick(rollback, run->world);
    return CAROM_OK;
}

void cm_rollback_print(FILE *out, const cm_rollback *rollback, const cm_offline *run)
{
    fprintf(out,
            "{\"ticks\": %llu, \"rollback\": %u, \"hash\": \"%016llx\", \"rewinds\": %llu, "
            "\"contacts\": %llu, \"joints\": %llu, \"sleeps\": %llu, \"creations\": %llu, "
            "\"difference\": ",
            (unsigned long long)carom_world_tick(run->world), (unsigned)rollback->ticks_back,
            (unsigned long long)cm_offline_hash(run), (unsigned long long)rollback->rewinds,
            (unsigned long long)rollback->contacts, (unsigned long long)rollback->joints,
            (unsigned long long)rollback->sleeps, (unsigned long long)rollback->creations);
    if (!rollback->differs) {
        fputs("null}\n", out);
        return;
    }
    char body[6 * CM_NAME_MAX + 3];
    cm_json_quote(rollback->difference.body, body, sizeof body);
    fprintf(out,
            "{\"tick\": %llu, \"body\": %s, \"field\": \"%s\", \"first\": \"%s\", \"second\": "
            "\"%s\"}}\n",
            (unsigned long long)rollback->difference.tick, body, rollback->difference.field,
            rollback->difference.first, rollback->difference.second);
}
