// An array without order.
#include "server/auth/ban_terms.h"

#include "shared/base/array.h"

const cm_ban_term *cm_ban_terms_find(const cm_ban_terms *terms, uint64_t client_id)
{
    for (uint32_t i = 0; i < terms->count; i++) {
        if (terms->list[i].client_id == client_id) {
            return &terms->list[i];
        }
    }
    return NULL;
}

bool cm_ban_terms_put(cm_ban_terms *terms, const cm_ban_term *term)
{
    cm_ban_terms_remove(terms, term->client_id);
    if (!cm_array_reserve(&terms->list, &terms->capacity, terms->count + 1, sizeof *terms->list)) {
        return false;
    }
    terms->list[terms->count++] = *term;
    return true;
}

void cm_ban_terms_remove(cm_ban_terms *terms, uint64_t client_id)
{
    const cm_ban_term *found = cm_ban_terms_find(terms, client_id);
    if (found != NULL) {
        terms->list[found - terms->list] = terms->list[--terms->count];
    }
}

const cm_ban_term *cm_ban_terms_expired(const cm_ban_terms *terms, uint64_t now_unix_s)
{
    for (uint32_t i = 0; i < terms->count; i++) {
        const cm_ban_term *term = &terms->list[i];
        if (term->until_unix_s != 0 && term->until_unix_s <= now_unix_s) {
            return term;
        }
    }
    return NULL;
}

void cm_ban_terms_free(cm_ban_terms *terms)
{
    free(terms->list);
    memset(terms, 0, sizeof *terms);
}
