// An array without order.
#include "server/auth/ban_terms.h"

#include "shared/base/array.h"

const cm_ban_term *cm_ban_terms_find(const cm_ban_terms *terms, bool by_address, uint64_t who)
{
    for (uint32_t i = 0; i < terms->count; i++) {
        if (terms->list[i].by_address == by_address && terms->list[i].who == who) {
            return &terms->list[i];
        }
    }
    return NULL;
}

bool cm_ban_terms_put(cm_ban_terms *terms, const cm_ban_term *term)
{
    cm_ban_terms_remove(terms, term->by_address, term->who);
    if (!cm_array_reserve(&terms->list, &terms->capacity, terms->count + 1, sizeof *terms->list)) {
        return false;
    }
    terms->list[terms->count++] = *term;
    return true;
}

void cm_ban_terms_remove(cm_ban_terms *terms, bool by_address, uint64_t who)
{
    const cm_ban_term *found = cm_ban_terms_find(terms, by_address, who);
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
