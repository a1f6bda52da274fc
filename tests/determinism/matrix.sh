#!/usr/bin/env bash
# The golden worlds on other architectures, cross-compiled and run under emulation: every hash must be
# that of tests/golden/worlds.txt. A target that is missing is a failure, not a skip.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=build/matrix
mkdir -p "$out"
flags=$(make --no-print-directory -s print-determinism)
sources=$(find shared/base shared/sim -name '*.c' | LC_ALL=C sort)
sources="$sources tests/unit/sim/rig.c tests/unit/sim/golden_scenes.c tests/unit/sim/golden_joints.c tests/unit/sim/golden_sleep.c tests/determinism/golden.c"
passed=0
failed=0

# target NAME "RUNNER" COMPILER FLAGS…
target() {
    local name=$1 runner=$2
    shift 2
    # shellcheck disable=SC2086
    if ! "$@" -std=c17 -w -D_GNU_SOURCE -Itests/determinism -I. -Ishared/include $flags $sources \
        -lm -o "$out/$name" 2>"$out/$name.log"; then
        echo "matrix: $name: does not build: $(head -n 1 "$out/$name.log")" >&2
        failed=$((failed + 1))
        return
    fi
    # shellcheck disable=SC2086
    if ! $runner "$out/$name" >"$out/$name.txt" 2>"$out/$name.log"; then
        echo "matrix: $name: does not run: $(head -n 1 "$out/$name.log")" >&2
        failed=$((failed + 1))
    elif ! diff -q tests/golden/worlds.txt "$out/$name.txt" >/dev/null; then
        echo "matrix: $name: other hashes:" >&2
        diff tests/golden/worlds.txt "$out/$name.txt" | head -n 4 >&2
        failed=$((failed + 1))
    else
        echo "matrix: $name: same hashes"
        passed=$((passed + 1))
    fi
}

target x86_64-gcc-O2 '' gcc -O2
target x86_64-clang-O2 '' clang -O2
target i686 '' i686-linux-gnu-gcc -O2 -static -msse2 -mfpmath=sse
target aarch64 qemu-aarch64 aarch64-linux-gnu-gcc -O2 -static
target armhf qemu-arm arm-linux-gnueabihf-gcc -O2 -static
target riscv64 qemu-riscv64 riscv64-linux-gnu-gcc -O2 -static
target s390x qemu-s390x s390x-linux-gnu-gcc -O2 -static -fexcess-precision=fast
target wasm32.wasm 'node --no-warnings tests/determinism/wasi.mjs' clang --target=wasm32-wasi -O2
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
