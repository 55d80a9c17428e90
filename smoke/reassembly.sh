#!/usr/bin/env bash
# Packets to ourselves that come in pieces, without a twin: Linux pings us with all sizes, in both families, in order and
# out of it, and hears of what stays in pieces.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
two_ports af_packet | sed 's,10.0.1.1/24",&\, "2001:db8:1::1/64",' >"$work/router.toml"
ip -n "$a" addr add 2001:db8:1::2/64 dev eth0 nodad
router router
# What the router holds of, counts as, this.
count() { json ".$1" router show reassembly; }
is() { [ "$(count "$1")" "$2" "$3" ]; }
answers() { on "$a" ping -c 1 -W 5 -s "$1" "$2" | has '1 received'; }
until_true answers 8 10.0.1.1
until_true answers 8 2001:db8:1::1

# At the edges of one and two pieces, of ours (1280) and theirs (1500), and the longest there are.
for size in 0 1 1231 1232 1233 1452 1453 1472 1473 1480 1481 2000 2952 2953 4096 8192 9000 16384 30000 50000 65000 65499 65507; do
    answers $size 10.0.1.1 || fail "no answer to $size octets"
    answers $size 2001:db8:1::1 || fail "no answer to $size octets over IPv6"
done
is whole -ge 32 || fail "who answered?"
is answered -ge 32 || fail "who answered what is too long?"
for what in datagrams bytes duplicates overlapping too_long too_many_pieces evicted undeliverable; do
    is $what -eq 0 || fail "$what: $(count $what)"
done

# Pieces overtake each other.
if on "$a" tc qdisc add dev eth0 root netem delay 5ms reorder 60% 2>/dev/null; then
    for size in 3000 9000 30000 65507; do
        answers $size 10.0.1.1 || fail "no answer to $size octets out of order"
        answers $size 2001:db8:1::1 || fail "no answer to $size octets out of order over IPv6"
    done
    on "$a" tc qdisc del dev eth0 root
else
    echo "out of order: SKIPPED, this kernel has no netem"
fi

# A datagram to nobody, whole again, is refused; one without its end is told after its time.
on "$a" tcpdump -lni eth0 icmp >"$work/heard.log" 2>"$work/tcpdump.log" &
daemons+=($!)
until_true grep -q listening "$work/tcpdump.log"
is_refused() {
    on "$a" bash -c "head -c 1490 /dev/zero >/dev/udp/10.0.1.1/9"
    has 'udp port 9 unreachable' <"$work/heard.log"
}
until_true is_refused

# A flood of first pieces: memory stays at its bound, and a ping in pieces gets through meanwhile.
cat >"$work/flood.py" <<'EOF'
import socket, struct, sys
out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
for number in range(20000):
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 1420, number % 65535, 0x2000, 64, 17, 0,
                     socket.inet_aton("10.0.1.2"), socket.inet_aton("10.0.1.1"))
    out.sendto(ip + bytes(1400), ("10.0.1.1", 0))
EOF
on "$a" python3 "$work/flood.py"
is evicted -gt 0 || fail "nothing was evicted"
is datagrams -le 1024 || fail "held: $(count datagrams)"
is bytes -le $((4 << 20)) || fail "held: $(count bytes) octets"
until_true answers 9000 10.0.1.1

# What waits for its other pieces is given up after half a minute, and told to its sender.
is_told() { has 'ip reassembly time exceeded' <"$work/heard.log"; }
told_late() { until_true is_told || until_true is_told; }
told_late || fail "nobody heard of what did not come"
echo "ok $name"
