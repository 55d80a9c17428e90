#!/usr/bin/env bash
# IP in IP byte for byte, with scapy at the other end: what a's packets look like outside (protocol, class, TTL, DF),
# what comes in, what does not, and that all of it can be changed while the router runs.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import scapy' 2>/dev/null || skip "python3-scapy is missing"
hosts
{
    two_ports af_packet | sed 's/"10.0.1.1\/24"/&, "2001:db8:1::1\/64"/; s/"10.0.2.1\/24"/&, "2001:db8:2::1\/64"/'
    cat <<'TOML'
[port.link]
kind = "ipip"
local = "10.0.2.1"
remote = "10.0.2.2"
addresses = ["10.9.0.1/30", "2001:db8:9::1/64"]
[[route]]
prefix = "10.50.0.0/16"
via = "10.9.0.2"
[[route]]
prefix = "2001:db8:50::/48"
port = "link"
TOML
} >"$work/router.toml"
ip -n "$a" addr add 2001:db8:1::2/64 dev eth0 nodad
ip -n "$a" -6 route add default via 2001:db8:1::1
ip -n "$b" addr add 2001:db8:2::2/64 dev eth0 nodad
router router
until_true pings "$a" 10.0.1.1
until_true pings "$b" 10.0.2.1
until_true pings "$b" 2001:db8:2::1
cat >"$work/far.py" <<'PY'
import sys
from scapy.all import ICMP, IP, Ether, ICMPv6EchoReply, ICMPv6EchoRequest, IPv6, Raw, conf, getmacbyip, sendp, sniff
conf.verb = 0
router, tos, ttl = getmacbyip("10.0.2.1"), int(sys.argv[2]), int(sys.argv[3])
if sys.argv[1] == "4":
    outer = lambda number: Ether(dst=router) / IP(src="10.0.2.2", dst="10.0.2.1", proto=number)
    number = lambda it: IP in it and it[IP].src == "10.0.2.1" and it[IP].proto
    marks = lambda it: (it[IP].tos, it[IP].ttl, int(it[IP].flags))
    wanted = (tos, ttl, 2)
else:
    outer = lambda number: Ether(dst=router) / IPv6(src="2001:db8:2::2", dst="2001:db8:2::1", nh=number)
    number = lambda it: IPv6 in it and it[IPv6].src == "2001:db8:2::1" and it[IPv6].nh
    marks = lambda it: (it[IPv6].tc, it[IPv6].hlim, 2)
    wanted = (tos, ttl, 2)

def ask(packet, nh):
    for _ in range(10):
        seen = sniff(iface="eth0", count=1, timeout=2, lfilter=lambda it: it[Ether].src == router and number(it) == nh, started_callback=lambda: sendp(packet, iface="eth0"))
        if seen:
            return seen[0]
    sys.exit("no answer to " + packet.summary())

for to in "10.9.0.1", "10.0.1.2":
    inside = IP(src="10.50.0.9", dst=to, tos=0xb9) / ICMP(id=7) / (b"x" * 1400)
    answer = ask(outer(4) / inside, 4)
    within = IP(bytes(answer[Ether].payload.payload))
    assert (within.src, within.dst, within[ICMP].type, within.tos) == (to, "10.50.0.9", 0, 0xb9), answer.summary()
    assert marks(answer) == wanted, marks(answer)
    assert bytes(within) == bytes(IP(bytes(within))) and len(within) == 1428
for to in "2001:db8:9::1", "2001:db8:1::2":
    inside = IPv6(src="2001:db8:50::9", dst=to, tc=0xb9) / ICMPv6EchoRequest(id=7)
    answer = ask(outer(41) / inside, 41)
    within = IPv6(bytes(answer[Ether].payload.payload))
    assert (within.src, within.dst, within.tc) == (to, "2001:db8:50::9", 0xb9), answer.summary()
    assert ICMPv6EchoReply in within
    assert marks(answer) == wanted, marks(answer)
# What the outer header says otherwise than the inner one, and what is cut short.
sendp(outer(41) / IP(src="10.50.0.9", dst="10.9.0.1") / ICMP(), iface="eth0")
sendp(outer(4) / IPv6(src="2001:db8:50::9", dst="2001:db8:9::1"), iface="eth0")
sendp(Ether(dst=router) / (IP(src="10.0.2.77", dst="10.0.2.1", proto=4)) / IP(src="10.50.0.9", dst="10.9.0.1") / ICMP(), iface="eth0")
PY
far() { on "$b" timeout 50 /usr/bin/python3 "$work/far.py" "$@" || { ctl router show errors; ctl router show ports; exit 1; }; }
of() { json ".[] | select(.node == \"tunnel-decap\" and .reason == \"$1\") | .packets" router show errors; }
dropped() { [ "$(of wrong-version)" = "$1" ] && [ "$(of unknown-tunnel)" = "$2" ]; }
# The class inside is 0xb9: outside likewise, until the tunnel has one of its own.
far 4 185 64
until_true dropped 2 1 || { ctl router show errors --json; exit 1; }
sed -i 's/^kind = "ipip"/&\ndscp = "af11"\nttl = 9/' "$work/router.toml"
ctl router config apply "$work/router.toml" >/dev/null
far 4 41 9
until_true dropped 4 2
# Over IPv6, by command; what is too long for it a hears, as from any link.
ctl router ipip del link >/dev/null 2>&1 && { echo "a port that a route names was removed"; exit 1; }
sed -i 's/^local = .*/local = "2001:db8:2::1"/; s/^remote = .*/remote = "2001:db8:2::2"/' "$work/router.toml"
ctl router config apply "$work/router.toml" >/dev/null
far 6 41 9
on "$a" ping -c 1 -W 2 -M do -s 1440 10.50.0.1 >"$work/ping.txt" 2>&1 || true
has 'mtu = 1460' "$work/ping.txt" || { cat "$work/ping.txt"; ctl router show errors; exit 1; }
on "$a" ping -c 1 -W 2 -M do -s 1440 2001:db8:50::1 >"$work/ping.txt" 2>&1 || true
has 'mtu=1460' "$work/ping.txt" || { cat "$work/ping.txt"; ctl router show errors; exit 1; }
echo "ok $name"
