#!/usr/bin/env bash
# What `make run` does once all is built: imports the sandbox, hosts two rooms of it in two worker
# processes, plays them with four bots over a bad link, until Ctrl-C or for RUN_SECONDS; kills one of the
# workers on the way, and the match goes on; then drains, verifies, and says where the recordings are.
# CAROM is the binary. With PAGE=1 (`make play`) the rooms are streamed, and it says where the page for watching is. Status 0 only if the bots played on without a desync and the recordings verified.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

carom=${CAROM:-build/release/carom}
seconds=${RUN_SECONDS:-}
unset CAROM
dir=build/run
scene=tests/scenes/sandbox.json
stream=()
[ -z "${PAGE:-}" ] || stream=(--stream-delay-s 1)

if [ -n "$seconds" ] && ! [[ $seconds =~ ^[0-9]+(\.[0-9]+)?$ ]]; then
    echo "run.sh: RUN_SECONDS: '$seconds', expected a number of seconds" >&2
    exit 2
fi
mkdir -p "$dir" || exit 1
rm -f "$dir/ready" "$dir/keys" "$dir/bots.json" "$dir/serve.log" "$dir/bots.log"
"$carom" scene import "$scene" --db "$dir/carom.db" || exit 1
# Shared by the server and by whoever issues tokens: here the bots, for themselves.
"$carom" token keygen --out "$dir/keys" || exit 1

# Each job gets a process group of its own, so that Ctrl-C comes to this script alone, which then
# ends the bots first and the server after them.
set -m
"$carom" serve --key "$dir/keys" --db "$dir/carom.db" --matches "$dir/matches" --workers 2 \
    --room left=sandbox --room right=sandbox --listen 127.0.0.1:0 --http 127.0.0.1:0 "${stream[@]}" --ready-file "$dir/ready" 2>"$dir/serve.log" &
server=$!
bots=
killer=
killed=0
interrupted=0
trap 'interrupted=$((interrupted + 1))' INT TERM

# Asks the bots to leave; a second Ctrl-C goes to the server as well, which then stops at once.
pass_on() {
    if [ "$interrupted" -ge 1 ] && [ -n "$bots" ]; then kill -INT "$bots" 2>/dev/null; fi
    if [ "$interrupted" -ge 2 ]; then kill -INT "$server" 2>/dev/null; fi
}

# Waits for a job in spite of signals; its exit status.
wait_for() {
    local status before
    while :; do
        before=$interrupted
        wait "$1"
        status=$?
        [ "$interrupted" -ne "$before" ] || return "$status"
        pass_on
    done
}

# Kills a worker so many seconds from now, but not before all bots play, and says so.
kill_worker() {
    local worker="" stat line parent
    sleep "$1"
    until [ "$(grep -c '"event":"player joined"' "$dir/serve.log")" -ge 4 ]; do sleep 0.1; done
    for stat in /proc/[0-9]*/stat; do # children of the server, by the number after the name and the state
        read -r line <"$stat" || continue
        read -r _ parent _ <<<"${line##*)}"
        [ "$parent" != "$server" ] || worker=${line%% *}
    done 2>/dev/null
    [ -n "$worker" ] || return 1
    echo "run.sh: kills worker process $worker now: its room goes on where it was, its players come back" >&2
    kill -9 "$worker"
}

for ((i = 0; i < 6000; i++)); do
    [ ! -s "$dir/ready" ] || break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
done
if [ ! -s "$dir/ready" ]; then
    kill -TERM "$server" 2>/dev/null
    wait "$server"
    echo "run.sh: the server did not start:" >&2
    cat "$dir/serve.log" >&2
    exit 1
fi

if [ -n "${PAGE:-}" ]; then
    http=$(sed -n 's/.*"event":"http".*"address":"\([^"]*\)".*/\1/p' "$dir/serve.log")
    echo "watch     http://$http/watch/ shows the match in a browser"
elif [ -z "$seconds" ]; then
    echo "          make play does this with a page that shows the match in a browser"
fi
if [ "$interrupted" -eq 0 ]; then
    # 100 ms of round trip is 50 ms each way.
    "$carom" bots --connect "$(head -1 "$dir/ready")" --key "$dir/keys" --rooms left,right --count 4 --predict 4 --latency 50 --loss 2 \
        --seconds "${seconds:-1000000}" >"$dir/bots.json" 2>"$dir/bots.log" &
    bots=$!
    # In the middle, of a long run after ten seconds; of one that is too short to see it, not at all.
    whole=${seconds:-20}
    whole=$((10#0${whole%.*}))
    if [ "$whole" -ge 4 ]; then
        kill_worker "$((whole < 20 ? whole / 2 : 10))" &
        killer=$!
    fi
    # A server that dies takes the bots with it: they notice by themselves.
    wait_for "$bots"
    played=$?
    bots=
    if [ -n "$killer" ]; then
        kill "$killer" 2>/dev/null
        wait "$killer" 2>/dev/null && killed=1
    fi
else
    played=1
fi

kill -INT "$server" 2>/dev/null
wait_for "$server"
served=$?

field() { sed -n "s/.*\"$1\":{\{0,1\}\(\"mean\":\)\{0,1\}\([-0-9.]*\).*/\2/p" "$dir/bots.json"; }
echo
if [ -s "$dir/bots.json" ]; then
    error=$(sed -n 's/.*"prediction_error":{\([^}]*\)}.*/\1/p' "$dir/bots.json")
    echo "bots      $(field connected) connected, $(field desyncs) desyncs, $(field packets_lost) packets lost"
    echo "          prediction error, m: $error"
    gap=$(sed -n 's/.*"gap_ms":{[^}]*"max":\([0-9]*\).*/\1/p' "$dir/bots.json")
    [ "$killed" -eq 0 ] || echo "killed    one worker of two: $(field comebacks) comebacks, views again after at most $gap ms"
    echo "          all figures: $dir/bots.json"
fi
status=0
if [ "$played" -ne 0 ]; then
    echo "run.sh: the bots ended with status $played:" >&2
    cat "$dir/bots.log" >&2
    status=1
fi
if [ "$served" -ne 0 ]; then
    echo "run.sh: the server ended with status $served:" >&2
    tail -20 "$dir/serve.log" >&2
    status=1
fi
exit "$status"
