#!/usr/bin/env bash
# full_disk.sh: a disk that fills up costs the record, not the match.
#
# Goal: the real server records on a disk of SIZE KiB (a tmpfs) until it is full. The match goes on
# for its two clients; that it is not durable any more, and from which tick on, is said in the log, in
# the next line of the status and to the clients; and the file opens, on that full disk, to a prefix
# that verifies and reaches what was said to be recorded.
# Then the same on a disk that has space again after a second: recording goes on in another file, which
# says where it comes from and what is missing, and the clients hear that what they do is durable.
# Then a match on a disk with space is copied while it goes on: onto the full disk, which costs nothing but
# the copy, and beside it, which verifies.
# Method: the log says at which tick it noticed; status lines come every 100 ms and at once when
# something failed. The clients play until they are told to stop. Skipped, with a word, where this user
# may not mount a tmpfs.
set -u
size=${1:-700}
carom=${CAROM:-build/release/carom}
scene=${SCENE:-tests/scenes/sandbox.json}
folder=$(mktemp -d /tmp/carom_full_XXXXXX)
disk=$folder/disk
mkdir "$disk"
if ! mount -t tmpfs -o "size=${size}k" tmpfs "$disk" 2>/dev/null; then
    echo "SKIPPED: full_disk: this user may not mount a tmpfs"
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
have_joined() { [ "$(grep -c '"event":"player joined"' "$log")" -ge 2 ]; }
has_gone_on() { grep -qs '"event":"recording goes on"' "$log"; }
newest() { grep -o "\"$1\":[0-9]*" "$log" | tail -1 | cut -d: -f2 | grep . || echo 0; }
has_come() { [ "$(newest "$1")" -ge "$2" ]; } # KEY TICK
play_on() { # TICKS from now on
    wait_until has_come tick $(($(newest tick) + $1)) || fail "the match does not go on: $(tail -1 "$log")"
}

begin() { # where recordings are, if not on the disk that will be full
    log=$folder/log
    "$carom" serve --insecure --grace-ms 600000 --listen 127.0.0.1:0 --matches "${1:-$disk/matches}" --scene "$scene" \
        --status-interval-ms 100 --keyframe-s 1 >"$log" 2>&1 &
    server=$!
    wait_until is_listening || fail "the server did not listen: $(tail -1 "$log")"
    address=$(sed -n 's/^listening on //p' "$log" | head -1)
    "$carom" bots --connect "$address" --count 2 --seconds 1000000 >"$folder/bots" 2>&1 &
    bots=$!
    wait_until have_joined || fail "the clients did not join: $(tail -1 "$log")"
    [ $# -gt 0 ] || wait_until has_failed || fail "a disk of $size KiB was never full"
}

end() { # the server's status
    kill -INT "$bots"
    wait "$bots"
    well=$?
    bots=
    kill -INT "$server"
    wait "$server"
    status=$?
    server=
    [ "$well" -eq 0 ] || fail "clients did not stay: $(cat "$folder/bots")"
    [ "$status" -eq "${1:-1}" ] || fail "the server ended with status $status, expected ${1:-1}"
}

begin
play_on 180
end
noticed=$(number tick '"event":"recording failed"' "$log")
recorded=$(number recorded_tick '"event":"recording failed"' "$log")
said=$(sed '1,/"event":"recording failed"/d' "$log" | grep -m 1 '"durable":' | grep -c '"durable":false')
seen=$(number server_tick '"durability":"lost"' "$folder/bots")
told=$(number durable_tick '"durability":"lost"' "$folder/bots")
[ "$recorded" -gt 60 ] || fail "nothing was recorded before: $recorded"
[ "$said" -eq 1 ] || fail "noticed at tick $noticed, the next line of the status does not say so"
[ "$told" -eq "$recorded" ] || fail "recorded up to tick $recorded, clients were told $told"
[ "$seen" -gt "$noticed" ] || fail "noticed at tick $noticed, clients saw no more than $seen"
grep -q 'not durable: ' "$log" || fail "the last words do not say that it is not durable"

file=$(ls "$disk"/matches/*.match)
verified=$("$carom" replay "$file" --verify 2>&1)
ticks=$(echo "$verified" | sed -n 's/^verified \([0-9]*\) ticks, .*consistent, cut at tick .*no end was recorded$/\1/p')
[ "${ticks:-0}" -ge "$recorded" ] || fail "recorded up to tick $recorded, verified: $verified"
echo "full_disk: $size KiB full at tick $noticed, recorded up to $recorded, verified up to ${ticks:-0}," \
    "played on to $seen, $failed failed"

rm -rf "$disk/matches"
mount -o "remount,size=$((6 * size))k" "$disk"
head -c $((5 * size * 1024)) /dev/zero >"$disk/ballast"
begin
noticed=$(number tick '"event":"recording failed"' "$log")
recorded=$(number recorded_tick '"event":"recording failed"' "$log")
sleep 1
rm "$disk/ballast"
wait_until has_gone_on || fail "recording does not go on after there is space again"
from=$(number gap_from '"event":"recording goes on"' "$log")
to=$(number gap_to '"event":"recording goes on"' "$log")
play_on 180
end
[ "$from" -eq $((recorded + 1)) ] && [ "$to" -gt "$noticed" ] ||
    fail "recorded up to tick $recorded, noticed at $noticed, the gap is said to be $from to $to"
second=$(grep -l . "$disk"/matches/*.match | while read -r file; do
    "$carom" match info "$file" | grep -q '"goes_on_from"' && echo "$file"
done)
[ -n "$second" ] || fail "no file says that it goes on from another: $(ls "$disk/matches")"
"$carom" match info "$second" | grep -q "\"gap_from\": $from, \"gap_to\": $to" ||
    fail "the file says something else of the gap: $("$carom" match info "$second")"
verified=$("$carom" replay "$second" --verify 2>&1)
echo "$verified" | grep -q "of ticks $from to $to nothing is kept" || fail "the verification says: $verified"
last=$(echo "$verified" | sed -n 's/^verified \([0-9]*\) ticks, .*consistent, complete$/\1/p')
grep -q '"durability":"process"' "$folder/bots" || fail "clients end with: $(cat "$folder/bots")"
echo "full_disk: full at tick $noticed, with space again recorded from $to to ${last:-?} in another file," \
    "$failed failed"

rm -rf "$disk/matches"
head -c $((8 * size * 1024)) /dev/zero >"$disk/ballast" 2>/dev/null # as far as it goes
begin "$folder/matches"
wait_until has_come recorded_tick 200 || fail "nothing is recorded"
file=$(ls "$folder"/matches/*.match)
said=$("$carom" match backup "$file" --out "$disk/copy.match" 2>&1)
[ $? -eq 1 ] && echo "$said" | grep -qi "full\|no space" || fail "a copy onto a full disk: $said"
[ "$(ls "$disk")" = ballast ] || fail "left on the full disk: $(ls "$disk")"
said=$("$carom" match backup "$file" --out "$folder/copy.match" 2>&1) || fail "a copy: $said"
copied=$(echo "$said" | grep -o '"tick":[0-9]*' | cut -d: -f2)
end 0
verified=$("$carom" replay "$folder/copy.match" --verify 2>&1)
echo "$verified" | grep -q "^verified ${copied:-?} ticks, .*consistent, cut at tick $copied: " ||
    fail "copied up to tick ${copied:-?}, the copy: $verified"
echo "full_disk: a live match was copied up to tick $copied, not onto the full disk, $failed failed"
exit $((failed > 0))
