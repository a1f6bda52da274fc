#!/usr/bin/env bash
# The module of a game's folder for a server of this tree, as the folder's Makefile makes it where Carom is installed.
#   module.sh FOLDER OUT.so CC DETERMINISM
set -euo pipefail
source=$(cat $(ls "$1"/*.c "$1"/*.h | LC_ALL=C sort) | sha256sum | cut -c1-64)
# shellcheck disable=SC2086 # compiler and flags are several words
$3 -std=c17 -O2 -Ishared/include -fPIC -fvisibility=hidden -fno-stack-protector $4 "-DCAROM_MODULE_SOURCE=\"$source\"" \
    "-DCAROM_MODULE_FLAGS=\"$(echo $4)\"" -shared -nostdlib -Wl,-z,now,-z,relro,-z,noexecstack,--hash-style=sysv "$1"/*.c -o "$2"
