#!/usr/bin/env bash
# What a tunnel's outer header says, with the kernel's vxlan device at UDP port 8472 as the other end: service,
# congestion and TTL of what is inside go out, and congestion that was met outside comes in (RFC 6040), or is a counted
# drop. Host a behind a bridge of ours, host b behind its own device; scapy sends what no kernel would.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import scapy' 2>/dev/null || skip "python3-scapy is missing"
ip netns add vly-$$-probe
ip -n vly-$$-probe link add vx type vxlan id 5 dstport 8472 remote 192.0.2.1 2>/dev/null || skip "no vxlan device in this kernel"
hosts
{
    two_ports af_packet | grep -v '10.0.1.1'
    cat <<'TOML'
[port.vx0]
kind = "vxlan"
vni = 42
udp_port = 8472
local = "10.0.2.1"
remote = "10.0.2.2"
mtu = 1400
[bridge.lan]
ports = ["p1", "vx0"]
TOML
} >"$work/router.toml"
ip -n "$b" link add vx0 type vxlan id 42 dstport 8472 local 10.0.2.2 remote 10.0.2.1
ip -n "$b" addr add 10.0.9.2/24 dev vx0
ip -n "$b" link set vx0 mtu 1400 up
on "$b" ethtool -K vx0 tx off gso off tso off gro off >/dev/null
ip -n "$a" addr add 10.0.9.1/24 dev eth0
router router
until_true pings "$a" 10.0.9.2
until_true pings "$b" 10.0.9.1

# What the outer header of a's packets says, as TOS TTL: of the first ping that b's device brings.
cat >"$work/outer.py" <<'PY'
import struct, sys
from scapy.all import IP, sniff
def ours(it):
    return IP in it and it[IP].src == "10.0.2.1" and it[IP].proto == 17 and struct.unpack("!H", bytes(it[IP])[22:24])[0] == 8472 and bytes(it[IP])[36 + 12:36 + 14] == b"\x08\x00" and bytes(it[IP])[36 + 14 + 9] == 1
seen = sniff(iface="eth0", count=1, timeout=10, lfilter=ours, started_callback=lambda: open(sys.argv[1], "w").close())
print("%#x" % seen[0][IP].tos, seen[0][IP].ttl)
PY
# outer_of PING_ARGUMENT...: prints it.
outer_of() {
    rm -f "$work/listens"
    on "$b" timeout 30 /usr/bin/python3 "$work/outer.py" "$work/listens" >"$work/outer" &
    local listener=$!
    until_true test -e "$work/listens"
    on "$a" ping -q -c 3 -i 0.1 -W 2 "$@" 10.0.9.2 >/dev/null
    wait $listener
    cat "$work/outer"
}
is() { [ "$2" = "$3" ] || { echo "$1: $2, not $3"; ctl router show errors; exit 1; }; }
for tos in 0 1 2 3; do
    is "outside a packet of tos $tos" "$(outer_of -Q $((0xb8 | tos)) -t 9)" "0x$(printf %x $((0xb8 | tos))) 64"
done
# The kernel's device takes them out, as the pings show. Another class for all, and the TTL of what is inside.
sed -i 's/^udp_port.*/&\ndscp = "af11"\nttl = "inherit"/' "$work/router.toml"
ctl router config apply "$work/router.toml" >/dev/null
is "outside with a class of its own" "$(outer_of -Q 0xb9 -t 9)" "0x29 9"

# All sixteen combinations come in; a writes down what it sees: number of the combination, and tos.
cat >"$work/inner.py" <<'PY'
import sys
from scapy.all import ICMP, IP, sniff
seen = set()
def take(it):
    if ICMP in it and it[ICMP].type == 8 and it[ICMP].id == 4242:
        seen.add((it[ICMP].seq, it[IP].tos))
sniff(iface="eth0", timeout=20, prn=take, store=0, stop_filter=lambda _: len(seen) == 15,
      started_callback=lambda: open(sys.argv[1], "w").close())
for one in sorted(seen):
    print(*one)
PY
cat >"$work/combinations.py" <<'PY'
import sys
from scapy.all import ICMP, IP, UDP, Ether, Raw, conf, getmacbyip, sendp
conf.verb = 0
link = Ether(dst=getmacbyip("10.0.2.1"))
for inside in range(4):
    for outside in range(4):
        packet = IP(src="10.0.9.2", dst="10.0.9.1", tos=0x48 | inside) / ICMP(id=4242, seq=4 * inside + outside)
        frame = bytes(Ether(src="06:00:00:00:00:77", dst=sys.argv[1]) / packet)
        vxlan = bytes([8, 0, 0, 0, 0, 0, 42, 0])
        sendp(link / IP(src="10.0.2.2", dst="10.0.2.1", tos=0xb8 | outside) / UDP(sport=50000, dport=8472, chksum=0) / Raw(vxlan + frame), iface="eth0")
PY
rm -f "$work/listens"
on "$a" timeout 40 /usr/bin/python3 "$work/inner.py" "$work/listens" >"$work/inner" &
listener=$!
until_true test -e "$work/listens"
on "$b" timeout 40 /usr/bin/python3 "$work/combinations.py" "$(on "$a" cat /sys/class/net/eth0/address)"
wait $listener
# Inside not-ECT, ECT(1), ECT(0), CE, each in the same four; 0x48 is the class inside, which stays.
cat >"$work/wanted" <<'TABLE'
0 72
1 72
2 72
4 73
5 73
6 73
7 75
8 74
9 73
10 74
11 75
12 75
13 75
14 75
15 75
TABLE
diff "$work/wanted" "$work/inner" || { ctl router show errors; exit 1; }
ctl router show errors | has 'congested' || { ctl router show errors; exit 1; }
echo "ok $name"
