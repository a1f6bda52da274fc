#!/usr/bin/env bash
# kill_server.sh [COUNT [SEED]]: kill -9 at any moment loses nothing that was committed, and the
# next server goes on with it.
#
# Goal: the real server, with two clients playing, is killed COUNT times at moments drawn from SEED;
# each time the match file opens, verifies hash for hash, and reaches at least the last tick that
# the server had said is recorded; a second look finds the same, since looking changes nothing. Then
# a server with --resume goes on at that very tick, in the same file; both clients come back by
# themselves into their slots and play on; it drains, and the whole file verifies over the seam. In
# every other round it is killed as well, so that the match has two seams.
# Method: the server's status lines come every 100 ms, with `tick` and `recorded_tick`; the moment
# is a number of recorded ticks with both clients, and a few milliseconds. The last line says how
# much was lost at most; the promise is 250 ms. A failure prints seed and round and keeps the files.
set -u
count=${1:-20}
seed=${2:-1}
carom=${CAROM:-build/release/carom}
scene=${SCENE:-tests/scenes/sandbox.json}
folder=$(mktemp -d /tmp/carom_crash_XXXXXX)
failed=0
worst=0
lines=0

server=
bots=
cleanup() {
    [ -n "$server" ] && kill -9 "$server" 2>/dev/null
    [ -n "$bots" ] && kill -9 "$bots" 2>/dev/null
    wait 2>/dev/null
}
trap cleanup EXIT

# The newest value of a key in the status lines, 0 where there is none.
newest() {
    grep -o "\"$1\":[0-9]*" "$2" 2>/dev/null | tail -1 | cut -d: -f2 | grep . || echo 0
}

fail() {
    echo "kill_server: seed $seed, round $round: $*; files in $folder"
    failed=$((failed + 1))
}

. tests/crash/common.sh
has_recorded() { [ "$(newest recorded_tick "$log")" -ge "$target" ]; }
# The ticks from which on the clients play, one a line: who joined after the last recorded tick would be gone.
joined() { sed -n 's/.*"event":"player joined".*"tick":\([0-9]*\).*/\1/p' "$log"; }
have_joined() { [ "$(joined | wc -l)" -ge 2 ]; }

one_round() {
    round=$1
    matches=$folder/$round
    RANDOM=$((seed * 1000 + round))
    ticks=$((30 + RANDOM % 120))
    pause=0.0$((RANDOM % 90 + 10))
    address=127.0.0.1:0
    seams=0
    if ! start_server; then
        return
    fi
    address=$(sed -n 's/^listening on //p' "$log" | head -1)
    "$carom" bots --connect "$address" --count 2 --seconds 1000000 >"$folder/$round.bots" 2>&1 &
    bots=$!
    wait_until have_joined || fail "the clients did not join: $(tail -1 "$log")"
    target=$(($(joined | sort -n | tail -1) + ticks))
    wait_until has_recorded || fail "tick $target was not recorded"
    sleep "$pause"
    kill_server
    if check_cut && { [ $((round % 2)) -ne 0 ] || { go_on && kill_server && check_cut; }; } && go_on && drain; then
        lines=$((lines + 1))
        rm -rf "$matches" "$folder/$round".*
    fi
    for process in $server $bots; do
        kill -9 "$process" 2>/dev/null
        wait "$process" 2>/dev/null
    done
    server=
    bots=
}

start_server() {
    log=$folder/$round.$seams.log
    "$carom" serve --insecure --grace-ms 600000 --listen "$address" --matches "$matches" --db "$folder/carom.db" --scene "$scene" \
        --status-interval-ms 100 --keyframe-s 1 --room-seed $((seed + round)) "$@" >"$log" 2>&1 &
    server=$!
    if ! wait_until is_listening; then
        fail "the server did not listen: $(tail -1 "$log")"
        return 1
    fi
}

kill_server() {
    kill -9 "$server"
    wait "$server" 2>/dev/null
    flock "$matches" true # held by its worker too, which the kernel kills with it
    server=
}

# Both clients have their slots again, and play until the target is recorded.
are_back() { [ "$(grep -c '"event":"player came back"' "$log")" -ge 2 ]; }

go_on() {
    seams=$((seams + 1))
    start_server --resume || return 1
    resumed=$(sed -n 's/.*"event":"match resumed".*"tick":\([0-9]*\),"players":2}$/\1/p' "$log")
    target=$((ticks + 30 + RANDOM % 60))
    if [ "$resumed" != "$ticks" ]; then
        fail "verified up to tick $ticks, resumed at '$resumed'"
    elif ! wait_until are_back; then
        fail "the clients did not come back: $(tail -1 "$log")"
    elif ! wait_until has_recorded; then
        fail "tick $target was not recorded after the seam"
    else
        return 0
    fi
    return 1
}

drain() {
    kill -TERM "$server"
    wait "$server"
    status=$?
    server=
    verified=$("$carom" replay "$file" --verify 2>&1) || status=$?
    info=$("$carom" match info "$file" 2>/dev/null)
    if [ "$status" -ne 0 ] || ! echo "$verified" | grep -q 'consistent, complete$'; then
        fail "status $status after the drain: $verified"
    elif ! echo "$info" | grep -q "\"joins\": 2, \"leaves\": 0, \"resumes\": $seams,"; then
        fail "not two joins, no leave and $seams seams: $info"
    else
        return 0
    fi
    return 1
}

check_cut() {
    file=$(ls "$matches"/*.match 2>/dev/null | head -1)
    recorded=$(newest recorded_tick "$log")
    tick=$(newest tick "$log")
    before=$(cat "$file" "$file-wal" 2>/dev/null | cksum)
    verified=$("$carom" replay "$file" --verify 2>&1)
    status=$?
    again=$("$carom" replay "$file" --verify 2>&1)
    after=$(cat "$file" "$file-wal" 2>/dev/null | cksum)
    ticks=$(echo "$verified" | sed -n 's/^verified \([0-9]*\) ticks, .*consistent, cut at tick .*no end was recorded$/\1/p')
    joins=$("$carom" match info "$file" 2>/dev/null | grep -o '"joins": [0-9]*' | cut -d' ' -f2)
    if [ "$status" -ne 0 ] || [ -z "$ticks" ]; then
        fail "not verified: $verified"
    elif [ "$ticks" -lt "$recorded" ]; then
        fail "recorded up to tick $recorded, verified only $ticks"
    elif [ "$verified" != "$again" ] || [ "$before" != "$after" ]; then
        fail "the second look differs: $again"
    elif [ "${joins:-0}" -lt 1 ]; then
        fail "nobody had joined: nothing was tested"
    else
        lost=$((tick > ticks ? tick - ticks : 0))
        worst=$((lost > worst ? lost : worst))
        return 0
    fi
    return 1
}

for round in $(seq "$count"); do
    one_round "$round"
done
echo "kill_server: seed $seed: $lines passed, $failed failed, at most $worst ticks lost"
[ "$failed" -eq 0 ] && rm -rf "$folder"
exit $((failed > 0))
