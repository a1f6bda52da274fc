#!/usr/bin/env bash
# Clients of other architectures in a room with exact sync.
#
# Goal: each of them has at every confirmed tick the very state that the server recorded, whatever the order of its
# bytes, and so has one of this machine beside them. Method: client.c with the SDK, cross-compiled, under qemu, in one
# room of a real server on loopback, for TICKS ticks each; then the recording is verified, and the hashes that they
# printed are looked up in it. The libraries of the other architecture are packages of the machine's own sources, unpacked
# under build/clients: nothing is installed. Without compiler, qemu or packages: SKIPPED.
#
#   clients.sh [TICKS]    KEEP=1 keeps server's log and recording
set -u
cd "$(dirname "$0")/../.." || exit 1
ticks=${1:-300}
carom=build/release/carom
out=$PWD/build/clients
dir=$(mktemp -d)
passed=0
failed=0
server=
trap '[ -z "$server" ] || kill -9 "$server" 2>/dev/null; [ -n "${KEEP:-}" ] || rm -rf "$dir"' EXIT
mkdir -p "$out"

skip() {
    echo "SKIPPED: $*"
    exit 77
}
check() { # STATUS NAME
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "clients: FAILED: $2"
    fi
}

# Packages of another architecture, unpacked. Status 1: there are none here.
unpack() { # DEBIAN_ARCHITECTURE ROOT
    local apt=$2.apt
    [ ! -e "$2/complete" ] || return 0
    [ "${DEPS:-}" != no ] && command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
    rm -rf "$apt" "$2"
    mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$2"
    : >"$apt/status"
    local options=(-q -o "APT::Architecture=$1" -o "APT::Architectures=$1" -o "Dir::State=$apt/state" -o "APT::Sandbox::User="
        -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache")
    apt-get "${options[@]}" update >"$apt/log" 2>&1 || return 1
    (cd "$apt" && apt-get "${options[@]}" download libenet7 libenet-dev libsodium-dev libzstd-dev libprotobuf-c-dev) \
        >>"$apt/log" 2>&1 || return 1
    for package in "$apt"/*.deb; do
        dpkg-deb -x "$package" "$2" || return 1
    done
    rm -rf "$apt"
    : >"$2/complete"
}

# NAME TRIPLET DEBIAN_ARCHITECTURE: the program build/clients/NAME.
build() {
    local root=$out/root-$1 lib=build/release-$1
    make --no-print-directory -s -j"$(nproc)" CC="$2-gcc" OUT_SUFFIX="-$1" CFLAGS=-O1 PKG_CFLAGS="-I$root/usr/include" \
        "$lib/libcarom_client.a" >"$out/$1.log" 2>&1 &&
        "$2-gcc" -std=c17 -O1 -D_GNU_SOURCE -I. -Ishared/include -Iclient-sdk/include "-I$lib/gen" "-I$root/usr/include" \
            tests/determinism/client.c "$lib/libcarom_client.a" "-L$root/usr/lib/$2" -lenet -l:libprotobuf-c.a -l:libzstd.a \
            -l:libsodium.a -lm -pthread -o "$out/$1" >>"$out/$1.log" 2>&1
}

names=(aarch64 s390x)
declare -A debian=([aarch64]=arm64 [s390x]=s390x)
for name in "${names[@]}"; do
    command -v "$name-linux-gnu-gcc" >/dev/null || skip "no compiler for $name ($name-linux-gnu-gcc)"
    command -v "qemu-$name" >/dev/null || skip "no emulator (qemu-$name)"
    unpack "${debian[$name]}" "$out/root-$name" || skip "no packages of ${debian[$name]}: $(tail -n 1 "$out/root-$name.apt/log" 2>/dev/null)"
done
for name in "${names[@]}"; do
    build "$name" "$name-linux-gnu" || { tail -n 5 "$out/$name.log"; check 1 "$name does not build"; }
done
gcc -std=c17 -O1 -D_GNU_SOURCE -I. -Ishared/include -Iclient-sdk/include -Ibuild/release/gen tests/determinism/client.c \
    build/release/libcarom_client.a -lenet -lprotobuf-c -lzstd -lsodium -lm -pthread -o "$out/native"
check $? "the native one does not build"
[ "$failed" -eq 0 ] || { echo "$passed passed, $failed failed"; exit 1; }

cat >"$dir/room.json" <<'SCENE'
{"carom": 1, "name": "room", "module": "sandbox", "tick_rate": 20, "bounds": [[-64, -16, -64], [64, 48, 64]], "replication": {"sync": "inputs"},
 "bodies": [{"name": "ground", "type": "static", "shapes": [{"plane": {"normal": [0, 1, 0], "offset": 0}}]},
            {"name": "post", "type": "static", "position": [0, 3, 3], "shapes": [{"box": {"half_extents": [0.2, 0.2, 0.2]}}]},
            {"name": "bob", "position": [1.5, 3, 3], "shapes": [{"sphere": {"radius": 0.4}}]},
            {"name": "pill", "position": [-2, 2.2, -3], "shapes": [{"capsule": {"half_height": 0.4, "radius": 0.3}}]}],
 "joints": [{"name": "rope", "type": "ball", "a": "post", "b": "bob", "anchor": [0, 3, 3]}],
 "arrays": [{"name": "cube", "origin": [-3, 0.25, -3], "count": [6, 2, 6], "spacing": [1.2, 0.55, 1.2],
             "of": {"shapes": [{"box": {"half_extents": [0.25, 0.25, 0.25]}}]}}]}
SCENE
CAROM_TIMEOUT_MS=60000 CAROM_GRACE_MS=600000 "$carom" serve --insecure --workers 1 --scene "$dir/room.json" --listen 127.0.0.1:0 --ready-file "$dir/ready" \
    --db "$dir/carom.db" --matches "$dir/matches" >"$dir/serve.log" 2>&1 &
server=$!
for ((i = 0; i < 6000; i++)); do
    if [ -s "$dir/ready" ] || ! kill -0 "$server" 2>/dev/null; then break; fi
    sleep 0.1
done
[ -s "$dir/ready" ] || { echo "clients: the server did not start:"; cat "$dir/serve.log"; exit 1; }
address=$(head -1 "$dir/ready")

declare -A pids
number=0
for name in native "${names[@]}"; do
    run=()
    [ "$name" = native ] || run=("qemu-$name" -L "/usr/$name-linux-gnu" -E "LD_LIBRARY_PATH=$out/root-$name/usr/lib/$name-linux-gnu")
    number=$((number + 1))
    "${run[@]}" "$out/$name" "$address" "$number" "$ticks" >"$dir/$name.txt" 2>"$dir/$name.err" &
    pids[$name]=$!
done
for name in native "${names[@]}"; do
    wait "${pids[$name]}"
    check $? "$name: $(tail -n 1 "$dir/$name.err")"
    echo "clients: $name: $(tail -n 1 "$dir/$name.err")"
done
kill -INT "$server"
wait "$server"
check $? "the server drains"
server=
"$carom" replay "$dir"/matches/*.match --verify >"$dir/verify.txt" 2>&1
check $? "the recording: $(tail -n 1 "$dir/verify.txt")"
for name in native "${names[@]}"; do
    python3 - "$dir/$name.txt" "$ticks" "$dir"/matches/*.match <<'PYTHON'
import sqlite3, sys
rows = [line.split() for line in open(sys.argv[1])]
recorded = dict(sqlite3.connect(sys.argv[3]).execute("SELECT tick, hash FROM hashes"))
other = [tick for tick, digest in rows if recorded.get(int(tick)) != digest]
if not rows or int(rows[-1][0]) - int(rows[0][0]) < int(sys.argv[2]) or other:
    sys.exit(f"{len(rows)} hashes, other than recorded at ticks {other[:5]}")
PYTHON
    check $? "$name: hashes"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
