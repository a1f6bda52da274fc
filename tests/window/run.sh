#!/usr/bin/env bash
# Goal: the window of client-sdk/examples builds against what is installed, and shows each game over a
# path of 200 ms. Method: SDL's driver without a screen; a script presses keys and takes pictures
# while three bots (billiards: one) play on loopback; the picture is no empty one, and the client
# still plays and never desynced. Without SDL2: SKIPPED.
set -u
make=${MAKE:-make}
cc=${CC:-gcc}
pictures=${PICTURES:-} # a folder to keep them in
if ! pkg-config --exists sdl2; then
    echo 'SKIPPED: SDL2 is not here (libsdl2-dev)'
    exit 77
fi
dir=$(mktemp -d)
server=0
trap 'kill "$server" 2>/dev/null; wait; rm -rf "$dir"' EXIT
passed=0
failed=0
check() { # STATUS NAME
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "window: FAILED: $2"
    fi
}

$make -s --no-print-directory install PREFIX="$dir/carom" >"$dir/log.txt" 2>&1
check $? "make install: $(tail -3 "$dir/log.txt")"
export PKG_CONFIG_PATH=$dir/carom/lib/pkgconfig PATH=$dir/carom/bin:$PATH SDL_VIDEODRIVER=dummy
cp -R "$dir/carom/share/carom/examples" "$dir/examples"
cd "$dir/examples/window" || exit 1
$make -s CC="$cc" CFLAGS="-O2 -Wall -Wextra -Werror" >"$dir/log.txt" 2>&1
check $? "make: $(tail -3 "$dir/log.txt")"

play() { # GAME BOTS KEYS…: a second each, then the bot
    local game=$1 bots=$2 at=1 module='' scene=../$1/$1.json
    shift 2
    if [ "$game" = sandbox ]; then
        scene=$dir/carom/share/carom/sandbox.json
    else
        $make -s -C "../$game" CC="$cc" "$game.so" || return 1
        module="--module ../$game/$game.so"
    fi
    for key in "$@"; do
        printf '%d down %s\n%d up %s\n' "$at" "$key" $((at + 1)) "$key"
        at=$((at + 1))
    done >"$dir/script"
    printf '%d down B\n%d down G\n%d shot %s\n%d quit\n' $at $((at + 3)) $((at + 4)) "$dir/$game.bmp" $((at + 4)) >>"$dir/script"
    rm -f "$dir/ready"
    # shellcheck disable=SC2086
    carom serve --insecure $module --scene "$scene" --listen 127.0.0.1:0 --ready-file "$dir/ready" --db "$dir/$game.db" \
        --matches "$dir/matches" >"$dir/server.txt" 2>&1 &
    server=$!
    while [ ! -s "$dir/ready" ]; do
        kill -0 "$server" 2>/dev/null || { cat "$dir/server.txt"; return 1; }
        sleep 0.1
    done
    # shellcheck disable=SC2086
    carom bots --connect "$(head -1 "$dir/ready")" --count "$bots" --seconds 600 $module >/dev/null 2>&1 &
    local others=$!
    timeout 600 ./carom_window "$(head -1 "$dir/ready")" "$game" --latency 100 --jitter 20 --loss 5 --script "$dir/script" \
        >"$dir/said" 2>&1
    local status=$?
    kill -INT "$others" "$server"
    wait "$others" "$server"
    [ "$status" -eq 0 ] || cat "$dir/said"
    return "$status"
}

for game in 'sandbox 3 Up Left Space' 'ball 5 Up Space Right' 'race 3 Up Up Left' 'billiards 1 Up Right Space'; do
    # shellcheck disable=SC2086
    play $game
    check $? "$game"
    game=${game%% *}
    cat "$dir/said"
    grep -q '^'"$game"': playing, .* 0 desyncs$' "$dir/said"
    check $? "$game: $(cat "$dir/said")"
    python3 - "$dir/$game.bmp" <<'PY'
import struct, sys
data = open(sys.argv[1], "rb").read()
begin, = struct.unpack_from("<I", data, 10)
width, height = struct.unpack_from("<ii", data, 18)
colours = {data[i:i + 4] for i in range(begin, len(data) - 3, 4)}
sys.exit(0 if (width, height) == (1280, 720) and len(colours) > 100 else f"{width} x {height}, {len(colours)} colours")
PY
    check $? "$game: a picture of it"
    [ -z "$pictures" ] || cp "$dir/$game.bmp" "$pictures/"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
