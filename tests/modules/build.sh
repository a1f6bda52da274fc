#!/usr/bin/env bash
# build.sh SOURCE.c OUT.so: a module as the Makefile of `carom module new` builds it, but against the
# headers of this tree. A line "// flags: …" of the source adds flags, quoted as for a shell.
set -eu
source=$1 out=$2
flags=${DETERMINISM:-$(make -s --no-print-directory print-determinism)}
eval "own=($(sed -n 's,^// flags: ,,p' "$source" | head -1))"
hash=$(sha256sum <"$source" | cut -c1-64)
# shellcheck disable=SC2086,SC2154
${CC:-gcc} -std=c17 -O2 -Wall -Wextra -fPIC -fvisibility=hidden -fno-stack-protector -nostdlib -shared \
    -Ishared/include $flags "-DCAROM_MODULE_SOURCE=\"$hash\"" "-DCAROM_MODULE_FLAGS=\"$flags\"" \
    -Wl,-z,now,-z,relro,-z,noexecstack,--hash-style=sysv "$source" "${own[@]}" -o "$out"
