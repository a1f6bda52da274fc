# Measurements: `make bench`, `make bench-peers`, and the gate of `make check` on instruction counts.

# Instruction counts of the main scenes against tests/bench/instructions.txt. UPDATE=1 records them.
.PHONY: check-instructions
check-instructions: $(OUT)/carom | have-check
	tests/bench/instructions.sh $(OUT)/carom

# Overlaps and speeds of piles, over five seeds, against tests/bench/spread.txt.
SPREAD_FEW := B_pile1000 C_mixed1000 E_pile5000 hulls_in_a_pit jenga
$(OUT)/spread: $(OUT)/tests/bench/spread.o $(TESTED_OBJS)
	$(call say,LINK,$@)$(LINK) $^ $(SERVER_LIBS) -lm -o $@

.PHONY: check-spread check-piles
check-spread: $(OUT)/spread
	$(OUT)/spread tests/bench/spread.txt $(SPREAD_FEW)

check-piles: $(OUT)/spread
	$(OUT)/spread tests/bench/spread.txt pile_20000

# Rooms beside each other: what each costs among many, and whether this machine keeps their ticks.
$(OUT)/rooms: $(OUT)/tests/bench/rooms.o $(TESTED_OBJS)
	$(call say,LINK,$@)$(LINK) $^ $(SERVER_LIBS) -lm -o $@

.PHONY: bench-rooms
bench-rooms: all $(OUT)/rooms | have-check
	tests/bench/rooms.sh $(OUT)/rooms
	python3 tests/bench/rooms_live.py $(OUT)/carom 64 60

bench: all
	$(OUT)/carom bench rollback
	$(OUT)/carom bench piles
	$(OUT)/carom bench
	$(OUT)/carom bench queries
	$(OUT)/carom bench games tests/bench/all_asleep.json --steps 600 --from 300
	$(OUT)/carom capacity --scene tests/bench/served.json --players 2
	$(OUT)/carom bench impact
	$(OUT)/carom bench replay
	$(OUT)/carom bench seal
	$(OUT)/carom bench tests/scenes/seeds/lcp_ragdoll.json tests/scenes/seeds/lcp_chain_20.json
	$(OUT)/carom bench $(sort $(wildcard tests/scenes/seeds/volume_pile_*.json))

# Beside Bullet and ODE, and the scenes of games beside Bullet, with limits that fail. For less:
# PEERS='--runs 1 tests/scenes/bench/A_pyramid20.json' PEER_GAMES='--runs 1 tests/scenes/games/jenga.json'.
PEERS ?= $(wildcard tests/scenes/bench/*.json)
PEER_GAMES ?= $(if $(filter command,$(firstword $(origin PEERS))),,--runs 3 --steps 600 $(wildcard tests/scenes/games/*.json))
PEER_SRCS := $(wildcard tests/bench/peers/*.cpp)
PEER_OBJS := $(PEER_SRCS:%.cpp=$(OUT)/%.o)
CXX_COMPILE = $(CXX) -std=c++17 $(OPT_$(BUILD)) -Wall -Wextra -Werror -I. -Ishared/include -D_GNU_SOURCE
PEER_PKGS := bullet ode jansson

$(PEER_OBJS): $(OUT)/%.o: %.cpp
	@mkdir -p $(@D)
	$(call say,CXX,$<)$(CXX_COMPILE) $$(pkg-config --cflags $(PEER_PKGS) | sed 's/-I/-isystem /g') \
	  -MMD -MP -c $< -o $@

$(OUT)/peers: $(PEER_OBJS) $(TESTED_OBJS)
	$(call say,LINK,$@)$(CXX) $(OPT_$(BUILD)) -pthread $(LDFLAGS) $^ $$(pkg-config --libs $(PEER_PKGS)) $(SERVER_LIBS) -lm -o $@

.PHONY: bench-peers
bench-peers:
	@if deploy/deps.sh peers && pkg-config --exists $(PEER_PKGS); then \
	  $(MAKE) --no-print-directory $(OUT)/peers && $(OUT)/peers tests/bench/peers/limits.txt $(PEERS)$(if $(PEER_GAMES), && \
	  $(OUT)/peers tests/bench/peers/limits.txt --games $(PEER_GAMES)); \
	else echo "SKIPPED: libbullet-dev and libode-dev are not here and cannot be installed"; fi

# The tables of what is to be reached: now, before, Bullet and others; beside Bullet where bench-peers built it.
.PHONY: bench-shown
bench-shown: all $(OUT)/physics
	python3 tests/bench/shown.py $(OUT)
