#!/usr/bin/env bash
# One set of scenes, several builds: all must print the same hashes, whatever CFLAGS try to undo.
# Nor may they hold a fused instruction: gcc 12 makes vfmaddsub whatever -ffp-contract says, and a file
# that turns AVX-512 on for itself (pass16.c) turns off the flag that keeps it from that.
# Builds that were broken on purpose must not (`differs`), or must not even compile (`refused`): they
# show that the scenes would tell. compare.sh quick|full
#
# quick: the release build beside clang -O0 with every flag that could undo DETERMINISM. full: many more, and
# those that must differ.
set -euo pipefail
cd "$(dirname "$0")/../.."
mode=${1:-quick}
ticks=$([ "$mode" = full ] && echo 600 || echo 300)
scenes=(tests/scenes/tipping.json tests/scenes/heavy_on_light.json tests/scenes/crowd.json
  tests/scenes/machines.json tests/scenes/solids.json tests/scenes/conveyor.json
  tests/scenes/locks.json tests/scenes/planar.json
  tests/scenes/seeds/boxes_at_rest.json tests/scenes/seeds/circles_set2.json
  tests/scenes/seeds/lcp_ragdoll.json tests/scenes/seeds/lcp_contact_modes.json
  tests/scenes/seeds/volume_shapes.json tests/scenes/seeds/volume_top.json)
passed=0
failed=0

# out NAME [BREAK]: the folder of a build. The reference is the release build itself.
out() {
    if [ -n "${2:-}" ]; then
        echo "build/broken-$1"
    elif [ "$1" = reference ]; then
        echo build/release
    else
        echo "build/release-$1"
    fi
}

# build NAME CC CFLAGS [BREAK]: builds the program; its output goes to a log.
build() {
    local target suffix=-$1
    target=$(out "$1" "${4:-}")/hashes
    if [ "$1" = reference ]; then
        suffix=
    fi
    make --no-print-directory -s -j"$(nproc)" BUILD=release CC="$2" CFLAGS="$3" OUT_SUFFIX="$suffix" \
        ${4:+"BREAK_DETERMINISM=$4"} "$target" >"build/determinism-$1.log" 2>&1
}

# fused BINARY: how many fused instructions it has.
fused() {
    objdump -d "$1" | grep -cE 'vfn?m(add|sub)' || true
}

# unfused NAME same|differs BINARY: what must be the same has none.
unfused() {
    local count
    count=$(fused "$3")
    if [ "$2" = same ] && [ "$count" -ne 0 ]; then
        echo "determinism: $1: $count fused instructions" >&2
        failed=$((failed + 1))
    fi
}

check() { # NAME same|differs|refused CC CFLAGS [BREAK]
    local now
    if ! build "$1" "$3" "$4" "${5:-}"; then
        now='no build'
        if [ "$2" = refused ] && grep -q '#error.*cannot be built with' "build/determinism-$1.log"; then
            now=refused
        fi
    else
        now=$("$(out "$1" "${5:-}")/hashes" "$ticks" "${scenes[@]}")
        unfused "$1" "$2" "$(out "$1" "${5:-}")/hashes"
    fi
    if { [ "$2" = same ] && [ "$now" = "$reference" ]; } ||
        { [ "$2" = refused ] && [ "$now" = refused ]; } ||
        { [ "$2" = differs ] && [ "$now" != 'no build' ] && [ "$now" != "$reference" ]; }; then
        passed=$((passed + 1))
        echo "determinism: $1: $2, as it must"
        return
    fi
    failed=$((failed + 1))
    echo "determinism: $1: must be '$2', and is not" >&2
    if [ "$now" = 'no build' ]; then
        tail -n 20 "build/determinism-$1.log" >&2
    else
        diff <(echo "$reference") <(echo "$now") | head -6 >&2 || true
    fi
}

mkdir -p build
if ! build reference gcc ''; then
    tail -n 20 build/determinism-reference.log >&2
    exit 1
fi
reference=$(build/release/hashes "$ticks" "${scenes[@]}")
unfused reference same build/release/hashes
undo='-march=native -ffp-contract=fast -ffast-math'
check clang-undo-O0 same clang "-O0 $undo -Wno-overriding-t-option"
if [ "$mode" = full ]; then
    check gcc-undo same gcc "-Ofast $undo"
    if grep -qw fma /proc/cpuinfo; then
        check gcc-contract differs gcc -O3 '-march=native -mfma -ffp-contract=fast'
        if [ "$(fused build/broken-gcc-contract/hashes)" -eq 0 ]; then
            echo 'determinism: gcc-contract: no fused instruction is found where there must be some' >&2
            failed=$((failed + 1))
        fi
    else
        echo 'SKIPPED: gcc-contract: this processor has no FMA, so that nothing would show contraction'
    fi
    check clang-O0 same clang -O0
    check gcc-O0 same gcc -O0
    check gcc-O1 same gcc -O1
    check gcc-O2 same gcc -O2
    check gcc-Os same gcc -Os
    check clang-O3 same clang -O3
    check clang-undo same clang "-O3 $undo -Wno-overriding-t-option"
    check gcc-reassociate differs gcc -O3 '-funsafe-math-optimizations'
    check gcc-fast-math refused gcc -O3 -ffast-math
fi
echo "determinism: ${#scenes[@]} scenes, $ticks ticks"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
