#!/usr/bin/env bash
# Goal: strangers and hostile clients, on the real binary, neither stop eight players, nor take a
# slot, nor eat memory, nor get more bytes than they send; each refusal is counted with its reason.
# Method: a server with a key, eight bots with tokens; beside them the attacks of attack.c in fixed
# counts, one after another; a server stopped for 4 s by SIGSTOP. What is judged is the server's
# full status line, its memory, and the summary of the bots at the end.
#
#   run.sh BUILD_DIR quick|long
set -u
out=${1:-build/release}
carom=$out/carom
attack=$out/attack
strangers=100000 hostile=20000
[ "${2:-quick}" = long ] && strangers=1000000 hostile=200000
memory_kib=65536 # that the server may grow by
turn_datagrams=1280 turn_steps=100000
dir=$(mktemp -d)
passed=0
failed=0
server=
worker=
bots=
trap 'kill -CONT $worker 2>/dev/null; kill $bots $server 2>/dev/null; wait 2>/dev/null; rm -rf "$dir"' EXIT

check() { # STATUS NAME [FILE]: which tells more where it failed; a $(…) in the name changes $?, so it is second
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "attack: FAILED: $2"
        [ -z "${3:-}" ] || cat "$dir/$3"
        tail -1 "$dir/status" | grep -o '"players".*"draining'
    fi
}

field() { # NAME: of the newest status line; 0 where it is not there
    grep -o "\"$1\":[0-9]*" <(tail -1 "$dir/status") | tail -1 | cut -d: -f2 | grep . || echo 0
}
time_of() { grep -o "\"$1\":[0-9.]*" <(tail -1 "$dir/status") | tail -1 | cut -d: -f2; }
resident() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$worker/status"; }

# Until two more status lines have come: what was sent before is in the second.
look() {
    local lines
    lines=$(wc -l <"$dir/status")
    for ((n = 0; n < 6000; n++)); do
        [ "$(wc -l <"$dir/status")" -ge $((lines + 2)) ] && return 0
        sleep 0.1
    done
    return 1
}

# The process that hosts the room, but not the one before.
find_worker() { # BEFORE
    until worker=$(sed -n 's/.*"event":"worker",.*"process":\([0-9]*\).*/\1/p' "$dir/log" | tail -1) &&
        [ -n "$worker" ] && [ "$worker" != "$1" ]; do
        kill -0 "$server" || exit 1
        sleep 0.1
    done
}

umask 077
"$carom" token keygen --out "$dir/keys" || exit 1
start_server() { # ADDRESS
    rm -f "$dir/ready"
    "$carom" serve --workers 1 --key "$dir/keys" --scene tests/scenes/hello.json --listen "$1" --max-players 32 \
        --ready-file "$dir/ready" --db "$dir/carom.db" --matches "$dir/matches" --status full \
        --status-interval-ms 200 >"$dir/status" 2>"$dir/log" &
    server=$!
    for ((i = 0; i < 6000; i++)); do
        [ ! -s "$dir/ready" ] || break
        sleep 0.1
    done
    [ -s "$dir/ready" ] || { echo "attack: the server did not start:"; cat "$dir/log"; exit 1; }
    find_worker ""
}

start_server 127.0.0.1:0
address=$(head -1 "$dir/ready")
token() { "$carom" token issue --key "$dir/keys" --client-id "$1" --server "$address"; }

"$carom" bots --connect "$address" --key "$dir/keys" --count 8 --predict 1 --seconds 100000 \
    >"$dir/bots.json" 2>"$dir/bots.log" &
bots=$!
for ((i = 0; i < 6000; i++)); do
    [ "$(field players)" -eq 8 ] && break
    sleep 0.1
done
look
[ "$(field players)" -eq 8 ]
check $? "eight bots play before"
before=$(resident)

# Plays an attack; what must be counted, and what must not change.
run() { # KIND REASON COUNT [TOKEN]
    local was tick sent got
    was=$(field "$2")
    tick=$(field tick)
    "$attack" "$1" "$address" "$3" ${4:+"$4"} >"$dir/attack.json" 2>"$dir/attack.log"
    check $? "$1 is played" attack.log
    look
    echo "attack: $1: $(cat "$dir/attack.json"), $2 $was -> $(field "$2"), memory +$(($(resident) - before)) KiB"
    sent=$(grep -o '"sent_bytes":[0-9]*' "$dir/attack.json" | cut -d: -f2)
    got=$(grep -o '"got_bytes":[0-9]*' "$dir/attack.json" | cut -d: -f2)
    if [ "$1" != hello ] && [ "$1" != noack ]; then # whose datagrams are none to refuse
        [ "$(field "$2")" -gt "$was" ]
        check $? "$1 is refused and counted as $2"
    fi
    if [ "$1" != noack ]; then # which plays, and is sent its views
        [ "${got:-1}" -le "${sent:-0}" ]
        check $? "$1 gets no more bytes than it sends"
    fi
    [ "$(field players)" -ge 8 ]
    check $? "$1: eight play on"
    [ "$(field tick)" -gt "$tick" ]
    check $? "$1: ticks go on"
    [ $(($(resident) - before)) -le "$memory_kib" ]
    check $? "$1: memory stays"
    # However much comes, a tick waits for a bounded number of datagrams and of steps over ENet's
    # lists (net.c): counted, so that no clock judges. The times beside them are for the reader.
    [ "$(field turn_datagrams_max)" -le "$turn_datagrams" ] && [ "$(field turn_steps_max)" -le "$turn_steps" ]
    check $? "$1: a turn's work stays"
    echo "attack: $1: at most $(field turn_datagrams_max) datagrams and $(field turn_steps_max) steps a turn; tick ms p50 $(time_of tick_ms_p50), p99 $(time_of tick_ms_p99), ticks behind $(field ticks_behind)"
}

peers=$(field peers)
# Somebody with a token comes while the first of them knocks.
"$carom" bots --connect "$address" --key "$dir/keys" --count 1 --seconds 1 >"$dir/amid.json" 2>&1 &
amid=$!
run hello hello "$strangers"
wait "$amid"
check $? "a newcomer plays amid $strangers hellos" amid.json
for ((i = 0; i < 6000; i++)); do # and is gone again
    [ "$(field players)" -eq 8 ] && break
    sleep 0.1
done
run connect cookie "$strangers"
run sealed unknown "$strangers"
run junk type "$strangers"
[ "$(field peers)" -eq "$peers" ]
check $? "strangers take no slot, of which $peers are taken"

# Clients with tokens: commands that no client sends, and one that acknowledges nothing.
run empty kind "$hostile" "$(token 1001)"
run ahead ahead "$hostile" "$(token 1002)"
run waiting acks "$hostile" "$(token 1007)"
run pings acks "$hostile" "$(token 1003)"
run fragments size "$hostile" "$(token 1004)"
run random command "$hostile" "$(token 1005)"
run noack command 200 "$(token 1006)"

tokens=()
for ((i = 0; i < 400; i++)); do tokens+=("$(token $((2000 + i)))"); done
"$attack" halfopen "$address" 0 "${tokens[@]}" >"$dir/attack.json" 2>"$dir/attack.log"
check $? "400 half-open connects are made" attack.log
"$carom" bots --connect "$address" --key "$dir/keys" --count 1 --seconds 1 >"$dir/late.json" 2>&1
check $? "a newcomer plays beside 400 half-open connects" late.json

for ((i = 0; i < 6000; i++)); do # the one that acknowledged nothing is gone
    [ "$(field players)" -eq 8 ] && break
    sleep 0.1
done
kill -STOP "$worker"
sleep 4
kill -CONT "$worker"
look
look
[ "$(field players)" -eq 8 ]
check $? "nobody is sent away for a stop of 4 s"

# A token that was used before the server was killed is still used after it.
used=$(token 3001)
"$out/examples/01_connect" "$used" 1 >"$dir/used.txt" 2>&1
grep -q '^ended: the client left$' "$dir/used.txt"
check $? "a token lets in" used.txt

# What the supervisor keeps is known to a worker that was killed and started again.
"$carom" admin ban 3002 --admin "$dir/matches/admin.sock" >"$dir/ban.txt" 2>&1
check $? "a client is banned" ban.txt
kill -9 "$worker"
before=$worker
find_worker "$before"
"$out/examples/01_connect" "$used" 20 >"$dir/used.txt" 2>&1
grep -q '^ended: the token was used before$' "$dir/used.txt"
check $? "it lets nobody in after its worker was killed" used.txt
"$out/examples/01_connect" "$(token 3002)" 20 >"$dir/ban.txt" 2>&1
grep -q '^ended: .*banned' "$dir/ban.txt"
check $? "nor is anybody let in who was banned before" ban.txt
for ((i = 0; i < 6000; i++)); do
    [ "$(field players)" -eq 8 ] && break
    sleep 0.1
done
[ "$(field players)" -eq 8 ]
check $? "eight bots came back to it"

kill -INT "$bots"
wait "$bots"
bots=
grep -q '"connected":8' "$dir/bots.json" && grep -q '"ended":0' "$dir/bots.json" &&
    grep -q '"desyncs":0' "$dir/bots.json"
check $? "eight bots stayed and none desynced" bots.json
disown "$server" # so that the shell does not tell of its end
kill -9 "$server"
while kill -0 "$server" 2>/dev/null; do sleep 0.1; done
start_server "$address"
"$out/examples/01_connect" "$used" 20 >"$dir/used.txt" 2>&1
grep -q '^ended: the token was used before$' "$dir/used.txt"
check $? "it lets nobody in after a kill -9" used.txt
kill -INT "$server"
wait "$server"
check $? "the server drains and its recording verifies"
server=
echo "attack: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
