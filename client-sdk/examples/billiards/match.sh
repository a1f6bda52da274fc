#!/bin/sh
# One match on loopback: hosts the scene, lets the client play, ends the server, and proves what it
# recorded. Status 0: the client ended well, and every tick of the recording is the one that was played.
#
#   match.sh MODULE.so SCENE.json CLIENT [ARGUMENTS]     the client is given HOST:PORT before its arguments
#
# The recording stays in the folder MATCHES (matches).
set -u
carom=${CAROM:-carom}
module=$1 scene=$2 client=$3
shift 3
matches=${MATCHES:-matches}
dir=$(mktemp -d)
"$carom" serve --insecure --module "$module" --scene "$scene" --listen 127.0.0.1:0 --ready-file "$dir/ready" \
    --db "$dir/carom.db" --matches "$matches" >"$dir/log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$dir"' EXIT
while [ ! -s "$dir/ready" ]; do
    kill -0 "$server" 2>/dev/null || { cat "$dir/log"; exit 1; }
    sleep 0.1
done
timeout 600 "$client" "$(head -1 "$dir/ready")" "$@"
played=$?
kill -TERM "$server"
wait "$server" || { cat "$dir/log"; exit 1; }
match=$(ls -t "$matches"/*.match | head -1)
echo "$match"
"$carom" replay "$match" --verify --module "$module" || exit 1
exit "$played"
