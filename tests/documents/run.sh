#!/usr/bin/env bash
# Goal: what the documents say is so. Method: each has a program that reads it: pictures are drawn anew and compared,
# tables held against the sources, commands run as they stand there.
#
#   run.sh BUILD_DIR
set -u
out=${1:-build/release}
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

holds SCENE.md python3 tests/documents/scene.py "$out/carom"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
