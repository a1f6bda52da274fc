#!/usr/bin/env bash
# Goal: every public header stands alone, compiles as C17 and as C++17 without a warning, and needs
# nothing but the freestanding headers of the language (nothing of POSIX). Method: each header alone
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
for header in shared/include/carom/*.h client-sdk/include/carom/*.h; do
    name=carom/$(basename "$header")
    # shellcheck disable=SC2086
    echo "#include \"$name\"" | "$cc" -std=c17 $flags -x c - || { echo "headers: $name is not C17"; failed=1; }
    # shellcheck disable=SC2086
    echo "#include \"$name\"" | "$cxx" -std=c++17 $flags -x c++ - || { echo "headers: $name is not C++17"; failed=1; }
    if grep -nE '^ *# *include' "$header" | grep -vE '"carom/[a-z_]+\.h"|<(stdbool|stddef|stdint)\.h>'; then
        echo "headers: $name includes more than the language has everywhere"
        failed=1
    fi
    count=$((count + 1))
done
[ "$count" -ge 6 ] || { echo "headers: only $count found"; failed=1; }
[ "$failed" -eq 0 ] && echo "headers: $count, each as C17 ($cc) and C++17 ($cxx)"
exit "$failed"
