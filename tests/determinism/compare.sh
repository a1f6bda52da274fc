#!/usr/bin/env bash
# One set of scenes, several builds: all must print the same hashes, and builds that were broken on
# purpose must not. compare.sh quick|full
#
# quick: gcc and clang, -O0 and -O3, one broken build. full adds -O1, -O2, -Os, -march=native and a
# -ffast-math build broken on purpose, and CFLAGS that try to undo the flags (and must not).
set -euo pipefail
cd "$(dirname "$0")/../.."
mode=${1:-quick}
ticks=600
scenes=(tests/scenes/tipping.json tests/scenes/heavy_on_light.json tests/scenes/crowd.json
  tests/scenes/machines.json tests/scenes/solids.json tests/scenes/conveyor.json
  tests/scenes/locks.json tests/scenes/planar.json
  tests/scenes/seeds/volume_shapes.json tests/scenes/seeds/volume_top.json)
passed=0
failed=0

# build NAME CC CFLAGS [BREAK]: prints the path of the program.
build() {
    local out=build/release-$1
    local broken=()
    if [ -n "${4:-}" ]; then
        out=build/broken-$1
        broken=("BREAK_DETERMINISM=$4")
    fi
    if ! make --no-print-directory -s -j2 BUILD=release CC="$2" CFLAGS="$3" OUT_SUFFIX="-$1" \
        "${broken[@]}" "$out/hashes" >build/determinism-"$1".log 2>&1; then
        tail -n 20 build/determinism-"$1".log >&2
        exit 1
    fi
    echo "$out/hashes"
}

check() { # NAME same|differs CC CFLAGS [BREAK]
    local program now
    program=$(build "$1" "$3" "$4" "${5:-}")
    now=$("$program" "$ticks" "${scenes[@]}")
    if { [ "$2" = same ] && [ "$now" = "$reference" ]; } ||
        { [ "$2" = differs ] && [ "$now" != "$reference" ]; }; then
        passed=$((passed + 1))
        echo "determinism: $1: $2, as it must"
    else
        failed=$((failed + 1))
        echo "determinism: $1: must be '$2', and is not" >&2
        diff <(echo "$reference") <(echo "$now") | head -6 >&2 || true
    fi
}

mkdir -p build
reference=$("$(build gcc-O3 gcc '')" "$ticks" "${scenes[@]}")
check gcc-O0 same gcc -O0
check clang-O0 same clang -O0
check clang-O3 same clang -O3
if grep -qw fma /proc/cpuinfo; then
    check gcc-contract differs gcc -O3 '-march=native -ffp-contract=fast'
else
    echo 'determinism: this processor has no FMA: the contracted build cannot run here' >&2
    failed=$((failed + 1))
fi
if [ "$mode" = full ]; then
    check gcc-O1 same gcc -O1
    check gcc-O2 same gcc -O2
    check gcc-Os same gcc -Os
    check gcc-native same gcc '-O3 -march=native'
    check clang-native same clang '-O3 -march=native'
    check gcc-undo same gcc '-Ofast -march=native -ffp-contract=fast -ffast-math'
    check clang-undo same clang '-O3 -march=native -ffp-contract=fast -ffast-math -Wno-overriding-t-option'
    check gcc-fast-math differs gcc -O3 '-ffast-math'
fi
echo "determinism: ${#scenes[@]} scenes, $ticks ticks"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
