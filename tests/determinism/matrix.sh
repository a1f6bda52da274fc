#!/usr/bin/env bash
# The golden worlds on other architectures, cross-compiled and run under emulation: every hash must be
# that of tests/golden/worlds.txt. A target that is missing is a failure, not a skip.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=build/matrix
mkdir -p "$out"
sources=$(find shared/base shared/sim -name '*.c' | LC_ALL=C sort)
sources="$sources tests/unit/sim/rig.c $(ls tests/unit/sim/golden_*.c) tests/determinism/golden.c"
passed=0
failed=0

# target NAME "RUNNER" "COMPILER" FLAGS…, with the flags of DETERMINISM for that compiler.
target() {
    local name=$1 runner=$2 compiler=$3 flags
    shift 3
    flags=$(make --no-print-directory -s print-determinism CC="$compiler")
    # shellcheck disable=SC2086
    if ! $compiler "$@" -std=c17 -w -D_GNU_SOURCE -Itests/determinism -I. -Ishared/include $flags $sources \
        -lm -o "$out/$name" 2>"$out/$name.log"; then
        echo "matrix: $name: does not build: $(head -n 1 "$out/$name.log")" >&2
        failed=$((failed + 1))
        return
    fi
    rm -rf "$out/images-$name"
    mkdir -p "$out/images-$name"
    # shellcheck disable=SC2086
    if ! $runner "$out/$name" 0 write "$out/images-$name" >"$out/$name.txt" 2>"$out/$name.log"; then
        echo "matrix: $name: does not run: $(head -n 1 "$out/$name.log")" >&2
        failed=$((failed + 1))
    elif ! diff -q tests/golden/queries.txt "$out/images-$name/queries.txt" >/dev/null; then
        echo "matrix: $name: queries find something else:" >&2
        diff tests/golden/queries.txt "$out/images-$name/queries.txt" | head -n 4 >&2
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
target i686 '' i686-linux-gnu-gcc -O2 -static
target aarch64 qemu-aarch64 aarch64-linux-gnu-gcc -O2 -static
target armhf qemu-arm arm-linux-gnueabihf-gcc -O2 -static
target riscv64 qemu-riscv64 riscv64-linux-gnu-gcc -O2 -static
target s390x qemu-s390x s390x-linux-gnu-gcc -O2 -static
# Its linker gives 64 KiB of stack above the data, which a deeper step overwrites: what limits.h says,
# and below the data, where nothing is written unseen.
stack=$(sed -n 's/^#define CAROM_STACK_MAX \([0-9]*\)u$/\1/p' shared/include/carom/limits.h)
for simd in '' -msimd128; do
    # shellcheck disable=SC2086
    target wasm32$simd.wasm 'node --no-warnings tests/determinism/wasi.mjs' 'clang --target=wasm32-wasi' -O2 $simd \
        "-Wl,-z,stack-size=$stack" -Wl,--stack-first
done

# same NAME COMMAND…: prints what the golden worlds print, or the end of it.
same() {
    local name=$1 wanted=$2
    shift 2
    if "$@" 2>"$out/again.log" | diff -q "$wanted" - >/dev/null; then
        echo "matrix: $name: same hashes"
        passed=$((passed + 1))
    else
        echo "matrix: $name: other hashes: $(head -n 1 "$out/again.log")" >&2
        failed=$((failed + 1))
    fi
}

# Widths of the solver. What a processor does not have, it computes by the next narrower one: that
# would show nothing, and is a failure as a missing target is.
widest=$("$out/x86_64-gcc-O2" lanes)
for lanes in 1 4 8 16; do
    if [ "$lanes" -gt "$widest" ]; then
        echo "matrix: x86_64, $lanes lanes: this processor has $widest (no AVX2 or AVX-512): not shown" >&2
        failed=$((failed + 1))
        continue
    fi
    same "x86_64, $lanes lanes" tests/golden/worlds.txt "$out/x86_64-gcc-O2" $lanes
done
# A world encoded on one machine goes on on another, of either byte order.
awk '$2 > 120' tests/golden/worlds.txt >"$out/second-half.txt"
same 's390x from an image of x86_64' "$out/second-half.txt" \
    qemu-s390x "$out/s390x" 0 read "$out/images-x86_64-gcc-O2"
same 'x86_64 from an image of s390x' "$out/second-half.txt" "$out/x86_64-gcc-O2" 0 read "$out/images-s390x"
same 'i686 from an image of aarch64' "$out/second-half.txt" "$out/i686" 0 read "$out/images-aarch64"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
