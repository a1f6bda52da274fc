// See the header.
#include "client-sdk/src/buttons.h"

void cm_buttons_note(cm_buttons *buttons, const carom_module *module, const uint8_t *before,
                     const uint8_t *now)
{
    for (uint32_t i = 0; i < 8 * module->input_size; i++) {
        uint8_t bit = (uint8_t)(1u << i % 8), *waiting = &buttons->waiting[i];
        if (((before[i / 8] ^ now[i / 8]) & module->buttons[i / 8] & bit) == 0) {
            continue;
        }
        if (*waiting < CM_EDGES_MAX) {
            ++*waiting;
            buttons->count++;
        } else {
            --*waiting;
            buttons->count--;
        }
    }
}

void cm_buttons_next(cm_buttons *buttons, const carom_module *module, uint8_t *input)
{
    uint8_t whole[CAROM_INPUT_MAX];
    if (buttons->count == 0) {
        return;
    }
    for (uint32_t i = 0; i < module->input_size; i++) {
        whole[i] = input[i];
    }
    for (uint32_t i = 0; i < 8 * module->input_size && buttons->count > 0; i++) {
        uint8_t bit = (uint8_t)(1u << i % 8), *waiting = &buttons->waiting[i];
        if (*waiting > 0) {
            --*waiting;
            buttons->count--;
            input[i / 8] ^= *waiting % 2 != 0 ? bit : 0;
        }
    }
    // Buttons that the player never had down together may be nothing to the module.
    if (module->check_input != NULL && !module->check_input(input)) {
        for (uint32_t i = 0; i < module->input_size; i++) {
            input[i] = whole[i];
        }
    }
}
