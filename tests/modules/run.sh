#!/usr/bin/env bash
# Goal: the server takes sound modules and names what is wrong with others, before any of them runs.
# Method: each file of tests/modules/refused breaks one rule on purpose; `carom module check` must end
# with status 2 and a reason that fits its line "// expect: …". Each of tests/modules/caught passes that
# check and breaks a rule when it runs: `carom module test` must end with status 1 and the reason.
# Usage: run.sh OUT
set -u
out=$1
dir=$out/tests/modules
mkdir -p "$dir/refused" "$dir/caught"
failed=0
passed=0
check() { # STATUS NAME: in this order, since a $(…) in the name changes $?
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "modules: FAILED: $2"
    fi
}
DETERMINISM=$(make -s --no-print-directory print-determinism)
export DETERMINISM
for cc in "${CC:-gcc}" clang; do
    command -v "$cc" >/dev/null || continue
    CC=$cc tests/modules/build.sh tests/modules/counter.c "$dir/counter-$cc.so" >"$dir/log.txt" 2>&1 &&
        "$out/carom" module check "$dir/counter-$cc.so" >>"$dir/log.txt" 2>&1
    check $? "counter by $cc: $(tail -3 "$dir/log.txt")"
    "$out/carom" module test "$dir/counter-$cc.so" >"$dir/counter-$cc.txt" 2>&1
    check $? "counter by $cc is sound: $(tail -3 "$dir/counter-$cc.txt")"
done
for source in tests/modules/refused/*.c; do
    name=$(basename "$source" .c)
    expect=$(sed -n 's,^// expect: ,,p' "$source")
    tests/modules/build.sh "$source" "$dir/refused/$name.so" >"$dir/log.txt" 2>&1
    check $? "$name builds: $(tail -3 "$dir/log.txt")"
    said=$("$out/carom" module check "$dir/refused/$name.so" 2>&1)
    status=$?
    [ $status -eq 2 ] && [ -n "$expect" ] && grep -qE -- "$expect" <<<"$said" && grep -q "refused/$name.so: " <<<"$said"
    check $? "$name: status $status, said: $said"
done
sed -i 's/, "tick_us_mean.*//' "$dir"/counter-*.txt # times: nobody's equal
cmp -s "$dir/counter-${CC:-gcc}.txt" "$dir/counter-clang.txt"
check $? "counter does the same whoever compiled it: $(cat "$dir"/counter-*.txt)"
for source in tests/modules/caught/*.c; do
    name=$(basename "$source" .c)
    expect=$(sed -n 's,^// expect: ,,p' "$source")
    tests/modules/build.sh "$source" "$dir/caught/$name.so" >"$dir/log.txt" 2>&1 &&
        "$out/carom" module check "$dir/caught/$name.so" >>"$dir/log.txt" 2>&1
    check $? "$name passes the check: $(tail -3 "$dir/log.txt")"
    said=$("$out/carom" module test "$dir/caught/$name.so" --ticks 200 2>&1)
    status=$?
    [ $status -eq 1 ] && [ -n "$expect" ] && grep -qE -- "$expect" <<<"$said"
    check $? "$name is caught: status $status, said: $said"
done
# A game that nobody here knows is played at random: other chance, other states.
cat >"$dir/counter.json" <<'SCENE'
{"carom": 1, "name": "counter", "module": "counter", "bounds": [[-32, -8, -32], [32, 24, 32]],
 "bodies": [{"type": "static", "shapes": [{"plane": {"normal": [0, 1, 0], "offset": 0}}]}]}
SCENE
for seed in 1 1 2; do
    "$out/carom" capacity --module "$dir/counter-${CC:-gcc}.so" --scene "$dir/counter.json" --players 3 --ticks 120 --seed $seed \
        2>&1 | grep -oE '"hash":"[0-9a-f]+"' || echo "seed $seed: no hash"
done >"$dir/capacity.txt"
[ "$(sort "$dir/capacity.txt" | uniq -c | sort -n | awk '{print $1}' | xargs)" = "1 2" ]
check $? "capacity of another game: $(xargs <"$dir/capacity.txt")"
# Whoever waits for a trial dies: its child goes with it, even one that is stopped.
"$out/carom" module test "$dir/counter-${CC:-gcc}.so" --ticks 10000 >/dev/null 2>&1 &
parent=$!
child=
for ((i = 0; i < 6000; i++)); do
    child=$(cat "/proc/$parent/task/$parent/children" 2>/dev/null)
    child=${child%% *}
    # It has used some processor time, and is past its begin.
    [ -n "$child" ] && [ "$(cut -d' ' -f14 "/proc/$child/stat" 2>/dev/null || echo 0)" -ge 3 ] && break
    sleep 0.01
done
kill -STOP "$child"
kill -9 "$parent"
wait "$parent" 2>/dev/null
lives=0
for ((i = 0; i < 3000; i++)); do
    grep -sqE '^State:[[:space:]]+[^ZX]' "/proc/$child/status"
    lives=$((1 - $?))
    [ $lives -eq 1 ] || break
    sleep 0.01
done
[ -n "$child" ] && [ $lives -eq 0 ] || kill -9 "$child"
[ -n "$child" ] && [ $lives -eq 0 ]
check $? "the child of a trial that was killed: '$child'"
chmod 0777 "$dir/counter-${CC:-gcc}.so"
said=$("$out/carom" module check "$dir/counter-${CC:-gcc}.so" 2>&1)
[ $? -eq 2 ] && grep -q 'can be written by everyone' <<<"$said"
check $? "a file that everyone can write: $said"
chmod 0755 "$dir/counter-${CC:-gcc}.so"
echo "modules: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
