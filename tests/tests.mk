# The suites that `make test`, `make check-quick`, `make check` and `make night` run: tests/suites.txt says which, and
# tests/suites.py runs them. Each is a target by itself, and prints its own summary.

HASHES_SRCS := $(filter-out shared/net/% shared/codec/% shared/room/% shared/transport/% shared/view/% shared/wire/%,$(SHARED_SRCS))
$(OUT)/hashes: $(OUT)/tests/determinism/hashes.o $(OUT)/tests/unit/sim/golden_queries.o $(call obj,$(HASHES_SRCS)) \
  $(OUT)/gen/proto/scene.pb-c.o
	$(call say,LINK,$@)$(LINK) $^ $(PKG_LIBS) -lm -o $@

SUITES ?=
test check-quick check night: | have-test
	@python3 tests/suites.py $@ $(SUITES)

# What the suites of `make test` share, built first.
.PHONY: test-build
test-build: all $(OUT)/unit $(OUT)/physics $(OUT)/cluster $(OUT)/hostile $(OUT)/attack

# Random worlds by the sanitizers: a list of seeds in `make test`, 1,000 more in `make check`, 20,000 in `make night`, and
# without end in `make fuzz`. Everything but the simulation is left out, so that the builds are quick.
FUZZ_SECONDS ?= 0
FUZZ_SRCS := $(SIM_SRCS) shared/game/past.c $(sort $(wildcard tests/fuzz/*.c))
.PHONY: fuzz check-worlds check-fuzz night-fuzz check-scratch
$(OUT)/fuzz_worlds: $(call obj,$(FUZZ_SRCS))
	$(call say,LINK,$@)$(LINK) $^ -lm -o $@

FUZZ_ASAN = $(MAKE) --no-print-directory $(PARALLEL) BUILD=asan OUT_SUFFIX= build/asan/fuzz_worlds
fuzz: | have-test
	@$(FUZZ_ASAN)
	timeout $(FUZZ_SECONDS) build/asan/fuzz_worlds --first $$(date +%s)000 --endless || [ $$? -eq 124 ]

# Decoders by libFuzzer, a target each (tests/fuzz/targets): a fixed number of executions from a fixed
# seed and from what corpus.py makes of the protocol's vectors. They are built without the simulation, which no decoder
# comes into, and of the server only the files named here.
TARGETS := $(patsubst tests/fuzz/targets/%.c,%,$(wildcard tests/fuzz/targets/*.c))
FUZZED_SRCS := $(filter-out shared/sim/%,$(SDK_SRCS)) $(filter $(addprefix %/,gate.c admission.c connections.c bans.c \
  used_tokens.c commands.c elf.c module_file.c http_head.c websocket/frames.c websocket/upgrade.c \
  api_routes.c admin_table.c admin_socket.c json_reader.c room_spec.c options.c log.c),$(SERVER_SRCS)) \
  $(addprefix shared/scene/,map_json.c emit_json.c lines_json.c)
$(OUT)/tests/fuzz/targets/module_file.o: CPPFLAGS_OWN += -DCAROM_SOUND_MODULE='"$(OUT)/tests/modules/counter.so"'
$(OUT)/fuzz_module_file: $(OUT)/tests/modules/counter.so
$(OUT)/libfuzzed.a: $(call obj,$(FUZZED_SRCS)) $(PROTO_OBJS)
	@rm -f $@
	$(call say,AR,$@)ar rcs $@ $^

$(OUT)/fuzz_%: $(OUT)/tests/fuzz/targets/%.o $(OUT)/libfuzzed.a
	$(call say,LINK,$@)$(LINK) -fsanitize=fuzzer $(filter %.o %.a,$^) $(PKG_LIBS) -lm -o $@

FUZZ_TARGETS = $(MAKE) --no-print-directory $(PARALLEL) BUILD=fuzzer CC=clang OUT_SUFFIX= $(TARGETS:%=build/fuzzer/fuzz_%)
FUZZ_RUN = @rm -rf build/fuzzer/corpus && python3 tests/fuzz/corpus.py build/fuzzer/corpus && for target in $(TARGETS); do \
	  mkdir -p build/fuzzer/corpus/$$target; \
	  build/fuzzer/fuzz_$$target -seed=1 -max_len=1400 -len_control=0 -runs=$(1) -artifact_prefix=build/fuzzer/$$target- \
	  build/fuzzer/corpus/$$target 2>build/fuzzer/$$target.log || { tail -20 build/fuzzer/$$target.log; exit 1; }; \
	  echo "fuzz_$$target: $(1) executions, $$(grep -o 'cov: [0-9]*' build/fuzzer/$$target.log | tail -1)"; done; \
	  echo "$(words $(TARGETS)) passed, 0 failed"

.PHONY: test-targets check-targets night-targets
test-targets: | have-test
	@$(FUZZ_TARGETS)
	$(call FUZZ_RUN,10000)

check-targets: | have-test
	@$(FUZZ_TARGETS)
	$(call FUZZ_RUN,200000)

night-targets: | have-test
	@$(FUZZ_TARGETS)
	$(call FUZZ_RUN,2000000)

check-worlds: | have-test
	@$(FUZZ_ASAN)
	build/asan/fuzz_worlds --list tests/fuzz/seeds.txt

# PIECES: by how many processes the seeds from FIRST on are shared, SEEDS to each.
fuzz_seeds = seq $(1) $(2) $(3) | xargs -P $$(nproc) -I FIRST build/asan/fuzz_worlds --first FIRST --seeds $(2)
check-fuzz: | have-test
	@$(FUZZ_ASAN)
	$(call fuzz_seeds,1,250,751)

night-fuzz: | have-test
	@$(FUZZ_ASAN)
	$(call fuzz_seeds,1,2500,17501)

# Scratch that a step reads before it writes it, whatever value it finds there.
check-scratch: | have-test
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=msan CC=clang OUT_SUFFIX= build/msan/fuzz_worlds
	build/msan/fuzz_worlds --first 20001 --seeds 1000

# Public headers, each alone, in both languages.
.PHONY: test-headers
test-headers:
	tests/headers/compile.sh

# Game modules as files: a sound one for the unit tests, and those that break a rule on purpose.
$(OUT)/tests/modules/%.so: tests/modules/%.c tests/modules/build.sh $(wildcard shared/include/carom/*.h)
	@mkdir -p $(@D)
	$(call say,SO,$<)CC='$(CC)' DETERMINISM='$(DETERMINISM)' tests/modules/build.sh $< $@
MODULES := $(patsubst %.c,$(OUT)/%.so,$(wildcard tests/modules/*.c))

$(OUT)/unit: | $(MODULES)

.PHONY: test-modules
test-modules: $(OUT)/carom
	CC='$(CC)' tests/modules/run.sh $(OUT)

.PHONY: check-matrix test-tidy test-unit test-determinism check-determinism
# A second parser, written from proto/PROTOCOL.md alone, reads the recorded packets.
.PHONY: test-protocol
test-protocol:
	python3 tests/protocol/parse.py

# Sources, then the symbols of what was built.
test-tidy: $(OUT)/carom
	python3 tests/tidy/tidy.py
	python3 tests/tidy/walls.py $(OUT)
	python3 tests/tidy/notice.py $(OUT)/carom

# Servers, clients, network, clock and disks in one process; every tenth seed twice, or each of
# longer ones.
.PHONY: test-cluster check-cluster night-cluster
test-cluster: $(OUT)/cluster
	printf '%s\n' 1..10 11..20 21..30 31..40 | xargs -P $$(nproc) -I SEEDS $(OUT)/cluster --twice-every 10 --seeds SEEDS

check-cluster: $(OUT)/cluster
	$(OUT)/cluster --ticks 2000 --seeds 41..80

night-cluster: $(OUT)/cluster
	$(OUT)/cluster --ticks 2000 --seeds 81..1000

# Exact sync for 10,000 confirmed ticks of each game, or 1,000,000.
# A real server beside `carom bench feel`.
.PHONY: check-feel
check-feel: $(OUT)/carom
	@python3 tests/feel/run.py $(OUT)/carom

.PHONY: check-exact night-exact
exact_games = printf '%s\n' crowd ball race | xargs -P $$(nproc) -I GAME $(OUT)/exact --ticks $(1) GAME
check-exact: $(OUT)/exact
	$(call exact_games,10000)

night-exact: $(OUT)/exact
	$(call exact_games,1000000)

# A hostile server against the SDK: 2,000 changed messages, or 100,000 and 1,000,000 by the sanitizers, some sessions to
# each process.
.PHONY: test-hostile check-hostile night-hostile
HOSTILE_ASAN = $(MAKE) --no-print-directory $(PARALLEL) BUILD=asan OUT_SUFFIX= build/asan/hostile
hostile_sessions = seq 1 25 $(1) | xargs -P $$(nproc) -I FIRST build/asan/hostile --first FIRST --sessions 25 --each 1000
test-hostile: $(OUT)/hostile
	$(OUT)/hostile --sessions 8 --each 250

check-hostile: | have-test
	@$(HOSTILE_ASAN)
	$(call hostile_sessions,76)

night-hostile: | have-test
	@$(HOSTILE_ASAN)
	$(call hostile_sessions,976)

# Players by WebSocket on the HTTP port of the real server.
.PHONY: test-websocket
test-websocket: $(OUT)/carom
	CAROM=$(OUT)/carom python3 tests/websocket/play.py

# The real server, killed at seeded moments of a match; and on a disk that fills up.
.PHONY: test-crash check-crash night-crash
test-crash: $(OUT)/carom $(OUT)/tests/modules/failing.so
	CAROM=$(OUT)/carom tests/crash/kill_server.sh 3 1
	CAROM=$(OUT)/carom python3 tests/crash/kill_worker.py 5 1
	CAROM=$(OUT)/carom tests/crash/full_disk.sh
	CAROM=$(OUT)/carom FAILING=$(OUT)/tests/modules/failing.so tests/crash/failing_room.sh

check-crash: $(OUT)/carom
	CAROM=$(OUT)/carom tests/crash/kill_server.sh 20 2
	CAROM=$(OUT)/carom python3 tests/crash/kill_worker.py 60 2

night-crash: $(OUT)/carom
	CAROM=$(OUT)/carom tests/crash/kill_server.sh 100 3
	CAROM=$(OUT)/carom python3 tests/crash/kill_worker.py 200 3

# Disks that fail: seeds of tests/unit/record/test_disk.c beyond those of `make test`.
.PHONY: check-disk night-disk
disk_seeds = seq $(1) $(2) $(3) | xargs -P $$(nproc) -I FIRST env CAROM_DISK_SEEDS=FIRST:$(2) $(OUT)/unit --jobs 1 --filter 'disk/*'
check-disk: $(OUT)/unit
	$(call disk_seeds,10001,1000,14001)

night-disk: $(OUT)/unit
	$(call disk_seeds,10001,5000,105001)

# Strangers and hostile clients against the real server.
.PHONY: test-attack check-attack
$(OUT)/attack: $(OUT)/tests/attack/attack.o $(OUT)/libcarom_client.a
	$(call say,LINK,$@)$(LINK) $^ $(PKG_LIBS) -lm -o $@

test-attack: all $(OUT)/attack
	tests/attack/run.sh $(OUT) quick
	tests/attack/narrow.sh $(OUT)

check-attack: all $(OUT)/attack
	tests/attack/run.sh $(OUT) long

# Against another ENet than the system's, as a game may bring one: ENET is the prefix of one that is
# installed as a shared library with its pkg-config file. Not part of `make check`.
ENET ?=
ENET_VERSION = $(shell pkg-config --modversion libenet)
.PHONY: check-enet check-this-enet
check-enet:
	@[ -f '$(ENET)/lib/pkgconfig/libenet.pc' ] || { echo 'check-enet: expected ENET=PREFIX with lib/pkgconfig/libenet.pc'; exit 2; }
	PKG_CONFIG_PATH=$(ENET)/lib/pkgconfig LD_LIBRARY_PATH=$(ENET)/lib $(MAKE) --no-print-directory check-this-enet

check-this-enet:
	$(MAKE) --no-print-directory OUT_SUFFIX=-enet-$(ENET_VERSION) test-unit test-cluster

# The examples and the bots against a real server.
.PHONY: test-examples
test-examples: all
	tests/examples/run.sh $(OUT)

# What is installed is enough to build against, and README's example is a program.
.PHONY: test-install
test-install: all
	CC='$(CC)' OUT='$(OUT)' SDK_FLAGS='$(OPT_$(BUILD))' MAKE='$(MAKE)' tests/install/run.sh

# What the documents say: pictures, tables, commands.
.PHONY: test-documents pictures
test-documents: all
	tests/documents/run.sh $(OUT)

pictures: sources
	python3 tests/documents/scene.py $(OUT)/carom --write

# The numbers and pictures of shared/sim/solve/SOURCES.md.
.PHONY: sources
sources: $(OUT)/carom
	python3 tests/documents/sources.py $(OUT)/carom --write

# The same program without the libraries of its parts.
.PHONY: test-parts
PARTED_SRCS := $(patsubst $(OUT)/%.o,%.c,$(PARTED))
$(OUT)/bare/%.o: %.c | $(PROTO_HDRS)
	@mkdir -p $(@D)
	$(call say,CC,'$< (bare)')$(CCACHE) $(COMPILE) $(PARTS:%=-DCM_WITH_%=0) -MMD -MP -c $< -o $@
$(OUT)/carom-bare: $(filter-out $(PARTED),$(CAROM_OBJS)) $(PARTED_SRCS:%.c=$(OUT)/bare/%.o)
	$(call say,LINK,$@)$(LINK) $^ $(PKG_LIBS) -lm -o $@

test-parts: $(OUT)/carom $(OUT)/carom-bare
	CAROM=$(OUT)/carom BARE=$(OUT)/carom-bare tests/parts/run.sh

# A leak fails no test of Criterion's: with BUILD=asan its reports go to files, and one fails the suite.
# Two more than processors: some tests wait for real processes.
test-unit: $(OUT)/unit $(OUT)/carom
	@rm -f $(OUT)/leaks.*
	LSAN_OPTIONS=log_path=$(OUT)/leaks CAROM_BINARY=$(OUT)/carom $(OUT)/unit --jobs $$(($$(nproc) + 2)) --xml=$(OUT)/unit.xml
	@if cat $(OUT)/leaks.* 2>/dev/null; then echo 'test-unit: memory leaked'; exit 1; fi

# Unit tests that take few seeds in `make test`, with all of theirs (tests/unit/counts.h).
.PHONY: check-counts
check-counts: $(OUT)/unit
	CAROM_TEST_COUNTS=full $(OUT)/unit --jobs $$(nproc) --filter '@(disk|catalogue|query|query_truth|joint_fuzz|volume_law|volume_scenes|proof|rollback_solvers|impulse_rest|replay|bench_scenes|exact|lanes|race|ball|billiards|rollback)/*'

# The laws of mechanics, a file each: few cases of each, or all that SEED draws.
.PHONY: test-physics check-physics
test-physics: $(OUT)/physics
	$(OUT)/physics --jobs $$(nproc)

check-physics: $(OUT)/physics
	@echo "SEED=$${SEED:-1}"
	CAROM_TEST_COUNTS=full $(OUT)/physics --jobs $$(nproc)

# What loads, stacks and speeds scenes are warned of, measured beside computed: see
# shared/scene/strength.h.
.PHONY: measure-strength
measure-strength: $(OUT)/unit
	CAROM_TEST_COUNTS=full $(OUT)/unit --filter 'strength/figures*' --verbose=1 2>&1 | grep ' Hz, \|mean\|FAIL\|Synth'

# Several compilers and flags: the same whatever BUILD is.
test-determinism:
	tests/determinism/compare.sh quick

check-determinism: | have-test
	tests/determinism/compare.sh full

# Other architectures, under emulation.
check-matrix: | have-test have-matrix
	tests/determinism/matrix.sh

# Clients of other architectures in a room with exact sync.
.PHONY: check-clients
check-clients: all | have-matrix
	tests/determinism/clients.sh

# The unit tests by the other compiler, and those of the simulation with every step checked.
.PHONY: check-clang check-steps
check-clang: | have-test
	$(MAKE) --no-print-directory CC=clang OUT_SUFFIX=-clang all test-unit

# All unit tests by the sanitizers.
.PHONY: check-asan
check-asan: | have-test
	$(MAKE) --no-print-directory BUILD=asan OUT_SUFFIX= test-unit

STEP_SUITES := @(golden*|rollback|solve*|joint*|game|fpenv|world*|hull*|solids*)/*
check-steps:
	$(MAKE) --no-print-directory BUILD=debug CFLAGS=-O1 OUT_SUFFIX=-checked build/debug-checked/unit
	build/debug-checked/unit --jobs 2 --filter '$(STEP_SUITES)'

# Bugs on purpose, one after another: the suite that each names must go red. An eighth of them in `make check`, which
# one follows from the commit; all in `make night`.
.PHONY: check-planted night-planted
check-planted: | have-test
	tests/planted/run.sh --part $$((0x$$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0)))/8

night-planted: | have-test
	tests/planted/run.sh

# A match's stream behind Debian's nginx, where that is.
.PHONY: check-stream
check-stream: all
	python3 tests/stream/viewers.py

# The window of the examples, by SDL2, where that is.
.PHONY: check-window
check-window: all
	tests/window/run.sh

# The page for browsers, by node.
.PHONY: check-page
check-page: | have-node
	node tests/web/page.js

# The npm package carom-sim, by node and in Chromium.
.PHONY: check-web
check-web: web $(WEB_VIEWER_OBJS) $(OUT)/carom | have-browser
	@set -o pipefail; CAROM_BINARY=$(OUT)/carom node --test --test-reporter=tap tests/web/sim.mjs tests/web/browser.mjs | \
	  tee $(WEB)/tap | awk '/^ *not ok/ || /^ *error:/ {print} /^# pass/ {p = $$3} /^# fail/ {f = $$3} END {print p " passed, " f " failed"}'

# The npm package carom-watch, and the page by which matches are watched, by node and in Chromium, where Debian's sources of its libraries are to be had.
.PHONY: check-watch
check-watch: $(OUT)/carom | have-web have-browser have-libraries
	@if $(MAKE) -s $(WATCH_LIBRARIES); then set -o pipefail; $(MAKE) -s web-watch web-page && $(MAKE) -s $(OUT)/carom && \
	  CAROM_BINARY=$(OUT)/carom node --test --test-concurrency=1 --test-reporter=tap tests/web/watch.mjs tests/web/matches.mjs | \
	  tee $(WEB)/tap-watch | awk '/^ *not ok/ || /^ *error:/ {print} /^# pass/ {p = $$3} /^# fail/ {f = $$3} END {print p " passed, " f " failed"}'; \
	else echo 'SKIPPED: no sources of libraries for WebAssembly'; exit 77; fi

# The npm package carom-client, likewise: it needs ENet's sources besides.
.PHONY: check-client-web
check-client-web: $(OUT)/carom | have-web have-browser have-libraries
	@if $(MAKE) -s $(CLIENT_ENET); then set -o pipefail; $(MAKE) -s web-game GAME=client-sdk/examples/ball && \
	  tests/web/module.sh client-sdk/examples/ball $(WEB)/games/ball.so "$(CC)" "$(DETERMINISM)" && \
	  CAROM_BINARY=$(OUT)/carom node --test --test-reporter=tap tests/web/client.mjs tests/web/game.mjs | \
	  tee $(WEB)/tap-client | awk '/^ *not ok/ || /^ *error:/ {print} /^# pass/ {p = $$3} /^# fail/ {f = $$3} END {print p " passed, " f " failed"}'; \
	else echo 'SKIPPED: no sources of libraries for WebAssembly'; exit 77; fi

# The same hashes in Firefox, over 1,000 ticks.
.PHONY: check-firefox
check-firefox: web $(OUT)/carom | have-firefox
	@set -o pipefail; CAROM_BINARY=$(OUT)/carom node --test --test-reporter=tap tests/web/firefox.mjs | \
	  tee $(WEB)/tap-firefox | awk '/^ *not ok/ || /^ *error:/ {print} /^# pass/ {p = $$3} /^# fail/ {f = $$3} END {print p " passed, " f " failed"}'

include tests/bench/bench.mk
