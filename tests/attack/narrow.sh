#!/usr/bin/env bash
# Goal: four players join and play where the path carries 600 bytes, on the real binary and a real
# network. Method: a network namespace of its own, whose loopback has an MTU of 600 and puts no
# fragments together again (shown first by datagrams of 572 and 573 bytes): what is larger is lost.
# Where this machine allows no namespace, it says so and passes.
#
#   narrow.sh BUILD_DIR
set -u
out=${1:-build/release}
if [ "${2:-}" != inside ]; then
    if ! unshare -rn true 2>/dev/null; then
        echo "narrow: skipped: this machine allows no network namespaces (unshare -rn)"
        exit 0
    fi
    exec unshare -rn "$0" "$out" inside
fi

python3 - <<'EOS'
import fcntl, socket, struct, sys

SIOCSIFFLAGS, SIOCSIFMTU, UP_RUNNING = 0x8914, 0x8922, 0x41
control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(control, SIOCSIFMTU, struct.pack("16si12x", b"lo", 600))
fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", UP_RUNNING))
try:
    for name, value in (("low", "0"), ("high", "1")):  # bytes for fragments that wait
        with open(f"/proc/sys/net/ipv4/ipfrag_{name}_thresh", "w") as file:
            file.write(value)
except OSError as error:
    print(f"narrow: skipped: fragments cannot be refused here: {error}")
    sys.exit(3)
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to.bind(("127.0.0.1", 0))
to.settimeout(0.2)
arrived = []
for size in 573, 572:
    control.sendto(bytes(size), to.getsockname())
    try:
        arrived.append(len(to.recv(2000)))
    except socket.timeout:
        pass
if arrived != [572]:
    print(f"narrow: FAILED: expected 572 bytes to arrive and 573 not, got {arrived}")
    sys.exit(1)
EOS
case $? in
0) ;;
3) exit 0 ;;
*) exit 1 ;;
esac

dir=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null; wait 2>/dev/null; rm -rf "$dir"' EXIT
umask 077
"$out/carom" token keygen --out "$dir/keys" || exit 1
"$out/carom" serve --key "$dir/keys" --scene tests/scenes/sandbox.json --listen 127.0.0.1:0 \
    --ready-file "$dir/ready" --db "$dir/carom.db" --matches "$dir/matches" --status full \
    >"$dir/status" 2>"$dir/log" &
server=$!
for ((i = 0; i < 6000; i++)); do
    [ -s "$dir/ready" ] && break
    sleep 0.1
done
"$out/carom" bots --connect "$(head -1 "$dir/ready")" --key "$dir/keys" --count 4 --seconds 8 \
    >"$dir/bots.json" 2>"$dir/bots.log"
echo "narrow: $(cat "$dir/bots.json")"
for wanted in '"connected":4' '"ended":0' '"desyncs":0'; do
    if ! grep -q "$wanted" "$dir/bots.json"; then
        echo "narrow: FAILED: expected $wanted"
        cat "$dir/bots.log" "$dir/log"
        exit 1
    fi
done
views=$(grep -o '"views":[0-9]*' "$dir/bots.json" | cut -d: -f2)
if [ "${views:-0}" -lt 40 ]; then
    echo "narrow: FAILED: expected at least 40 views, got ${views:-none}"
    exit 1
fi
echo "narrow: 4 of 4 joined and played over a path of 600 bytes"
