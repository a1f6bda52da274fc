// The rules that the program has besides the sandbox's: those of the examples; with CW_MODULE those
// of one game alone (`make web-game`).
#include "carom/module.h"

#ifdef CW_MODULE
extern const carom_module CW_MODULE;

const carom_module *const cw_modules[] = {&CW_MODULE};
#else
extern const carom_module carom_module_ball, carom_module_billiards, carom_module_race;

const carom_module *const cw_modules[] = {&carom_module_ball, &carom_module_billiards,
                                          &carom_module_race};
#endif
const uint32_t cw_module_count = sizeof cw_modules / sizeof cw_modules[0];
