# The simulation as WebAssembly and the npm package carom-sim: `make web` makes build/web/carom-sim. Compiling and linking
# are two steps, and the link has no -O: clang would call Debian's wasm-opt, which breaks SIMD.
WEB := build/web
WEB_SIM := client-sdk/web/sim
WEB_CC := clang --target=wasm32-wasi
WEB_DETERMINISM = $(eval WEB_DETERMINISM := $$(shell $$(MAKE) --no-print-directory -s print-determinism CC="$(WEB_CC)"))$(WEB_DETERMINISM)
WEB_COMPILE = $(WEB_CC) -std=c17 -O2 -msimd128 -mbulk-memory -Wall -Wextra -Werror -Wno-unsupported-floating-point-opt -Wno-missing-field-initializers -fvisibility=hidden \
  -ffunction-sections -fdata-sections -D_GNU_SOURCE -I. -Ishared/include $(WEB_DETERMINISM)
WEB_STACK := $(shell sed -n 's/^\#define CAROM_STACK_MAX \([0-9]*\)u$$/\1/p' shared/include/carom/limits.h)
WEB_LINK = $(WEB_CC) -mexec-model=reactor -Wl,--gc-sections -Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=$(WEB_STACK)

# assert.c prints; native/web.c has its own.
WEB_SRCS := $(filter-out shared/base/assert.c,$(SIM_SRCS)) $(WEB_SIM)/native/web.c
# What the build of one solver compiles otherwise.
WEB_SOFT_SRCS := $(shell grep -l 'CM_SOLVER_LAST\|CM_SOFT_ALONE' $(SIM_SRCS))
WEB_OBJS := $(WEB_SRCS:%.c=$(WEB)/obj/%.o)
WEB_SOFT_OBJS := $(filter-out $(WEB_SOFT_SRCS:%.c=$(WEB)/obj/%.o),$(WEB_OBJS)) $(WEB_SOFT_SRCS:%.c=$(WEB)/soft/%.o)
# The core of a viewer of matches, for the packages to come: it compiles (make check-web).
WEB_VIEWER_OBJS := $(patsubst %.c,$(WEB)/obj/%.o,shared/wire/chunk.c shared/wire/confirmed.c shared/room/stream.c shared/room/timeline.c)
WEB_EXPORTS = $(addprefix -Wl$(COMMA)--export=,$(shell cat $(WEB_SIM)/native/exports.txt))
WEB_TS := $(wildcard $(WEB_SIM)/*.ts)
WEB_PACKAGE := $(WEB)/carom-sim

.PHONY: web
web: $(WEB_PACKAGE)/carom-sim.wasm $(WEB_PACKAGE)/carom-sim-all.wasm $(WEB_PACKAGE)/index.js
	@cp $(WEB_SIM)/package.json $(WEB_SIM)/README.md LICENSE $(WEB_PACKAGE)/

$(WEB)/obj/%.o: %.c | have-web
	@mkdir -p $(@D)
	$(call say,WASM,$<)$(CCACHE) $(WEB_COMPILE) -MMD -MP -c $< -o $@

$(WEB)/soft/%.o: %.c | have-web
	@mkdir -p $(@D)
	$(call say,WASM,$<)$(CCACHE) $(WEB_COMPILE) -DCM_SOFT_ALONE -MMD -MP -c $< -o $@

$(WEB_PACKAGE)/carom-sim.wasm: $(WEB_SOFT_OBJS) $(WEB_SIM)/native/exports.txt
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(WEB_LINK) $(WEB_EXPORTS) $(filter %.o,$^) -o $@

$(WEB_PACKAGE)/carom-sim-all.wasm: $(WEB_OBJS) $(WEB_SIM)/native/exports.txt
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(WEB_LINK) $(WEB_EXPORTS) $(filter %.o,$^) -o $@

$(WEB)/layout.wasm: $(WEB_SIM)/native/layout.c $(WEB_SIM)/native/fields.def | have-web
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(WEB_LINK) -std=c17 -I. -Ishared/include $< -Wl,--export=cw_fields,--export=cw_field_count -o $@

# Compiler and bundler, of the versions that the lock file names.
$(WEB)/node_modules/.package-lock.json: client-sdk/web/package.json client-sdk/web/package-lock.json | have-web
	@mkdir -p $(WEB) && cp $^ $(WEB)/
	$(call say,NPM,$(WEB))cd $(WEB) && npm ci --no-audit --no-fund --loglevel=error >/dev/null

$(WEB_PACKAGE)/index.js: $(WEB_TS) $(WEB_SIM)/tsconfig.json $(WEB)/layout.wasm $(WEB_SIM)/native/layout.mjs $(WEB)/node_modules/.package-lock.json
	@rm -rf $(WEB)/ts && mkdir -p $(WEB)/ts $(WEB_PACKAGE) && cp $(WEB_TS) $(WEB_SIM)/tsconfig.json $(WEB)/ts/
	@node $(WEB_SIM)/native/layout.mjs $(WEB)/layout.wasm $(WEB)/ts/layout.ts
	$(call say,TSC,$@)node $(WEB)/node_modules/typescript/bin/tsc -p $(WEB)/ts --outDir $(WEB_PACKAGE)

-include $(WEB_OBJS:.o=.d) $(WEB_SOFT_OBJS:.o=.d)

# Beside Rapier: nothing of it is in the package or needed to build it.
$(WEB)/peers/node_modules/.package-lock.json: tests/web/peers/package.json tests/web/peers/package-lock.json | have-web
	@mkdir -p $(WEB)/peers && cp $^ $(WEB)/peers/
	$(call say,NPM,$(WEB)/peers)cd $(WEB)/peers && npm ci --no-audit --no-fund --loglevel=error >/dev/null

.PHONY: bench-web
bench-web: web $(WEB)/peers/node_modules/.package-lock.json
	node tests/web/peers/bench.mjs
