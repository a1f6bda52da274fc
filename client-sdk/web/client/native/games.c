// The rules that carom-client.wasm has besides the sandbox's: those of the examples. A program for
// a game of one's own has another file in place of this one.
#include "carom/module.h"

extern const carom_module carom_module_ball, carom_module_billiards, carom_module_race;

const carom_module *const cw_modules[] = {&carom_module_ball, &carom_module_billiards,
                                          &carom_module_race};
const uint32_t cw_module_count = sizeof cw_modules / sizeof cw_modules[0];
