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

# The viewer of a match's stream: what rooms, games and scenes need, the games of the examples, and libraries.
WATCH := $(WEB)/carom-watch
WATCH_TS := $(wildcard client-sdk/web/watch/*.ts)
WATCH_LIBRARIES := $(WEB)/libraries/done
WATCH_SRCS := $(filter-out $(WEB_SRCS) shared/base/assert.c shared/net/% shared/transport/% shared/codec/% %_json.c,$(SHARED_SRCS)) \
  client-sdk/web/watch/native/watch.c client-sdk/web/watch/native/scene.c
WATCH_OBJS := $(WATCH_SRCS:%.c=$(WEB)/watch/%.o) $(GAME_SRCS:%.c=$(WEB)/watch/%.o) $(PROTOS:proto/%.proto=$(WEB)/watch/proto/%.pb-c.o)
WATCH_EXPORTS = $(addprefix -Wl$(COMMA)--export=,$(shell cat $(WEB_SIM)/native/exports.txt client-sdk/web/watch/native/exports.txt))
WATCH_COMPILE = $(WEB_COMPILE) -D_Thread_local= -I$(GEN) -Iclient-sdk/include -I$(WEB)/libraries/include

$(WATCH_LIBRARIES): client-sdk/web/libraries.sh | have-web
	$(call say,BUILD,$(@D))client-sdk/web/libraries.sh $(@D)

# A game's rules agree with the server's by the hash of their sources (the Makefile of each says how).
$(WEB)/watch/client-sdk/examples/%.o: client-sdk/examples/%.c $(WATCH_LIBRARIES)
	@mkdir -p $(@D)
	$(call say,WASM,$<)$(CCACHE) $(WATCH_COMPILE) "-DCAROM_MODULE_SOURCE=\"$$(cat $$(ls $(dir $<)*.c $(dir $<)*.h 2>/dev/null | LC_ALL=C sort) | sha256sum | cut -c1-64)\"" -MMD -MP -c $< -o $@

$(WEB)/watch/proto/%.o: $(GEN)/proto/%.c $(WATCH_LIBRARIES)
	@mkdir -p $(@D)
	$(call say,WASM,$<)$(CCACHE) $(WATCH_COMPILE) -DNDEBUG -w -c $< -o $@

$(WEB)/watch/%.o: %.c $(WATCH_LIBRARIES) $(PROTO_HDRS)
	@mkdir -p $(@D)
	$(call say,WASM,$<)$(CCACHE) $(WATCH_COMPILE) -MMD -MP -c $< -o $@

$(WATCH)/watch/carom-watch.wasm: $(WEB_OBJS) $(WATCH_OBJS) $(WATCH_LIBRARIES) $(WEB_SIM)/native/exports.txt client-sdk/web/watch/native/exports.txt
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(WEB_LINK) $(WATCH_EXPORTS) $(filter %.o,$^) $(WEB)/libraries/objects/*.o -o $@

$(WATCH)/watch/index.js: $(WATCH_TS) $(WEB_PACKAGE)/index.js
	@rm -rf $(WEB)/watch-ts && mkdir -p $(WEB)/watch-ts/watch && cp -r $(WEB)/ts $(WEB)/watch-ts/sim && cp $(WATCH_TS) $(WEB)/watch-ts/watch/
	@sed 's/"index.ts"/"watch\/index.ts"/' $(WEB_SIM)/tsconfig.json >$(WEB)/watch-ts/tsconfig.json
	$(call say,TSC,$@)node $(WEB)/node_modules/typescript/bin/tsc -p $(WEB)/watch-ts --rootDir $(WEB)/watch-ts --outDir $(WATCH)

.PHONY: web-watch
web-watch: $(WATCH)/watch/carom-watch.wasm $(WATCH)/watch/index.js
	@cp client-sdk/web/watch/package.json client-sdk/web/watch/README.md LICENSE $(WATCH)/

# The client: the viewer's objects but its own, the SDK over three imports, ENet.
CLIENT := $(WEB)/carom-client
CLIENT_WEB := client-sdk/web/client
CLIENT_ENET := $(WEB)/libraries/done-enet
CLIENT_SRCS := $(wildcard $(CLIENT_WEB)/native/*.c) shared/transport/enet_hooks.c $(wildcard shared/codec/*.c) \
  $(filter-out client-sdk/src/relay.c client-sdk/src/lookup.c,$(wildcard client-sdk/src/*.c))
CLIENT_OBJS := $(CLIENT_SRCS:%.c=$(WEB)/watch/%.o)
CLIENT_ALL = $(WEB_OBJS) $(WATCH_OBJS) $(CLIENT_OBJS)
CLIENT_NOT = %/watch/native/watch.o %/wire/chunk_file.o %/room/stream.o
CLIENT_EXPORTS = $(addprefix -Wl$(COMMA)--export=,$(shell cat $(WEB_SIM)/native/exports.txt $(CLIENT_WEB)/native/exports.txt))
# libsodium's own ask WASI for chance; native/socket.c asks the page.
CLIENT_LIBRARIES = $(shell ls $(WEB)/libraries/objects/*.o | grep -v randombytes) $(wildcard $(WEB)/libraries/enet/*.o)

$(CLIENT_ENET): client-sdk/web/libraries.sh | have-web $(WATCH_LIBRARIES)
	$(call say,BUILD,$(@D)/enet)client-sdk/web/libraries.sh $(@D) enet

$(CLIENT_OBJS): $(CLIENT_ENET)

$(CLIENT)/client/carom-client.wasm: $(WEB_OBJS) $(WATCH_OBJS) $(CLIENT_OBJS) $(CLIENT_WEB)/native/exports.txt
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(WEB_LINK) $(CLIENT_EXPORTS) $(filter-out $(CLIENT_NOT),$(CLIENT_ALL)) $(CLIENT_LIBRARIES) -o $@

$(WEB)/layout-client.wasm: $(WEB_SIM)/native/layout.c $(CLIENT_WEB)/native/fields.def $(CLIENT_WEB)/native/frame.h client-sdk/include/carom/client.h | have-web
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(WEB_LINK) -std=c17 -I. -Ishared/include -Iclient-sdk/include -DCW_CLIENT $< -Wl,--export=cw_fields,--export=cw_field_count -o $@

$(CLIENT)/client/index.js: $(wildcard $(CLIENT_WEB)/*.ts) $(WEB_PACKAGE)/index.js $(WEB)/layout-client.wasm
	@rm -rf $(WEB)/client-ts && mkdir -p $(WEB)/client-ts/client && cp -r $(WEB)/ts $(WEB)/client-ts/sim && cp $(CLIENT_WEB)/*.ts $(WEB)/client-ts/client/
	@node $(WEB_SIM)/native/layout.mjs $(WEB)/layout-client.wasm $(WEB)/client-ts/client/layout.ts
	@sed 's/"index.ts"/"client\/index.ts"/' $(WEB_SIM)/tsconfig.json >$(WEB)/client-ts/tsconfig.json
	$(call say,TSC,$@)node $(WEB)/node_modules/typescript/bin/tsc -p $(WEB)/client-ts --rootDir $(WEB)/client-ts --outDir $(CLIENT)

# A game of one's own: `make web-game GAME=DIR` links the rules of DIR/*.c in place of the examples' to build/web/games/NAME.wasm,
# NAME being the folder's. They agree with the server's NAME.so by the hash of their sources, as its Makefile makes it.
GAME_NAME = $(notdir $(abspath $(GAME)))
GAME_OUT = $(WEB)/games/$(GAME_NAME)
.PHONY: web-game
web-game: web-client
	@[ -n '$(wildcard $(GAME)/*.c)' ] || { echo 'web-game: expected GAME=FOLDER of a module'; exit 2; }
	@rm -rf $(GAME_OUT) && mkdir -p $(GAME_OUT)
	@source=$$(cat $$(ls $(GAME)/*.c $(GAME)/*.h 2>/dev/null | LC_ALL=C sort) | sha256sum | cut -c1-64); \
	for file in $(wildcard $(GAME)/*.c) $(CLIENT_WEB)/native/games.c; do \
	  $(WATCH_COMPILE) -I$(GAME) "-DCAROM_MODULE_SOURCE=\"$$source\"" -DCW_MODULE=carom_module_$(GAME_NAME) -c $$file -o $(GAME_OUT)/$$(basename $$file .c).o || exit 1; done
	$(call say,LINK,$(GAME_OUT).wasm)$(WEB_LINK) $(CLIENT_EXPORTS) $(GAME_OUT)/*.o $(filter-out $(CLIENT_NOT) $(WEB)/watch/client-sdk/examples/% %/native/games.o,$(CLIENT_ALL)) $(CLIENT_LIBRARIES) -o $(GAME_OUT).wasm

.PHONY: web-client
web-client: $(CLIENT)/client/carom-client.wasm $(CLIENT)/client/index.js
	@cp $(CLIENT_WEB)/package.json $(CLIENT_WEB)/README.md LICENSE $(CLIENT)/

# The page by which matches are watched and replayed: page.js with three.js and carom-watch in it, packed by gzip. What is there when
# the server is built becomes part of it (Makefile, WATCH_PAGE).
PAGE := $(WEB)/page
PAGE_SRC := client-sdk/web/page
PAGE_TS := $(wildcard $(PAGE_SRC)/*.ts)

# The scenes of the gallery, packed by the program itself, which may have the page of before in it.
GALLERY := $(shell sed -n "s/.*{ name: '\([a-z0-9_]*\)', title.*/\1/p" client-sdk/web/page/gallery.ts)
GALLERY_SCENES := $(sort $(wildcard tests/scenes/seeds/collision_fig*.json $(foreach name,$(GALLERY),tests/scenes/seeds/$(name).json tests/scenes/$(name).json)))
$(WEB)/scenes.ts: $(GALLERY_SCENES) $(PAGE_SRC)/gallery.ts $(OUT)/carom
	$(call say,PACK,$@)set -e; { echo 'export const SCENES: Record<string, string> = {'; for file in $(GALLERY_SCENES); do \
	  $(OUT)/carom scene pack $$file --out $@.packed; name=$${file##*/}; echo "    $${name%.json}: '$$(base64 -w0 $@.packed)',"; done; echo '};'; } >$@.new; \
	  cmp -s $@.new $@ || cp $@.new $@; rm -f $@.new $@.packed

$(PAGE)/page.js.gz: $(WEB)/scenes.ts $(PAGE_TS) $(PAGE_SRC)/tsconfig.json $(WATCH)/watch/index.js
	@rm -rf $(WEB)/page-ts && mkdir -p $(WEB)/page-ts $(PAGE) && cp -r $(WEB)/watch-ts/sim $(WEB)/watch-ts/watch $(WEB)/page-ts/
	@mkdir -p $(WEB)/page-ts/page && cp $(PAGE_TS) $(PAGE_SRC)/tsconfig.json $(WEB)/scenes.ts $(WEB)/page-ts/page/
	$(call say,TSC,$(PAGE_SRC))node $(WEB)/node_modules/typescript/bin/tsc -p $(WEB)/page-ts/page
	$(call say,PACK,$@)$(WEB)/node_modules/.bin/esbuild $(WEB)/page-ts/page/main.ts --bundle --minify --format=esm --target=es2022 \
	  --legal-comments=inline --log-level=warning | gzip -9n >$@.new && mv $@.new $@

$(PAGE)/carom-watch.wasm.gz: $(WATCH)/watch/carom-watch.wasm
	@mkdir -p $(PAGE)
	@gzip -9n <$< >$@

$(PAGE)/%.gz: $(PAGE_SRC)/%
	@mkdir -p $(PAGE)
	@gzip -9n <$< >$@

.PHONY: web-page
web-page: | have-libraries
web-page: $(addprefix $(PAGE)/,page.js.gz carom-watch.wasm.gz index.html.gz page.css.gz)

-include $(CLIENT_OBJS:.o=.d) $(WATCH_OBJS:.o=.d) $(WEB_OBJS:.o=.d) $(WEB_SOFT_OBJS:.o=.d)

# Beside Rapier: nothing of it is in the package or needed to build it.
$(WEB)/peers/node_modules/.package-lock.json: tests/web/peers/package.json tests/web/peers/package-lock.json | have-web
	@mkdir -p $(WEB)/peers && cp $^ $(WEB)/peers/
	$(call say,NPM,$(WEB)/peers)cd $(WEB)/peers && npm ci --no-audit --no-fund --loglevel=error >/dev/null

.PHONY: bench-web
bench-web: web $(WEB)/peers/node_modules/.package-lock.json
	node tests/web/peers/bench.mjs
