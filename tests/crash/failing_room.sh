#!/usr/bin/env bash
# failing_room.sh: a room whose module loops, or crashes, costs the players of other rooms one moment.
#
# Goal: the real server of two workers has a room "trap", whose module fails at tick 360 and at each try after
# it, beside the room "beside" in one worker, and the room "other" in another. The players in "beside" are cut
# off once and come back by themselves; those in "other" never notice; the third time the scene of "trap" is
# refused. Said besides: the longest gap that players saw (aim: below 2 s).
# Method: real clients, a few in each room; the log tells who died, what was blamed and which match was resumed. Clients
# wait as long as the grace time, which is long: how soon they are back is said, and judged by nobody. On a machine that
# is busy besides any of them may fall silent and come back without a cause here.
set -u
carom=${CAROM:-build/release/carom}
module=${FAILING:-build/release/tests/modules/failing.so}
scene=${SCENE:-tests/scenes/sandbox.json}
folder=$(mktemp -d /tmp/carom_failing_XXXXXX)
log=$folder/log
server=
bots=()
cleanup() {
    for process in $server "${bots[@]}"; do
        kill -9 "$process" 2>/dev/null
    done
    wait 2>/dev/null
    [ "$failed" -eq 0 ] && [ -z "${KEEP:-}" ] && rm -rf "$folder"
}
trap cleanup EXIT
failed=0
fail() {
    echo "failing_room: $*; files in $folder"
    failed=$((failed + 1))
}
. tests/crash/common.sh
count() { # EVENT
    grep -c "\"event\":\"$1\"" "$log"
}
resumed() { # ROOM: how often its match was
    grep '"event":"match resumed"' "$log" | grep -c "\"room\":\"$1\""
}
has() { # EVENT COUNT
    [ "$(count "$1")" -ge "$2" ]
}
# Status lines of the room that goes on, with all of its players: one a second.
lines() {
    grep -c '"players":4.*"room":"beside"\|"room":"beside".*"players":4' "$log"
}
says_more() { # LINES
    [ "$(lines)" -ge $(($1 + 2)) ]
}
number() { # KEY FILE
    grep -o "\"$1\":[0-9.]*" "$2" | head -1 | cut -d: -f2
}

play() { # CRASH
    rm -rf "${folder:?}"/*
    printf '{"carom": 1, "name": "trap", "tick_rate": 60, "module": "failing",
        "module_config": {"at": 360, "crash": %d}, "bodies": [{"type": "dynamic",
        "shapes": [{"sphere": {"radius": 0.5}}]}]}' "$1" >"$folder/trap.json"
    "$carom" serve --insecure --workers 2 --grace-ms 600000 --listen 127.0.0.1:0 --matches "$folder/matches" --db "$folder/carom.db" \
        --module "$module" --room "trap=$folder/trap.json" --room "other=$scene" --room "beside=$scene" >"$log" 2>&1 &
    server=$!
    wait_until is_listening || fail "the server did not listen: $(tail -1 "$log")"
    address=$(sed -n 's/^listening on //p' "$log" | head -1)
    bots=()
    for room in beside other; do
        "$carom" bots --connect "$address" --rooms "$room" --count 4 --predict 0 --seconds 1000000 >"$folder/$room" 2>&1 &
        bots+=($!)
    done
    wait_until has "module failed" 3 || fail "the module did not fail three times"
    wait_until has "match cut" 1 || fail "the room was not refused: $(tail -3 "$log")"
    wait_until has "player came back" 4 || fail "players did not come back: $(tail -3 "$log")"
    said=$(lines)
    wait_until says_more "$said" || fail "the room says nothing more"
    kill -INT "${bots[@]}"
    for process in "${bots[@]}"; do
        wait "$process" || fail "clients did not stay: $(cat "$folder/beside" "$folder/other")"
    done
    bots=()
    kill -TERM "$server"
    wait "$server" || fail "the server's status is not 0: $(tail -3 "$log")"
    server=
    [ "$(count "worker died")" -eq 3 ] || fail "expected three deaths: $(count "worker died")"
    [ "$(number comebacks "$folder/beside")" -ge 4 ] || fail "beside: $(cat "$folder/beside")"
    [ "$(resumed beside)" -eq 1 ] || fail "beside was cut off $(resumed beside) times"
    [ "$(resumed other)" -eq 0 ] || fail "other was cut off $(resumed other) times"
    echo "failing_room: $2: 4 players beside it came back, at most $(grep -o '"gap_ms":{[^}]*}' "$folder/beside" |
        grep -o '"max":[0-9.]*' | cut -d: -f2) ms later, $(number comebacks "$folder/beside") times; 4 of the other" \
        "worker $(number comebacks "$folder/other") times"
}

play 0 "a module that loops"
play 1 "a module that crashes"
echo "failing_room: $((2 - (failed > 0))) passed, $failed failed"
exit "$failed"
