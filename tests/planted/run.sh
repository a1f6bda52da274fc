#!/usr/bin/env bash
# Planted bugs: each patch of this folder goes into a copy of the tree, and the suite that it names
# must go red. run.sh [NAME…]: only these; run.sh --part K/N: each Nth, from the Kth on.
#
# Goal: tests that can fail, in every part of the system. Method: one copy under build/planted,
# built once and then, for each patch, only what it changes. A patch says in its first lines which
# suite sees it, and what it breaks:
#
#   suite: unit FILTER…      the unit tests that match (Criterion's pattern)
#   suite: physics FILTER…   the laws of mechanics, likewise
#   suite: cluster ARGUMENTS the whole system from seeds
#   suite: fuzz ARGUMENTS    random worlds, each side by side with another one
#   suite: tidy | determinism
#   breaks: …
#
# A patch that no longer applies, does not compile, or is not seen is a failure; so is a suite that is
# red without any patch. Patches have one line of context, so that they outlive most edits.
set -u
cd "$(dirname "$0")/../.." || exit 1
patches=tests/planted
tree=build/planted/tree
out=build/release
log=$PWD/build/planted/log.txt
export GIT_CEILING_DIRECTORIES=$PWD/build/planted # the copy is no repository, nor part of one
mkdir -p "$tree"

# Files as they are, with their times, so that what is built already stays so; but what a patch
# touches is built anew: its object may be one of a run that was interrupted.
find "$tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -cf - -T - 2>/dev/null |
    tar -xf - -C "$tree"
sed -n 's/^+++ b\///p' "$patches"/*.patch | sort -u | while read -r file; do
    [ ! -e "$tree/$file" ] || touch "$tree/$file"
done

build() { # TARGET…
    make -C "$tree" --no-print-directory -j"$(nproc)" BUILD=release CFLAGS='-O1 -w' OUT_SUFFIX= "$@" >"$log" 2>&1
}

# Runs a suite in the copy: 0 green, 1 red, 2 does not build.
run_suite() { # SUITE ARGUMENTS
    case $1 in
    unit)
        build "$out/unit" "$out/carom" || return 2
        (cd "$tree" && CAROM_BINARY=$out/carom "$out/unit" --jobs "$(nproc)" --filter "$2") >>"$log" 2>&1 || return 1
        grep -q 'Tested: [1-9]' "$log" || return 2
        ;;
    physics)
        build "$out/physics" || return 2
        (cd "$tree" && "$out/physics" --jobs "$(nproc)" --filter "$2") >>"$log" 2>&1 || return 1
        grep -q 'Tested: [1-9]' "$log" || return 2
        ;;
    cluster)
        build "$out/cluster" || return 2
        # shellcheck disable=SC2086
        (cd "$tree" && "$out/cluster" $2) >>"$log" 2>&1 || return 1
        ;;
    fuzz)
        build "$out/fuzz_worlds" || return 2
        # shellcheck disable=SC2086
        (cd "$tree" && "$out/fuzz_worlds" $2) >>"$log" 2>&1 || return 1
        ;;
    tidy) (cd "$tree" && python3 tests/tidy/tidy.py) >"$log" 2>&1 || return 1 ;;
    determinism) (cd "$tree" && tests/determinism/compare.sh quick) >"$log" 2>&1 || return 1 ;;
    *) echo "unknown suite '$1'" >"$log" && return 2 ;;
    esac
}

header() { sed -n "s/^$2: *//p;/^---/q" "$1" | head -n 1; }

names=()
each=1 first=0
if [ "${1:-}" = --part ]; then
    each=${2#*/} first=$((${2%/*} % each))
elif [ $# -gt 0 ]; then
    names=("$@")
fi
if [ ${#names[@]} -eq 0 ]; then
    all=("$patches"/*.patch)
    for ((i = first; i < ${#all[@]}; i += each)); do
        names+=("$(basename "${all[i]}" .patch)")
    done
    echo "planted: ${#names[@]} of ${#all[@]}"
fi

# Green without a patch, each suite once; of the unit tests all.
declare -A seen=()
for name in "${names[@]}"; do
    suite=$(header "$patches/$name.patch" suite)
    [ "${suite%% *}" != unit ] || suite='unit */*'
    [ -z "${seen[$suite]:-}" ] || continue
    seen[$suite]=1
    if ! run_suite "${suite%% *}" "${suite#* }"; then
        echo "planted: without a patch, '$suite' is red or does not build:"
        tail -n 20 "$log"
        exit 1
    fi
done

red=0
failed=0
for name in "${names[@]}"; do
    patch=$patches/$name.patch
    suite=$(header "$patch" suite)
    files=$(sed -n 's/^+++ b\///p' "$patch")
    if ! git -C "$tree" apply -C1 "$PWD/$patch" >"$log" 2>&1; then
        echo "planted: $name: no longer applies: $(head -n 1 "$log")"
        failed=$((failed + 1))
        continue
    fi
    for file in $files; do touch "$tree/$file"; done
    run_suite "${suite%% *}" "${suite#* }"
    case $? in
    0)
        echo "planted: $name: NOT SEEN by '$suite': $(header "$patch" breaks)"
        failed=$((failed + 1))
        ;;
    1)
        echo "planted: $name: red, as it must"
        red=$((red + 1))
        ;;
    *)
        echo "planted: $name: does not build: $(grep -m 1 -E 'error|No such' "$log")"
        failed=$((failed + 1))
        ;;
    esac
    for file in $files; do cp "$file" "$tree/$file"; done # newer than its object: built again
done
echo "planted: $red passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$red" -gt 0 ]
