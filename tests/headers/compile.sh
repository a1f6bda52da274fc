#!/usr/bin/env bash
# Goal: every public header stands alone, compiles as C17, C++17 and C++20 without a warning, fixes
# the width of its enums, and needs nothing but the freestanding headers of the language (nothing of POSIX). Method: each header alone
# in a file of its own, both languages; includes compared with a list.
set -u
cc=${CC:-gcc}
command -v "$cc" >/dev/null 2>&1 || cc=clang
cxx=${CXX:-g++}
command -v "$cxx" >/dev/null 2>&1 || cxx=clang++
for tool in "$cc" "$cxx"; do
    command -v "$tool" >/dev/null 2>&1 || { echo "headers: no $tool, expected a compiler"; exit 1; }
done
flags="-Wall -Wextra -Werror -Wpedantic -fsyntax-only -Ishared/include -Iclient-sdk/include"
count=0
failed=0
enums=0
for header in shared/include/carom/*.h client-sdk/include/carom/*.h; do
    name=carom/$(basename "$header")
    # shellcheck disable=SC2086
    echo "#include \"$name\"" | "$cc" -std=c17 $flags -x c - || { echo "headers: $name is not C17"; failed=1; }
    # shellcheck disable=SC2086
    echo "#include \"$name\"" | "$cxx" -std=c++17 $flags -x c++ - || { echo "headers: $name is not C++17"; failed=1; }
    # shellcheck disable=SC2086
    echo "#include \"$name\"" | "$cxx" -std=c++20 $flags -x c++ - || { echo "headers: $name is not C++20"; failed=1; }
    found=$(grep -c '^typedef enum' "$header")
    [ "$found" -eq "$(grep -c '^CAROM_ENUM_32' "$header")" ] ||
        { echo "headers: $name has $found enums, expected a CAROM_ENUM_32 behind each"; failed=1; }
    enums=$((enums + found))
    if grep -nE '^ *# *include' "$header" | grep -vE '"carom/[a-z_]+\.h"|<(stdbool|stddef|stdint)\.h>'; then
        echo "headers: $name includes more than the language has everywhere"
        failed=1
    fi
    count=$((count + 1))
done
# The widths are really checked.
# shellcheck disable=SC2086
if echo '#include "carom/client.h"' | "$cc" -std=c17 $flags -fshort-enums -x c - 2>/dev/null; then
    echo "headers: short enums compile, expected an error"
    failed=1
fi
[ "$enums" -ge 20 ] || { echo "headers: only $enums enums found"; failed=1; }
[ "$count" -ge 6 ] || { echo "headers: only $count found"; failed=1; }
[ "$failed" -eq 0 ] && echo "headers: $count, each as C17 ($cc), C++17 and C++20 ($cxx); $enums enums of 32 bits"
exit "$failed"
