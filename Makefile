# Carom. `make help` lists the targets.
#
# Objects go to build/$(BUILD); the release build's binary is also build/carom. User CFLAGS come after
# our own, so CFLAGS=-O0 works, and before DETERMINISM, so nothing in CFLAGS can undo what the
# simulation needs. BREAK_DETERMINISM comes last of all and exists only to show that the tests have
# teeth: it builds under build/broken.

BUILD ?= release
SHELL := /bin/bash
RUN_SECONDS ?=

PKGS := libenet sqlite3 libprotobuf-c libsodium jansson libzstd
# Parts, each with the library that it needs: those that WITH names (WITH=http,xz; WITH= is none), or
# those whose library is there, looked at when it is used: the build may have installed it by then.
PKG_http := libmicrohttpd
PKG_xz := liblzma
PARTS := http xz
COMMA := ,
WANTED := $(subst $(COMMA), ,$(WITH))
ifneq ($(filter-out $(PARTS),$(WANTED)),)
$(error WITH=$(WITH): expected some of $(PARTS))
endif
WITH_PARTS = $(if $(filter undefined,$(origin WITH)),$(foreach p,$(PARTS),$(shell pkg-config --exists $(PKG_$(p)) && echo $(p))),$(WANTED))
PART_PKGS = $(foreach p,$(WITH_PARTS),$(PKG_$(p)))
PART_FLAGS = $(foreach p,$(PARTS),-DCM_WITH_$(p)=$(if $(filter $(p),$(WITH_PARTS)),1,0))

# Every target installs what it needs and what is not there; only DEPS=no keeps it from that. Compiler and libraries
# come first of all, since what follows asks them.
export DEPS
ifneq ($(filter-out help clean deps lines,$(or $(MAKECMDGOALS),all)),)
ifneq ($(shell { command -v gcc || command -v cc || command -v $(CC); } >/dev/null 2>&1 && command -v protoc-c >/dev/null 2>&1 && \
  pkg-config --exists $(PKGS) 2>/dev/null || deploy/deps.sh run >&2 || echo missing),)
$(error deploy/deps.sh failed, see above)
endif
endif

ifeq ($(origin CC),default)
CC := $(shell command -v gcc >/dev/null 2>&1 && echo gcc || echo cc)
endif
# The compiler's cache, where one is installed and may be written to: without that it fails. CCACHE= is none.
ifeq ($(origin CCACHE),undefined)
CCACHE := $(if $(findstring ccache,$(CC)),,$(shell \
  cache=$$(ccache -k cache_dir 2>/dev/null) && mkdir -p "$$cache" 2>/dev/null && [ -w "$$cache" ] && echo ccache))
endif

# A fifth of the compiler's time is for where each variable is at each instruction, which no profile asks for.
OPT_release := -O3 -g -fno-var-tracking
OPT_TESTS := -O1 -g -fno-var-tracking
OPT_debug := -O0 -g3 -DCM_DEBUG=1 -DCM_CHECK_STEPS=1
OPT_asan := -O1 -g -fno-var-tracking -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -DCM_DEBUG=1
OPT_msan := -O1 -g -fsanitize=memory -fno-omit-frame-pointer -DCM_DEBUG=1
OPT_fuzzer := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -DCM_DEBUG=1
OPT_tsan := -O1 -g -fno-var-tracking -fsanitize=thread -fno-omit-frame-pointer
ifeq ($(OPT_$(BUILD)),)
$(error BUILD=$(BUILD): expected release, debug, asan, msan (clang, the simulation alone), fuzzer (clang, the decoders) or tsan)
endif

# What bit-identical results need, on every object. Each line undoes one thing a user flag could do.
DETERMINISM := -fno-fast-math -fno-unsafe-math-optimizations -fno-associative-math \
  -fno-reciprocal-math -fno-finite-math-only -fsigned-zeros -ffp-contract=off -fno-math-errno \
  -fno-strict-aliasing
ifneq ($(findstring i686,$(shell $(CC) -dumpmachine 2>/dev/null)),)
DETERMINISM += -msse2 -mfpmath=sse
endif
# Where there are fused instructions, gcc 12 makes vfmaddsub of a product, a sum and a difference side
# by side whatever -ffp-contract says: so there are none.
ifneq ($(filter x86_64% i686%,$(shell $(CC) -dumpmachine 2>/dev/null)),)
DETERMINISM += -mno-fma -mno-fma4 -mno-avx512f
endif
# There -std=c17 alone makes binary32 arithmetic binary64.
ifneq ($(findstring s390x,$(shell $(CC) -dumpmachine 2>/dev/null)),)
DETERMINISM += -fexcess-precision=fast
endif

OUT := build/$(BUILD)
ifneq ($(BREAK_DETERMINISM),)
OUT := build/broken
endif
# Another compiler, or other user flags, get a folder of their own: OUT_SUFFIX=-clang-O0
OUT := $(OUT)$(OUT_SUFFIX)
GEN := $(OUT)/gen

PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS = $(shell pkg-config --libs $(PKGS) 2>/dev/null)
SERVER_LIBS = $(shell pkg-config --libs $(PKGS) $(PART_PKGS) 2>/dev/null)

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-missing-field-initializers -Wno-psabi
CPPFLAGS_OWN = -I. -Ishared/include -Iclient-sdk/include -I$(GEN) -D_GNU_SOURCE $(PKG_CFLAGS)
COMPILE = $(CC) -std=c17 $(OPT_$(BUILD)) $(WARN) -fvisibility=hidden -fPIC -pthread $(CPPFLAGS_OWN) $(CPPFLAGS) \
  $(CFLAGS) $(DETERMINISM) $(BREAK_DETERMINISM)
LINK = $(CC) $(OPT_$(BUILD)) -pthread -rdynamic $(LDFLAGS)

PROTOS := $(wildcard proto/*.proto)
PROTO_OBJS := $(PROTOS:proto/%.proto=$(OUT)/gen/proto/%.pb-c.o)
PROTO_HDRS := $(PROTOS:proto/%.proto=$(GEN)/proto/%.pb-c.h)

SHARED_SRCS := $(shell find shared -name '*.c' | LC_ALL=C sort)
SERVER_SRCS := $(shell find server -name '*.c' | LC_ALL=C sort)
SDK_OWN_SRCS := $(shell find client-sdk/src -name '*.c' 2>/dev/null | LC_ALL=C sort)
# The SDK has neither the JSON reader nor the network replacement.
SDK_SRCS := $(SDK_OWN_SRCS) $(filter-out shared/net/% %_json.c,$(SHARED_SRCS))
# The world by itself: no other folder, no library.
SIM_SRCS := $(filter shared/base/% shared/sim/%,$(SHARED_SRCS))
# What a backend needs to issue tokens, and nothing else.
TOKEN_SRCS := $(addprefix shared/,base/assert.c base/result.c base/utf8.c wire/control_text.c wire/crypto.c \
  wire/address.c wire/token.c wire/token_issue.c)
UNIT_SRCS := $(shell find tests/unit -name '*.c' 2>/dev/null | LC_ALL=C sort) tests/fuzz/random_world.c tests/cluster/matches.c
EXACT_SRCS := $(sort $(wildcard tests/exact/*.c)) tests/cluster/matches.c
HOSTILE_SRCS := $(sort $(wildcard tests/hostile/*.c))
CLUSTER_SRCS := $(shell find tests/cluster -name '*.c' 2>/dev/null | LC_ALL=C sort) tests/unit/record/faulty_vfs.c
PHYSICS_SRCS := $(sort $(wildcard tests/physics/*.c)) tests/unit/timeout.c
EXAMPLE_SRCS := $(wildcard client-sdk/examples/*.c)
# The games' rules and bots, for `carom bench feel` and the unit tests; each folder has its own Makefile for those who copy it.
GAMES := $(patsubst client-sdk/examples/%/module.c,%,$(wildcard client-sdk/examples/*/module.c))
GAME_SRCS := $(wildcard $(GAMES:%=client-sdk/examples/%/*.c))

obj = $(patsubst %.c,$(OUT)/%.o,$(1))
CAROM_OBJS := $(call obj,$(SHARED_SRCS) $(SERVER_SRCS) $(SDK_OWN_SRCS) $(GAME_SRCS)) $(PROTO_OBJS)
TESTED_OBJS := $(filter-out $(OUT)/server/main.o,$(CAROM_OBJS))
EXAMPLES := $(patsubst client-sdk/examples/%.c,$(OUT)/examples/%,$(EXAMPLE_SRCS))

.SECONDARY: $(PROTO_HDRS) $(PROTO_HDRS:.h=.c)
.PHONY: all run play test check check-quick night bench deps install clean help format lint lines compile_commands
.DEFAULT_GOAL := all

all: $(OUT)/carom $(OUT)/libcarom_sim.a $(OUT)/libcarom_client.a $(OUT)/libcarom_token.a $(EXAMPLES)
	@if [ "$(OUT)" = build/release ]; then ln -sf release/carom build/carom; fi

help:
	@echo 'make             builds the server, the client SDK and its examples'
	@echo 'make run         hosts and plays a match; RUN_SECONDS=n ends it'
	@echo 'make play        the same with a page by which a browser shows the match (clang, Node.js, npm)'
	@echo 'make test        every suite that each commit needs (five minutes on two cores); SUITES="test-unit ..." only these'
	@echo 'make check       make test, then the slow suites (up to 90 minutes); make check-quick: those of 20 minutes'
	@echo 'make night       suites that take hours'
	@echo 'make fuzz        random worlds by the sanitizers, without end; FUZZ_SECONDS=n ends it'
	@echo 'make bench       measurements; make bench-rooms: of 64 rooms beside each other'
	@echo 'make bench-peers the benchmark scenes beside Bullet and ODE'
	@echo 'make web         the simulation as WebAssembly, and the npm package carom-sim, in build/web'
	@echo 'make web-watch   the npm package carom-watch, which watches and verifies matches, in build/web'
	@echo 'make web-client  the npm package carom-client, by which a page plays on servers, in build/web'
	@echo 'make web-game GAME=FOLDER   a program of carom-client with the rules of a module, in build/web/games'
	@echo 'make web-page    the page by which matches are watched, which the next build of the server has in it'
	@echo 'make bench-web   the same beside Rapier, under Node.js'
	@echo 'make deps        installs what run and test need (Debian packages)'
	@echo 'make install     into $$(DESTDIR)$$(PREFIX), PREFIX=/usr/local'
	@echo 'make format      clang-format over every source'
	@echo 'make pictures    draws the pictures of shared/scene/SCENE.md and of the README anew'
	@echo 'make sources     makes the numbers and pictures of shared/sim/solve/SOURCES.md anew'
	@echo 'make lint        warnings beyond those of the build, scripts, and tidy'
	@echo 'make lines       lines of product, generated tables and tests by folder'
	@echo 'make compile_commands  build/compile_commands.json for editors'
	@echo 'make clean       removes build/'
	@echo 'Each target installs what it needs and is not there; DEPS=no keeps it from that.'
	@echo 'variables: BUILD=release|debug|asan|tsan|msan, CC, CFLAGS, LDFLAGS, OUT_SUFFIX, DEPS=no, WITH=http,xz (parts; all that are found), CCACHE= (no ccache, though there is one), V=1'

# V=1 shows the commands.
ifeq ($(V),)
say = @printf '  %-5s %s\n' $(1) $(2);
else
say =
endif

# What `carom version` and match files say: made anew when the commit changes, and only the two
# objects with it.
COMMIT := $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
COMMIT_STAMP := build/commit-$(COMMIT)
$(COMMIT_STAMP):
	@mkdir -p build
	@rm -f build/commit-*
	@touch $@
STAMPED := $(OUT)/server/ops/version.o $(OUT)/server/record/format/match_meta.o
$(STAMPED): $(COMMIT_STAMP)
$(STAMPED): CPPFLAGS_OWN += -DCAROM_COMMIT='"$(COMMIT)"'
# Where a part is built or left out: these objects alone, and anew when the parts change.
PARTS_STAMP := $(OUT)/parts-$(subst $(eval) ,-,$(strip $(WITH_PARTS)))
$(PARTS_STAMP):
	@mkdir -p $(OUT)
	@rm -f $(OUT)/parts-*
	@touch $@
PARTED := $(call obj,server/ops/parts.c server/ops/http.c server/ops/http_absent.c server/tools/bench/cube_file.c)
$(PARTED): $(PARTS_STAMP)
$(PARTED): private CPPFLAGS_OWN += $(PART_FLAGS) $(shell pkg-config --cflags $(PART_PKGS) 2>/dev/null)
# What a module from a file must have been built with, and what pkg-config tells its Makefile.
$(OUT)/server/node/module_loader.o: private CPPFLAGS_OWN += -DCAROM_DETERMINISM='"$(strip $(DETERMINISM))"'

# Another compiler or other flags build anew: every object depends on this file, which changes only with them.
FLAGS = $(CC) $(shell $(CC) -dumpfullversion 2>/dev/null) $(OPT_$(BUILD)) $(OPT_TESTS) $(WARN) $(CPPFLAGS) $(CFLAGS) $(DETERMINISM) \
  $(BREAK_DETERMINISM) $(LDFLAGS)
FLAGS_STAMP := $(OUT)/flags
$(FLAGS_STAMP): always
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS))' >$@
.PHONY: always

# For tests: the packages that they need beside those of every build. (A static pattern: make looks
# for no implicit rule of a phony target.)
HAVE := have-test have-matrix have-node have-check have-lint have-web have-browser have-firefox have-libraries
.PHONY: $(HAVE)
$(HAVE): have-%:
	@deploy/deps.sh $*

# Generated protobuf code ------------------------------------------------------------------------
$(GEN)/proto/%.pb-c.c $(GEN)/proto/%.pb-c.h: proto/%.proto
	@mkdir -p $(GEN)
	$(call say,PROTO,$<)protoc-c --c_out=$(GEN) $<

# Migrations of the catalogue, in their order, each as one text of C.
CATALOGUE_SQL := $(sort $(wildcard server/record/catalogue/*.sql))
$(GEN)/catalogue.inc: $(CATALOGUE_SQL)
	@mkdir -p $(GEN)
	$(call say,SQL,$@)awk 'FNR == 1 && NR > 1 { print "," } { gsub(/["\\]/, "\\\\&"); printf "\"%s\\n\"\n", $$0 }' $^ >$@
$(OUT)/server/record/catalogue/catalogue.o: $(GEN)/catalogue.inc

# The files of a new module, each as a row {name, text} of C.
MODULE_TEMPLATE := $(sort $(wildcard server/tools/module/template/*.in server/tools/module/template/*/*.in))
$(GEN)/module_template.inc: $(MODULE_TEMPLATE)
	@mkdir -p $(GEN)
	$(call say,TEXT,$@)LC_ALL=C awk 'FNR == 1 { if (NR > 1) print "},"; n = FILENAME; sub(/.*\/template\//, "", n); sub(/\.in$$/, "", n); printf "{\"%s\",\n", n } \
	  { gsub(/["\\]/, "\\\\&"); printf "\"%s\\n\"\n", $$0 } END { print "}," }' $^ >$@
$(OUT)/server/tools/module/template.o: $(GEN)/module_template.inc

# The files of the page that `carom serve --http` gives, likewise.
HTTP_PAGE := $(sort $(wildcard server/ops/page/*))
$(GEN)/http_page.inc: $(HTTP_PAGE)
	@mkdir -p $(GEN)
	$(call say,TEXT,$@)LC_ALL=C awk 'FNR == 1 { if (NR > 1) print "},"; n = FILENAME; sub(/.*\//, "", n); printf "{\"%s\",\n", n } \
	  { gsub(/["\\]/, "\\\\&"); printf "\"%s\\n\"\n", $$0 } END { print "}," }' $^ >$@

# The page by which matches are watched, packed, where `make web-page` has made it; else none of its files. Seen by their sums: the
# page's gallery is packed by the program, so that a program holds the page that was there before it.
$(GEN)/watch_page.list: always
	@mkdir -p $(GEN)
	@{ LC_ALL=C sha256sum build/web/page/*.gz 2>/dev/null || true; } | cut -c1-32,65- >$@.$$$$; cmp -s $@.$$$$ $@ && rm $@.$$$$ || mv $@.$$$$ $@
$(GEN)/watch_page.inc: $(GEN)/watch_page.list
	$(call say,TEXT,$@)n=0; rows=; while read -r sum file; do \
	  echo "static const unsigned char WATCH_$$n[] = {"; LC_ALL=C od -An -v -tu1 $$file | sed 's/  */,/g; s/^,//; s/$$/,/'; echo '};'; \
	  name=$${file##*/}; rows="$$rows X(\"$${name%.gz}\", WATCH_$$n, \"$$sum\")"; n=$$((n + 1)); done <$< >$@; \
	  echo "#define WATCH_FILES(X)$$rows" >>$@
$(OUT)/server/ops/web_page.o: $(GEN)/http_page.inc $(GEN)/watch_page.inc

# The scenes of the games in client-sdk/examples, each as a text of C.
GAME_SCENES := $(foreach game,$(GAMES),client-sdk/examples/$(game)/$(game).json) tests/scenes/seeds/volume_six_blocks_pointer.json
$(GEN)/game_scenes.inc: $(GAME_SCENES)
	@mkdir -p $(GEN)
	$(call say,TEXT,$@)LC_ALL=C awk 'FNR == 1 { if (NR > 1) print ";"; n = FILENAME; sub(/.*\//, "", n); sub(/\.json$$/, "", n); printf "static const char %s_scene[] =\n", n } \
	  { gsub(/["\\]/, "\\\\&"); printf "\"%s\\n\"\n", $$0 } END { print ";" }' $^ >$@
$(OUT)/server/tools/feel/games.o: $(GEN)/game_scenes.inc

$(OUT)/gen/proto/%.pb-c.o: $(GEN)/proto/%.pb-c.c $(FLAGS_STAMP)
	$(call say,CC,$<)$(CCACHE) $(COMPILE) -w -MMD -MP -c $< -o $@

# Objects ------------------------------------------------------------------------------------------
# The tests' own code is compiled once and hardly run: half of the time. (Private: else the stamp of the flags has it too.)
$(OUT)/tests/%.o: private OPT_release := $(OPT_TESTS)

# No decoder comes into the solver's passes, and clang's sanitizers take two minutes for one of them.
ifeq ($(BUILD),fuzzer)
$(OUT)/shared/sim/solve/soft/pass%.o: private WARN += -fno-sanitize=all
endif

# Half of the time that the sanitizers' compilers take is for these checks in the code of several lanes; an address that
# is wrong is seen by AddressSanitizer all the same.
ifeq ($(BUILD),asan)
$(OUT)/shared/sim/solve/soft/pass%.o $(OUT)/shared/sim/collide/box_axes%.o: \
  private WARN += -fno-sanitize=null,alignment,object-size,pointer-overflow
endif

# These turn AVX-512 on for themselves, and fused instructions with it: nothing is vectorised unasked.
$(OUT)/shared/sim/solve/soft/pass16.o $(OUT)/shared/sim/collide/box_axes16.o: \
  private DETERMINISM += -fno-tree-vectorize -fno-tree-slp-vectorize

$(OUT)/%.o: %.c $(FLAGS_STAMP) | $(PROTO_HDRS)
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CCACHE) $(COMPILE) -MMD -MP -c $< -o $@

$(OUT)/carom: $(CAROM_OBJS)
	$(call say,LINK,$@)$(LINK) $^ $(SERVER_LIBS) -lm -o $@

$(OUT)/libcarom_client.a: $(call obj,$(SDK_SRCS)) $(PROTO_OBJS)
	@rm -f $@
	$(call say,AR,$@)ar rcs $@ $^

$(OUT)/libcarom_sim.a: $(call obj,$(SIM_SRCS))
	@rm -f $@
	$(call say,AR,$@)ar rcs $@ $^

$(OUT)/libcarom_token.a: $(call obj,$(TOKEN_SRCS))
	@rm -f $@
	$(call say,AR,$@)ar rcs $@ $^

$(OUT)/examples/%: client-sdk/examples/%.c $(OUT)/libcarom_client.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(COMPILE) -MMD -MP $(OPT_$(BUILD)) $< $(OUT)/libcarom_client.a $(LDFLAGS) $(PKG_LIBS) -lm -o $@

# Tests --------------------------------------------------------------------------------------------
$(OUT)/client-sdk/examples/%.o $(OUT)/tests/unit/examples/%.o: private CPPFLAGS_OWN += $(GAMES:%=-Iclient-sdk/examples/%)
$(call obj,$(UNIT_SRCS)): | have-test
$(OUT)/unit: $(call obj,$(UNIT_SRCS)) $(TESTED_OBJS)
	$(call say,LINK,$@)$(LINK) $^ $(SERVER_LIBS) -lcriterion -lm -o $@

# The laws of mechanics, tried on the world alone.
$(OUT)/physics: $(call obj,$(PHYSICS_SRCS)) $(OUT)/libcarom_sim.a
	$(call say,LINK,$@)$(LINK) $^ -lcriterion -lm -o $@

# Written anew only by hand: it changes what packets of cubes mean.
.PHONY: codec-model
$(OUT)/codec-train: $(call obj,$(wildcard tests/codec/*.c)) $(TESTED_OBJS)
	$(call say,LINK,$@)$(LINK) $^ $(SERVER_LIBS) -lm -o $@

codec-model: $(OUT)/codec-train
	$< shared/codec/model.inc

$(OUT)/cluster: $(call obj,$(CLUSTER_SRCS)) $(TESTED_OBJS)
	$(call say,LINK,$@)$(LINK) $^ $(SERVER_LIBS) -lm -o $@

$(OUT)/exact: $(call obj,$(EXACT_SRCS)) $(TESTED_OBJS)
	$(call say,LINK,$@)$(LINK) $^ $(SERVER_LIBS) -lm -o $@

$(OUT)/hostile: $(call obj,$(HOSTILE_SRCS)) $(TESTED_OBJS)
	$(call say,LINK,$@)$(LINK) $^ $(SERVER_LIBS) -lm -o $@

include tests/tests.mk
include client-sdk/web/web.mk

deps:
	@deploy/deps.sh run test

# Sub-makes compile on every core, unless who called us says on how many.
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
run:
	@$(MAKE) --no-print-directory $(PARALLEL) all
	@CAROM=$(OUT)/carom RUN_SECONDS=$(RUN_SECONDS) deploy/run.sh

# As `make run`, with the page for watching in the binary, where what it is built from is to be had.
play:
	@$(MAKE) --no-print-directory -s web-page || echo 'play: the page could not be built, so this plays without it: npm and the sources of Debian need the network once'
	@$(MAKE) --no-print-directory $(PARALLEL) all
	@PAGE=$(if $(wildcard build/web/page/page.js.gz),1) CAROM=$(OUT)/carom RUN_SECONDS=$(RUN_SECONDS) deploy/run.sh

# For tests that compile the simulation themselves.
.PHONY: print-determinism
print-determinism:
	@echo $(DETERMINISM)

PREFIX ?= /usr/local
install: all
	install -D -m 755 $(OUT)/carom $(DESTDIR)$(PREFIX)/bin/carom
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib $(OUT)/libcarom_sim.a $(OUT)/libcarom_client.a $(OUT)/libcarom_token.a
	install -d $(DESTDIR)$(PREFIX)/include/carom $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	$(OUT)/carom help --man >$(DESTDIR)$(PREFIX)/share/man/man1/carom.1
	$(OUT)/carom help --completion >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/carom
	install -m 644 shared/include/carom/*.h client-sdk/include/carom/*.h $(DESTDIR)$(PREFIX)/include/carom/
	install -D -m 644 deploy/carom.json $(DESTDIR)$(PREFIX)/share/carom/carom.json
	sed 's|/usr/local|$(PREFIX)|g' deploy/carom.service >$(DESTDIR)$(PREFIX)/share/carom/carom.service
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/carom/pictures shared/scene/pictures/*.svg
	install -m 644 shared/scene/SCENE.md proto/scene.proto proto/control.proto proto/PROTOCOL.md server/record/format/MATCH_FILE.md server/record/format/EXPORT_FILE.md client-sdk/GUIDE.md deploy/OPERATE.md $(DESTDIR)$(PREFIX)/share/carom/
	@# What a page names beside it is beside it; of other pages of the sources the words stay.
	sed -i -E 's#\]\((\.\./)+[^)]*/(GUIDE|SCENE|OPERATE|PROTOCOL|MATCH_FILE|EXPORT_FILE)\.md#](\2.md#g; s#\[([^]]*)\]\(\.\./[^)]*\)#\1#g' \
	  $(DESTDIR)$(PREFIX)/share/carom/*.md
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/carom/examples $(wildcard client-sdk/examples/*.c client-sdk/examples/*.json client-sdk/examples/*.py)
	for file in $$(find $(GAMES:%=client-sdk/examples/%) client-sdk/examples/window -type f ! -name '*.o' ! -name '*.a' ! -name '*.so' ! -name '*_client' ! -name carom_window); do \
	  install -D -m 644 $$file $(DESTDIR)$(PREFIX)/share/carom/$${file#client-sdk/} || exit 1; done
	install -m 644 $(EXAMPLE_SRCS) $(wildcard client-sdk/examples/*.json) $(DESTDIR)$(PREFIX)/share/carom/examples/
	install -m 644 LICENSE deploy/NOTICE $(DESTDIR)$(PREFIX)/share/carom/
	install -D -m 644 tests/scenes/sandbox.json $(DESTDIR)$(PREFIX)/share/carom/sandbox.json
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig
	for file in shared/sim/carom-sim client-sdk/carom-client client-sdk/carom-token; do \
	  sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@DETERMINISM@|$(strip $(DETERMINISM))|' -e "s|@VERSION@|$$($(OUT)/carom version | sed -n 's/^carom //p')|" \
	    -e '/^Libs:/s|$$| $(strip $(filter -fsanitize=%,$(OPT_$(BUILD))))|' -e 's| *$$||' \
	    $$file.pc.in >$(DESTDIR)$(PREFIX)/lib/pkgconfig/$${file##*/}.pc; \
	done

format: | have-test
	clang-format -i $$(git ls-files '*.c' '*.h' '*.inl')

# What editors read: clangd looks into build/ by itself.
compile_commands: $(PROTO_HDRS) $(GEN)/game_scenes.inc $(GEN)/catalogue.inc $(GEN)/module_template.inc $(GEN)/http_page.inc | have-test
	@python3 -c 'import json, os, sys; json.dump([{"directory": os.getcwd(), "file": file, "command": sys.argv[1] + " -c " + file} \
	  for file in sys.argv[2:]], sys.stdout, indent=0)' '$(subst ','\'',$(COMPILE))' $(SHARED_SRCS) $(SERVER_SRCS) $(SDK_OWN_SRCS) \
	  $(UNIT_SRCS) $(CLUSTER_SRCS) >build/compile_commands.json
	@echo "build/compile_commands.json: $$(grep -c '"file"' build/compile_commands.json) files"

# Warnings that the build does not ask for, by clang; scripts; and tidy.
LINT := -Wall -Wextra -Wunreachable-code-aggressive -Wstrict-prototypes -Wduplicate-enum -Wformat=2 -Wno-format-nonliteral \
  -Wnull-dereference -Wno-missing-field-initializers
lint: $(PROTO_HDRS) $(GEN)/game_scenes.inc $(GEN)/catalogue.inc $(GEN)/module_template.inc $(GEN)/http_page.inc | have-test have-lint
	printf '%s\n' $(SHARED_SRCS) $(SERVER_SRCS) $(SDK_OWN_SRCS) | xargs -P $$(nproc) -n 8 clang -std=c17 -fsyntax-only \
	  -Werror $(LINT) $(CPPFLAGS_OWN) -DCAROM_COMMIT='""' -DCAROM_DETERMINISM='""' $(PART_FLAGS)
	shellcheck --severity=warning $$(git ls-files '*.sh' .ci/run)
	pyflakes3 $$(git ls-files '*.py')
	python3 tests/tidy/tidy.py

lines:
	@python3 tests/tidy/lines.py

clean:
	rm -rf build

# -MMD's files; absent ones are made with their objects.
-include $(shell find $(OUT) -name '*.d' 2>/dev/null)
