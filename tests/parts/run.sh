#!/usr/bin/env bash
# Goal: a build without the parts works, and names the part where it is asked for one. Method: BARE is
# the same program linked without their libraries; CAROM has all that were found.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
    echo "parts: $1" >&2
    exit 1
}

# COMMAND …: ends with status 2 and a message that holds all of $expected.
refused() {
    local status=0
    "$@" >"$dir/out" 2>"$dir/err" || status=$?
    [ "$status" -eq 2 ] || fail "status $status, expected 2: $* ($(cat "$dir/err"))"
    for text in "${expected[@]}"; do
        grep -qF -- "$text" "$dir/err" || fail "'$text' is not in: $(cat "$dir/err")"
    done
}

"$BARE" version >"$dir/bare"
grep -qx 'parts none' "$dir/bare" || fail "version of a build without parts: $(cat "$dir/bare")"
for part in http:libmicrohttpd-dev xz:liblzma-dev; do
    grep -q "^left out .*${part%:*} (${part#*:}: " "$dir/bare" || fail "$part is not left out: $(cat "$dir/bare")"
    "$CAROM" version | grep -Eq "^(parts|left out) .*\\b${part%:*}\\b" || fail "version does not know $part"
done
! ldd "$BARE" | grep -E 'microhttpd|lzma|gnutls' || fail "a library that was left out is linked"

serve=("$BARE" serve --insecure --listen 127.0.0.1:0 --scene tests/scenes/hello.json --matches "$dir/matches")
expected=("carom: serve: http: " "part 'http'" "libmicrohttpd-dev" "WITH=http")
for workers in 0 1; do
    refused "${serve[@]}" --workers $workers --http 127.0.0.1:0
done
refused "${serve[@]}" --http 127.0.0.1:0 --check-config
"${serve[@]}" --check-config >/dev/null || fail "without --http it is not good"

printf '\xfd7zXZ\0' >"$dir/cubes.xz"
expected=("part 'xz'" "liblzma-dev" "WITH=xz")
refused "$BARE" bench codec "$dir/cubes.xz"
echo "parts: a build without http and xz names them"
