#!/usr/bin/env bash
# Goal: what `make install` puts down is complete, and README's client example builds against it, in
# C and C++, with the flags that pkg-config gives and with those that README names. Method: an
# installation into a folder of its own; the example is cut out of README.md, its endless loop made
# short, and run where no server answers.
set -u
make=${MAKE:-make}
cc=${CC:-gcc}
cxx=${CXX:-g++}
command -v "$cxx" >/dev/null 2>&1 || cxx=clang++
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
passed=0

check() { # NAME STATUS
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "install: FAILED: $1"
    fi
}

$make -s --no-print-directory install DESTDIR="$dir" PREFIX=/opt/carom >"$dir/log.txt" 2>&1
check "make install: $(tail -3 "$dir/log.txt")" $?
root=$dir/opt/carom
for file in bin/carom lib/libcarom_client.a lib/pkgconfig/carom-client.pc include/carom/client.h \
    share/carom/carom.json share/carom/carom.service share/carom/sandbox.json; do
    [ -s "$root/$file" ]
    check "$file is installed" $?
done
(cd / && "$root/bin/carom" serve --config "$root/share/carom/carom.json" --check-config &&
    "$root/bin/carom" scene validate "$root/share/carom/sandbox.json") >"$dir/log.txt" 2>&1
check "the installed configuration and scene are good: $(cat "$dir/log.txt")" $?

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
check "pkg-config: $flags" $?
# shellcheck disable=SC2086
"$cc" -std=c17 $warn "$dir/five.c" $flags -o "$dir/five_c" && "$dir/five_c"
check "README's example in C, by pkg-config" $?
# shellcheck disable=SC2086
"$cxx" -std=c++17 $warn "$dir/five.cc" $flags -o "$dir/five_cc" && "$dir/five_cc"
check "README's example in C++, by pkg-config" $?
libs=$(sed -n 's/^Link with `build.release.libcarom_client.a \([^`]*\)`.*/\1/p' README.md)
[ -n "$libs" ]
check "README names the libraries" $?
# shellcheck disable=SC2086
"$cc" -std=c17 $warn "-I$root/include" "$dir/five.c" "$root/lib/libcarom_client.a" $libs -o "$dir/five_r" &&
    "$dir/five_r"
check "README's example with README's libraries" $?

echo "install: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
