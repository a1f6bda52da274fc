#!/usr/bin/env bash
# Instructions that the simulation takes for a short run of each main scene, against those recorded
# in instructions.txt. instructions.sh CAROM; UPDATE=1 writes the file anew.
#
# valgrind counts only inside carom_world_step, or the queries, so that reading the scene, the C library and
# the quality pass do not blur it; the count repeats to the instruction. A rise of more than 3% fails;
# a commit that means it records the new counts and says why. A fall of more than 3% is told, so that
# it is recorded too and cannot be lost again unseen. Counts belong to a compiler: the file names it.
set -euo pipefail
cd "$(dirname "$0")/../.."
carom=${1:-build/release/carom}
file=tests/bench/instructions.txt
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$carom" "$folder/carom" # a build meanwhile must not change what is counted
carom=$folder/carom
# scene and steps: enough for the pile to have landed; and for steps with one awake to count beside
# those in which the others fall asleep
runs=("A_pyramid20 60" "B0_towers1000 60" "B_pile1000 120" "C_mixed1000 120" "D_chains100x20 60"
    "F_pyramid60 20" "games/sleepers 3000" "games/coins 30" "games/hulls_in_a_pit 59"
    "games/bridge 60" "games/load_hinges 60" "games/ragdolls 60"
    "queries 60")
compiler=$(readelf -p .comment "$carom" | sed -n 's/^ *\[ *[0-9a-f]*\] *//p' | sort -u | paste -sd';')

count() { # SCENE STEPS: prints the count, or nothing for a scene that is refused
    local out=$folder/out status=0 scene=${1#games/} inside=(carom_world_step)
    local what=("$scene" --from 0)
    case $1 in
    games/*) what=(games "${what[@]}") ;;
    queries)
        what=(queries --rays 1000)
        inside=(carom_world_cast_rays carom_world_cast_shapes carom_world_closest_each)
        ;;
    esac
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "${inside[@]/#/--toggle-collect=}" \
        "$carom" bench "${what[@]}" --steps "$2" --runs 1 >"$out" 2>&1 || status=$?
    if [ "$status" -eq 0 ]; then
        sed -n 's/^==[0-9]*== Collected : //p' "$out"
    elif [ "$status" -ne 2 ] || ! grep -q "$scene.*not built yet" "$out"; then
        cat "$out" >&2
        return 1
    fi
}

if [ "${UPDATE:-}" = 1 ]; then
    {
        echo "# Instructions inside carom_world_step: scene, steps, count. UPDATE=1 make check-instructions"
        echo "# $compiler"
        for run in "${runs[@]}"; do
            read -r scene steps <<<"$run"
            counted=$(count "$scene" "$steps")
            if [ -n "$counted" ]; then
                echo "$scene $steps $counted"
            fi
        done
    } >"$folder/new"
    cat "$folder/new" >"$file"
    cat "$file"
    exit 0
fi

passed=0
failed=0
for run in "${runs[@]}"; do
    read -r scene steps <<<"$run"
    recorded=$(sed -n "s|^$scene $steps ||p" "$file")
    counted=$(count "$scene" "$steps")
    if [ -z "$counted" ] && [ -z "$recorded" ]; then
        echo "instructions: $scene: not built yet"
        continue
    fi
    if [ -z "$counted" ] || [ -z "$recorded" ]; then
        echo "instructions: $scene: recorded '${recorded}', counted '${counted}'" >&2
        failed=$((failed + 1))
        continue
    fi
    change=$(awk -v a="$recorded" -v b="$counted" 'BEGIN { printf "%+.2f", 100 * (b / a - 1) }')
    echo "instructions: $scene: $steps steps, $counted, recorded $recorded, $change%"
    if awk -v c="$change" 'BEGIN { exit !(c > 3) }'; then
        echo "instructions: $scene: rose by more than 3%" >&2
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
        if awk -v c="$change" 'BEGIN { exit !(c < -3) }'; then
            echo "instructions: $scene: fell by more than 3%: record it (UPDATE=1)"
        fi
    fi
done
if [ "$failed" -ne 0 ] && ! grep -qxF "# $compiler" "$file"; then
    echo "instructions: recorded with '$(sed -n '2s/^# //p' "$file")', this is '$compiler'" >&2
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
