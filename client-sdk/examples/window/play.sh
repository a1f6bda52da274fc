#!/bin/sh
# Hosts a game on loopback and opens a window on it; ends the server with the window.
#
#   play.sh GAME [ARGUMENTS]     the window is given HOST:PORT GAME before its arguments
set -u
carom=${CAROM:-carom}
game=$1
shift
dir=$(mktemp -d)
module="" scene=../$game/$game.json
if [ "$game" = sandbox ]; then
    scene=${SANDBOX:-../../sandbox.json} # as it is installed
else
    ${MAKE:-make} -s -C "../$game" "$game.so" || exit 1
    module="--module ../$game/$game.so"
fi
# shellcheck disable=SC2086
"$carom" serve --insecure $module --scene "$scene" --listen 127.0.0.1:0 --ready-file "$dir/ready" \
    --db "$dir/carom.db" --matches "$dir/matches" >"$dir/log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server"; rm -rf "$dir"' EXIT
while [ ! -s "$dir/ready" ]; do
    kill -0 "$server" 2>/dev/null || { cat "$dir/log"; exit 1; }
    sleep 0.1
done
./carom_window "$(head -1 "$dir/ready")" "$game" "$@"
