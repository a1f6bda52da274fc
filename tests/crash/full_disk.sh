#!/usr/bin/env bash
# full_disk.sh: a disk that fills up costs the record, not the match.
#
# Goal: the real server records on a disk of SIZE KiB (a tmpfs) until it is full. The match goes on
# for its two clients; that it is not durable any more, and from which tick on, is said within a tick
# in the log, in the status and to the clients; and the file opens, on that full disk, to a prefix
# that verifies and reaches what was said to be recorded.
# Method: the log says at which tick it noticed; status lines come every 100 ms and at once when
# something failed. Skipped, with a word, where this user may not mount a tmpfs.
set -u
size=${1:-700}
carom=${CAROM:-build/release/carom}
scene=${SCENE:-tests/scenes/sandbox.json}
folder=$(mktemp -d /tmp/carom_full_XXXXXX)
disk=$folder/disk
mkdir "$disk"
if ! mount -t tmpfs -o "size=${size}k" tmpfs "$disk" 2>/dev/null; then
    echo "full_disk: skipped: this user may not mount a tmpfs"
    rm -rf "$folder"
    exit 0
fi

server=
bots=
cleanup() {
    [ -n "$server" ] && kill -9 "$server" 2>/dev/null
    [ -n "$bots" ] && kill -9 "$bots" 2>/dev/null
    wait 2>/dev/null
    umount "$disk"
    [ "$failed" -eq 0 ] && rm -rf "$folder"
}
trap cleanup EXIT

failed=0
fail() {
    echo "full_disk: $*; files in $folder"
    failed=$((failed + 1))
}

# A number of the first line in a file that has a text.
number() { # KEY TEXT FILE
    grep -m 1 -- "$2" "$3" 2>/dev/null | grep -o "\"$1\":[0-9]*" | head -1 | cut -d: -f2 | grep . || echo -1
}

. tests/crash/common.sh
has_failed() { grep -qs '"event":"recording failed"' "$log"; }

log=$folder/log
"$carom" serve --insecure --listen 127.0.0.1:0 --matches "$disk/matches" --scene "$scene" \
    --status-interval-ms 100 --keyframe-s 1 >"$log" 2>&1 &
server=$!
wait_until is_listening || fail "the server did not listen: $(tail -1 "$log")"
address=$(sed -n 's/^listening on //p' "$log" | head -1)
"$carom" bots --connect "$address" --count 2 --seconds 12 >"$folder/bots" 2>&1 &
bots=$!
wait_until has_failed || fail "a disk of $size KiB was not full within a minute"
wait "$bots"
well=$?
bots=
kill -INT "$server"
wait "$server"
status=$?
server=

noticed=$(number tick '"event":"recording failed"' "$log")
recorded=$(number recorded_tick '"event":"recording failed"' "$log")
said=$(number tick '"durable":false' "$log")
seen=$(number server_tick '"durability":"lost"' "$folder/bots")
told=$(number durable_tick '"durability":"lost"' "$folder/bots")
[ "$well" -eq 0 ] || fail "clients did not stay: $(cat "$folder/bots")"
[ "$recorded" -gt 60 ] || fail "nothing was recorded before: $recorded"
[ "$said" -ge "$noticed" ] && [ "$said" -le $((noticed + 1)) ] ||
    fail "noticed at tick $noticed, the status says so at tick $said"
[ "$told" -eq "$recorded" ] || fail "recorded up to tick $recorded, clients were told $told"
[ "$seen" -gt $((noticed + 60)) ] || fail "noticed at tick $noticed, clients saw no more than $seen"
[ "$status" -eq 1 ] || fail "the server ended with status $status, expected 1"
grep -q 'not durable: ' "$log" || fail "the last words do not say that it is not durable"

file=$(ls "$disk"/matches/*.match)
verified=$("$carom" replay "$file" --verify 2>&1)
ticks=$(echo "$verified" | sed -n 's/^verified \([0-9]*\) ticks, .*consistent, cut at tick .*no end was recorded$/\1/p')
[ "${ticks:-0}" -ge "$recorded" ] || fail "recorded up to tick $recorded, verified: $verified"
echo "full_disk: $size KiB full at tick $noticed, recorded up to $recorded, verified up to ${ticks:-0}," \
    "played on to $seen, $failed failed"
exit $((failed > 0))
