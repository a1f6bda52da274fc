#!/usr/bin/env bash
# What a room costs among others: instructions of a worker's turns for each room, where there are 1,
# 8 and 64 of them. rooms.sh ROOMS (the program built from rooms.c). A room among 64 may cost 10%
# more than alone, and than among 8: whatever a turn does for each room it must not do for each
# turn.
#
# valgrind counts inside the measured turns alone: two virtual seconds, a turn each millisecond.
set -euo pipefail
cd "$(dirname "$0")/../.."
rooms=${1:-build/release/rooms}
scene=tests/scenes/sandbox_50.json
least=0
status=0
for count in 1 8 64; do
    out=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=rooms_measured_turn \
        "$rooms" "$count" 2 "$scene" 2>&1)
    counted=$(sed -n 's/^==[0-9]*== Collected : //p' <<<"$out")
    each=$((counted / count / 2))
    echo "rooms: $count rooms: $each instructions a room and second"
    if [ "$least" -ne 0 ] && [ "$each" -gt $((least + least / 10)) ]; then
        echo "rooms: that is more than 10% above the $least of fewer rooms" >&2
        status=1
    fi
    least=$((least == 0 || each < least ? each : least))
done
exit "$status"
