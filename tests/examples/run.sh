#!/usr/bin/env bash
# Goal: the SDK's examples and `carom bots` play against a real server, and bad usage is told from
# failure. Method: a server on a free port of loopback, every example for some seconds, bots over a
# bad link, wrong flags, an address where nobody listens.
#
#   run.sh BUILD_DIR
set -u
out=${1:-build/release}
carom=$out/carom
dir=$(mktemp -d)
passed=0
failed=0
server=
trap 'kill "$server" 2>/dev/null; rm -rf "$dir"' EXIT

check() { # STATUS NAME: in this order, since a $(…) in the name changes $?
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "examples: FAILED: $2"
    fi
}

cat >"$dir/small.json" <<'SCENE'
{"carom": 1, "name": "small", "module": "sandbox", "bounds": [[-64, -16, -64], [64, 48, 64]],
 "bodies": [{"name": "ground", "type": "static", "shapes": [{"plane": {"normal": [0, 1, 0], "offset": 0}}]}],
 "arrays": [{"name": "cube", "origin": [-3, 0.25, -3], "count": [4, 1, 4], "spacing": [2, 1, 2],
             "of": {"shapes": [{"box": {"half_extents": [0.25, 0.25, 0.25]}}]}}]}
SCENE
scene=$dir/small.json
start_server() { # FLAGS: serves the scene, sets server and address
    rm -f "$dir/ready"
    "$carom" serve "$@" --scene "$scene" --listen 127.0.0.1:0 --ready-file "$dir/ready" \
        --db "$dir/carom.db" --matches "$dir/matches" >"$dir/serve.log" 2>&1 &
    server=$!
    for ((i = 0; i < 6000; i++)); do
        [ ! -s "$dir/ready" ] || break
        sleep 0.1
    done
    [ -s "$dir/ready" ] || { echo "examples: the server did not start:"; cat "$dir/serve.log"; exit 1; }
    address=$(head -1 "$dir/ready")
}

# Plays an example, with what is before it in the arguments.
plays() { # NAME WHERE PROGRAM
    "$3" "$2" 4 >"$dir/example.txt" 2>&1
    status=$?
    check "$status" "$1 plays: status $status: $(tail -1 "$dir/example.txt")"
    grep -q '^ended: the client left$' "$dir/example.txt"
    check $? "$1 ends by leaving"
    [ "$(grep -c ' s: ' "$dir/example.txt")" -ge 2 ]
    check $? "$1 says where it is"
}

# An example that has a scene of its own gets a server of its own.
for scene in client-sdk/examples/*.json; do
    start_server --insecure
    plays "$(basename "$scene" .json)" "$address" "$out/examples/$(basename "$scene" .json)"
    kill -INT "$server"
    wait "$server"
    check $? "the server of $scene drains"
done
scene=$dir/small.json
start_server --insecure --spectators 2 --spectator-delay-s 0
for example in "$out"/examples/*; do
    [ -x "$example" ] && [ ! -e "client-sdk/examples/$(basename "$example").json" ] || continue
    plays "$(basename "$example")" "$address" "$example"
done

"$carom" bots --connect "$address" --count 4 --seconds 3 --latency 30 --jitter 5 --loss 2 \
    --predict 2 --spectators 1 >"$dir/bots.json" 2>"$dir/bots.log"
status=$?
check "$status" "bots: $(cat "$dir/bots.json" "$dir/bots.log")"
python3 - "$dir/bots.json" <<'PYTHON'
import json, sys
s = json.load(open(sys.argv[1]))
bad = [k for k in ("views", "ticks", "inputs_sent", "bytes_in_per_client_second",
                   "bytes_out_per_client_second", "predicted_steps") if not s[k] > 0]
bad += [k for k in ("desyncs", "ended") if s[k] != 0]
if s["connected"] != 5 or s["clients"] != 5 or s["predicting"] != 2 or s["refused"] or bad:
    sys.exit(f"examples: summary of the bots: {bad} of {s}")
if not s["prediction_error"]["count"] > 0 or s["prediction_error"]["max"] < s["prediction_error"]["p99"]:
    sys.exit(f"examples: prediction error: {s['prediction_error']}")
if s["spectators"] != 1 or not 0 <= s["frames_late_percent"] <= 100:
    sys.exit(f"examples: frames: {s}")
feel = ("own_p50_mm", "own_p99_mm", "others_p99_mm", "lead_ticks", "update_us_p99", "kbit_down", "kbit_up")
if s["watched"] != 2 or any(not s[k] > 0 for k in feel) or s["own_p99_mm"] < s["own_p50_mm"]:
    sys.exit(f"examples: what the bots saw: {s}")
PYTHON
check $? "the bots' summary"

for flags in "" "--connect nowhere" "--connect $address --count 0" "--connect $address --loss 101" \
    "--connect $address --pattern sing" "--connect $address --speed 3"; do
    # shellcheck disable=SC2086
    "$carom" bots $flags >"$dir/out.txt" 2>"$dir/err.txt"
    status=$?
    [ "$status" -eq 2 ] && [ ! -s "$dir/out.txt" ] && grep -q '^carom: bots: ' "$dir/err.txt"
    check $? "bots '$flags': status $status, expected 2 and a message"
done

kill -INT "$server"
wait "$server"
check $? "the server drains"
"$carom" bots --connect "$address" --count 1 --seconds 1 >"$dir/out.txt" 2>"$dir/err.txt"
status=$?
[ "$status" -eq 1 ] && grep -q '"UNREACHABLE":1' "$dir/out.txt"
status=$?
check "$status" "bots without a server: status $status: $(cat "$dir/out.txt")"

# A server with a key: only who has a token plays, and a token plays once.
umask 077
"$carom" token keygen --out "$dir/keys"
start_server --key "$dir/keys"
"$carom" bots --connect "$address" --key "$dir/keys" --count 3 --seconds 1 >"$dir/bots.json" 2>"$dir/bots.log"
status=$?
check "$status" "bots with tokens: $(cat "$dir/bots.json" "$dir/bots.log")"
"$carom" bots --connect "$address" --count 1 --seconds 1 >"$dir/out.txt" 2>&1
status=$?
[ "$status" -eq 1 ] && grep -q '"TOKEN":1' "$dir/out.txt"
status=$?
check "$status" "a bot without a token: status $status: $(cat "$dir/out.txt")"
# Debian's Python, which has the library: another one may stand before it on the PATH.
python=python3
/usr/bin/python3 -c 'import nacl' 2>/dev/null && python=/usr/bin/python3
token=$("$python" client-sdk/examples/issue_token.py "$dir/keys" 42 "$address" "" Petra 00ff)
check $? "the Python example issues a token"
"$carom" token inspect --key "$dir/keys" "$token" >"$dir/out.txt" 2>&1
status=$?
check "$status" "token inspect reads it: $(cat "$dir/out.txt")"
grep -q '"client_id":"42".*"expired":false.*"'"$address"'".*"name":"Petra","spectates":false,"user_data":"00ff"' "$dir/out.txt"
status=$?
check "$status" "token inspect says what it was made of: $(cat "$dir/out.txt")"
plays "01_connect with a token of Python's" "$token" "$out/examples/01_connect"
"$out/examples/01_connect" "$token" 20 >"$dir/example.txt" 2>&1 # the refusal is a hint at first
grep -q '^ended: the token was used before$' "$dir/example.txt"
status=$?
check "$status" "a token lets in once: $(cat "$dir/example.txt")"
kill -INT "$server"
wait "$server"
check $? "the server with keys drains"

echo "examples: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
