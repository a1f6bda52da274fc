# shellcheck shell=bash disable=SC2154
# What the tests of a server that dies, or whose disk fills, share. Sourced: $server is its process,
# $log what it prints.

# Waits until a command is true, at most ten minutes of machine time, so that a machine that is busy besides fails nothing.
wait_until() {
    for _ in $(seq 12000); do
        if "$@"; then
            return 0
        fi
        kill -0 "$server" 2>/dev/null || return 1
        sleep 0.05
    done
    return 1
}
is_listening() { grep -qs '^listening on ' "$log"; }
