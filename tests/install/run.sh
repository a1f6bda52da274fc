#!/usr/bin/env bash
# Goal: what `make install` puts down is complete, and README's client example builds against it, in
# C and C++, with the flags that pkg-config gives and with those that README names. Method: an
# installation into a folder of its own; the example is cut out of README.md, its endless loop made
# short, and run where no server answers.
set -u
make=${MAKE:-make}
out=${OUT:-build/release}
cc=${CC:-gcc}
cxx=${CXX:-g++}
command -v "$cxx" >/dev/null 2>&1 || cxx=clang++
dir=$(mktemp -d)
trap 'wait; rm -rf "$dir"' EXIT
failed=0
passed=0

check() { # STATUS NAME: in this order, since a $(…) in the name changes $?
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "install: FAILED: $2"
    fi
}

$make -s --no-print-directory install DESTDIR="$dir" PREFIX=/opt/carom >"$dir/log.txt" 2>&1
check $? "make install: $(tail -3 "$dir/log.txt")"
# What is built stays so, whichever object is asked for first: the flags of one are not those of all.
for first in tests/unit/timeout.o shared/sim/solve/soft/pass16.o server/ops/parts.o; do
    $make -s --no-print-directory all "$out/$first" >/dev/null 2>&1
    said=$($make --no-print-directory "$out/$first" all 2>&1 | grep -c '^  CC ')
    [ "$said" -eq 0 ]
    check $? "make with $first first compiles $said files again"
done
root=$dir/opt/carom
for file in bin/carom lib/libcarom_client.a lib/pkgconfig/carom-client.pc lib/libcarom_token.a include/carom/client.h \
    lib/libcarom_sim.a lib/pkgconfig/carom-sim.pc include/carom/world.h include/carom/limits.h \
    share/man/man1/carom.1 share/bash-completion/completions/carom share/carom/carom.json share/carom/carom.service share/carom/sandbox.json share/carom/examples/02_touch.c share/carom/examples/02_touch.json share/carom/LICENSE share/carom/NOTICE \
    share/carom/scene.proto share/carom/control.proto share/carom/PROTOCOL.md share/carom/MATCH_FILE.md share/carom/EXPORT_FILE.md share/carom/GUIDE.md share/carom/SCENE.md share/carom/OPERATE.md share/carom/pictures/hinge.svg; do
    [ -s "$root/$file" ]
    check $? "$file is installed"
done
# The manual has every command, and roff finds nothing wrong with it; bash completes by what is installed.
for command in $("$root/bin/carom" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    grep -qx ".SS carom $command" "$root/share/man/man1/carom.1"
    check $? "the manual has carom $command"
done
if command -v groff >/dev/null 2>&1; then
    said=$(groff -ww -man -Tutf8 -z "$root/share/man/man1/carom.1" 2>&1) && [ -z "$said" ]
    check $? "the manual is roff: $said"
else
    echo 'install: groff is not here: the manual is not formatted'
fi
completes() { # WORDS… : what bash offers for the last of them
    (. "$root/share/bash-completion/completions/carom"
        COMP_WORDS=(carom "$@")
        COMP_CWORD=$#
        _carom
        echo "${COMPREPLY[*]}")
}
while IFS='|' read -r words offered; do
    # shellcheck disable=SC2086
    said=$(eval completes $words)
    [ "$said" = "$offered" ]
    check $? "bash completes '$words' to '$said', expected '$offered'"
done <<'WORDS'
do|doctor
match e|extract erase-player
scene va|validate
admin un|unban
module ''|new check test --dir --scene --seed --ticks
replay --verify m.match --pub|--pubkey
serve --tick|--tick-budget-percent
help ev|eval
eval ''|impact circle lcp volume
replay t|
replay js|
WORDS
unit=$root/share/carom/carom.service
grep -q '^ExecStart=/opt/carom/bin/carom serve ' "$unit" &&
    grep -q '^ExecStartPre=/opt/carom/bin/carom serve .*--check-config$' "$unit" &&
    ! grep -q /usr/local "$unit"
check $? "the unit names the prefix: $(grep -n '/usr/local\|^ExecStart' "$unit")"
if command -v systemd-analyze >/dev/null 2>&1; then # which says what it ignores, and ends with 0
    sed "s|/opt/carom|$root|g" "$unit" >"$dir/carom.service"
    said=$(systemd-analyze verify --man=no "$dir/carom.service" 2>&1) && [ -z "$said" ]
    check $? "systemd-analyze verifies the unit: $said"
else
    echo "install: systemd-analyze is not here: the unit is not verified"
fi
# As the head of the unit has it: the scene into a database of the working directory, then the check
# that the unit makes before each start. The address may be taken here: a free one.
mkdir "$dir/var"
(cd "$dir/var" && "$root/bin/carom" scene import "$root/share/carom/sandbox.json" --db carom.db &&
    CAROM_LISTEN=127.0.0.1:0 CAROM_DB=carom.db CAROM_MATCHES=matches "$root/bin/carom" serve --config "$root/share/carom/carom.json" \
        --check-config) >"$dir/log.txt" 2>&1
check $? "the installed configuration and scene are good: $(cat "$dir/log.txt")"
[ "$(ls -A "$dir/var")" = carom.db ]
check $? "a check leaves nothing behind: $(ls -A "$dir/var")"

{
    printf '#include <carom/client.h>\n#include <time.h>\n'
    printf 'static uint64_t now_us(void)\n{\n    struct timespec t;\n    timespec_get(&t, TIME_UTC);\n'
    printf '    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;\n}\n'
    printf 'int main(void)\n{\n'
    sed -n '/^```c$/,/^```$/p' README.md | grep -v '^```' | sed 's/for (;;)/for (int i = 0; i < 9; i++)/'
    printf '    carom_client_destroy(client);\n    return 0;\n}\n'
} >"$dir/five.c"
cp "$dir/five.c" "$dir/five.cc"
export PKG_CONFIG_SYSROOT_DIR=$dir PKG_CONFIG_PATH=$root/lib/pkgconfig
warn="-Wall -Wextra -Werror ${SDK_FLAGS:-}"
flags=$(pkg-config --cflags --libs carom-client 2>&1)
check $? "pkg-config: $flags"
# shellcheck disable=SC2086
"$cc" -std=c17 $warn "$dir/five.c" $flags -o "$dir/five_c" && "$dir/five_c"
check $? "README's example in C, by pkg-config"
# shellcheck disable=SC2086
"$cxx" -std=c++17 $warn "$dir/five.cc" $flags -o "$dir/five_cc" && "$dir/five_cc"
check $? "README's example in C++, by pkg-config"
libs=$(sed -n 's/^Link with `build.release.libcarom_client.a \([^`]*\)`.*/\1/p' README.md)
[ -n "$libs" ]
check $? "README names the libraries"
# shellcheck disable=SC2086
"$cc" -std=c17 $warn "-I$root/include" "$dir/five.c" "$root/lib/libcarom_client.a" $libs -o "$dir/five_r" &&
    "$dir/five_r"
check $? "README's example with README's libraries"
for example in "$root"/share/carom/examples/*.c; do
    # shellcheck disable=SC2046
    "$cc" -std=c17 $warn "$example" $(pkg-config --cflags --libs carom-client) -o "$dir/example"
    check $? "$(basename "$example") builds against what is installed"
done

# The games: each folder as a stranger copies it builds against what is installed, and is sound; its bots play on loopback until something has happened (a goal,
# a lap), and the recording verifies. They play while the rest is tested: see the end.
carom=$root/bin/carom
games=
for game in "$root"/share/carom/examples/*/module.c; do # the window beside them: check-window
    game=$(basename "$(dirname "$game")")
    games="$games $game"
    cp -R "$root/share/carom/examples/$game" "$dir/$game"
    make -s -C "$dir/$game" CC="$cc" CAROM="$carom" CFLAGS="-O2 -Wall -Wextra -Werror" all client test >"$dir/log.txt" 2>&1
    check $? "$game: make all client test: $(tail -3 "$dir/log.txt")"
    grep -q '"result": "sound", "ticks": 1800, "made_again": 3600' "$dir/log.txt"
    check $? "$game is sound: $(tail -1 "$dir/log.txt")"
    (make -s -C "$dir/$game" CC="$cc" CAROM="$carom" match PLAY=8 >"$dir/$game.txt" 2>&1; echo "status $?" >>"$dir/$game.txt") &
done
[ "$games" = ' ball billiards race' ]
check $? "the games are there:$games"

# The world alone: nothing else is linked, and the flags name nothing else.
flags=$(pkg-config --cflags --libs carom-sim 2>&1)
[ "$(pkg-config --libs carom-sim | tr -s ' ' '\n' | grep -c '^-l')" -eq 1 ]
check $? "carom-sim links one library: $flags"
# shellcheck disable=SC2086
"$cc" -std=c17 $warn tests/install/sim.c $flags -o "$dir/sim" && "$dir/sim"
check $? "a program with libcarom_sim and nothing else"

# Each link of an installed page leads to a file beside it.
dead=$(cd "$root/share/carom" && grep -oE '\]\([^)#:]+' ./*.md | sed 's/:](/ /' | while read -r page link; do [ -e "$link" ] || echo "$page: $link"; done)
[ -z "$dead" ]
check $? "links of installed pages: $dead"

# A game of one's own, from nothing: written, built, checked, tried, hosted, played, verified. With
# cmake, where it is there, the module is of the same source.
# GUIDE.md's first commands, as they stand there but for the name.
python3 tests/install/guide.py "$root/share/carom/GUIDE.md" "$root/share/carom/examples/ball" "$carom"
check $? "GUIDE.md"
sed -n '/^```sh$/,/^```$/p' client-sdk/GUIDE.md | sed -n '2,/^```$/p' | grep -v '^```' | sed 's/ball/pong/g' >"$dir/guide.sh"
(cd "$dir" && PATH=$root/bin:$PATH CC=$cc MAKEFLAGS=-s bash -e guide.sh) >"$dir/log.txt" 2>&1
check $? "GUIDE.md: module new, make, test, match: $(tail -3 "$dir/log.txt")"
grep -q '^verified [1-9]' "$dir/log.txt"
check $? "the new module's first match verifies: $(tail -3 "$dir/log.txt")"
grep -q '"result": "sound", "ticks": 1800, "made_again": 3600' "$dir/log.txt"
check $? "the new module is sound: $(tail -1 "$dir/log.txt")"
emitted=$(sed -n 's/.*"emitted": \([0-9]*\), "events": {"touch":\([0-9]*\)}.*/\1 \2/p' "$dir/log.txt")
[ -n "$emitted" ] && [ "${emitted% *}" -gt 0 ] && [ "${emitted% *}" = "${emitted#* }" ]
check $? "events of its rule are counted by name: $emitted"
"$carom" module new pong --dir "$dir" 2>&1 | grep -q "$dir/pong: File exists"
check $? "an existing folder is left alone"
said=$("$carom" module new Pong --dir "$dir" 2>&1)
[ $? -eq 2 ] && grep -q 'at most 31 of a-z' <<<"$said"
check $? "a name that no module may have: $said"
if command -v cmake >/dev/null; then
    CC=$cc cmake -S "$dir/pong" -B "$dir/cmake" >"$dir/log.txt" 2>&1 &&
        cmake --build "$dir/cmake" >>"$dir/log.txt" 2>&1 &&
        "$carom" module check "$dir/cmake/pong.so" >"$dir/by_cmake.txt" 2>>"$dir/log.txt"
    check $? "the new module by cmake: $(tail -3 "$dir/log.txt")"
    "$carom" module check "$dir/pong/pong.so" | grep -o '"source": "[0-9a-f]*"' >"$dir/by_make.txt"
    grep -qFf "$dir/by_make.txt" "$dir/by_cmake.txt"
    check $? "make and cmake tell the same source"
else
    echo 'install: no cmake here: CMakeLists.txt of a new module was not tried'
fi
make -s -C "$dir/pong" CC="$cc" CFLAGS="-O2 $warn" client >"$dir/log.txt" 2>&1
check $? "the new module's client: $(tail -3 "$dir/log.txt")"
cp "$dir/pong/pong_client" "$dir/" # outlives what follows
play_pong() { # FILE.so: hosts it, plays once; the match is left in $dir/matches
    rm -rf "$dir/ready" "$dir/matches"
    "$carom" serve --insecure --module "$1" --scene "$dir/pong/pong.json" --listen 127.0.0.1:0 \
        --ready-file "$dir/ready" --db "$dir/pong.db" --matches "$dir/matches" >"$dir/serve.txt" 2>&1 &
    server=$!
    for ((i = 0; i < 6000; i++)); do
        [ ! -s "$dir/ready" ] || break
        sleep 0.1
    done
    timeout 600 "$dir/pong_client" "$(head -1 "$dir/ready")" >"$dir/log.txt" 2>&1
    played=$?
    kill -TERM "$server"
    wait "$server"
}
play_pong "$dir/pong/pong.so"
check $? "the server drains and verifies: $(tail -2 "$dir/serve.txt")"
check "$played" "a client plays the new module: $(cat "$dir/log.txt")"
said=$("$carom" replay "$dir"/matches/*.match --verify --module "$dir/pong/pong.so" 2>&1)
check $? "the recording verifies: $said"
said=$("$carom" replay "$dir"/matches/*.match --verify 2>&1)
[ $? -eq 2 ] && grep -q "recorded with module 'pong'" <<<"$said"
check $? "without the module nothing is said: $said"
# The same source compiled otherwise is another file, and the same rules; other source is neither.
make -s -C "$dir/pong" clean && make -s -C "$dir/pong" CC="$cc" CFLAGS=-O1
said=$("$carom" replay "$dir"/matches/*.match --verify --module "$dir/pong/pong.so" 2>&1)
[ $? -eq 0 ] && grep -q 'not the very file' <<<"$said"
check $? "another file of the same source verifies, and it is said: $said"
echo '// changed' >>"$dir/pong/module.c" && make -s -C "$dir/pong" CC="$cc"
said=$("$carom" replay "$dir"/matches/*.match --verify --module "$dir/pong/pong.so" 2>&1)
[ $? -eq 2 ] && grep -q 'of source' <<<"$said"
check $? "a module of other source is refused: $said"
play_pong "$dir/pong/pong.so"
[ "$played" -eq 1 ] && grep -q "^pong_client: the client has another build of the room's module" "$dir/log.txt"
check $? "a client of other source does not play: $(cat "$dir/log.txt")"

# A backend: issues a token with the token library alone, in C++, and carom reads it.
cat >"$dir/issue.cc" <<'END'
#include <carom/token.h>
#include <cstdio>
#include <cstring>
int main()
{
    char text[4096];
    size_t size = std::fread(text, 1, sizeof text, stdin);
    carom_token_keys keys;
    uint32_t line = 0;
    if (carom_token_keys_read(text, size, &keys, &line) != CAROM_OK) {
        return 1;
    }
    carom_token_def def = carom_default_token_def();
    def.client_id = 42;
    def.expires_unix_s = 4000000000u;
    def.servers[0] = "203.0.113.7:7777";
    char token[CAROM_TOKEN_TEXT_MAX];
    return carom_token_issue(&def, &keys.keys[0], token, sizeof token, nullptr) == CAROM_OK &&
                   std::puts(token) >= 0
               ? 0
               : 1;
}
END
flags=$(pkg-config --cflags --libs carom-token 2>&1)
# shellcheck disable=SC2086
"$cxx" -std=c++17 $warn "$dir/issue.cc" $flags -o "$dir/issue" &&
    "$root/bin/carom" token keygen --out "$dir/key" &&
    token=$("$dir/issue" <"$dir/key") &&
    "$root/bin/carom" token inspect --key "$dir/key" -- "$token" | grep -q '"client_id":"42"'
check $? "a backend issues a token with libcarom_token"

# What the games came to.
wait
for game in $games; do
    tail -1 "$dir/$game.txt" | grep -q '^status 0$' && grep -q '^verified [1-9]' "$dir/$game.txt"
    check $? "$game: a match of eight bots: $(tail -3 "$dir/$game.txt")"
done
grep -q '^tick [0-9]*: a goal for ' "$dir/ball.txt"
check $? "ball: a goal: $(tail -3 "$dir/ball.txt")"
grep -q '^ping [0-9]* ms, jitter [0-9]* ms, loss [0-9.]*%, others [1-9][0-9]* ms ago$' "$dir/ball.txt"
check $? "ball: a line of the path: $(tail -3 "$dir/ball.txt")"
grep -q '^tick [0-9]*: car [1-8], lap 1 in ' "$dir/race.txt"
check $? "race: a lap: $(tail -3 "$dir/race.txt")"

echo "install: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
