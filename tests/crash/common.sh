# What the tests of a server that dies, or whose disk fills, share. Sourced: $server is its process,
# $log what it prints.

# Waits until a command is true, at most 60 s of machine time, then gives up.
wait_until() {
    for _ in $(seq 1200); do
        if "$@"; then
            return 0
        fi
        kill -0 "$server" 2>/dev/null || return 1
        sleep 0.05
    done
    return 1
}
is_listening() { grep -qs '^listening on ' "$log"; }
