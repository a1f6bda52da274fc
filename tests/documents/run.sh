#!/usr/bin/env bash
# Goal: what the documents say is so. Method: each has a program that reads it: pictures are drawn anew and compared,
# tables held against the sources, commands run as they stand there.
#
#   run.sh BUILD_DIR
set -u
out=${1:-build/release}
if [ "$out" != build/release ]; then
    echo "SKIPPED: documents name the commands of build/release, this is $out"
    exit 77
fi
passed=0
failed=0

holds() { # NAME COMMAND…
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "documents: FAILED: $name"
    fi
}

# The packages of the image are those of the libraries that are linked, where dpkg knows both.
holds_packages() {
    local library package missing=0
    command -v dpkg >/dev/null 2>&1 || { echo 'documents: dpkg is not here: the packages of the image are not compared'; return 0; }
    for library in $(objdump -p "$out/carom" | sed -n 's/^ *NEEDED *//p'); do
        package=$(dpkg -S "*/$library" 2>/dev/null | sed 's/:.*//' | head -1)
        case $package in '' | libc6* | libgcc*) continue ;; esac
        sed '1,/^FROM debian:12-slim$/d' deploy/Containerfile | grep -qw -- "$package" || { echo "documents: Containerfile has no $package"; missing=1; }
    done
    return "$missing"
}

holds SCENE.md python3 tests/documents/scene.py "$out/carom"
holds SOURCES.md python3 tests/documents/sources.py "$out/carom"
holds README.md python3 tests/documents/readme.py "$out"
holds OPERATE.md python3 tests/documents/operate.py "$out/carom"
holds server/README.md python3 tests/documents/server.py
holds Containerfile holds_packages

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
