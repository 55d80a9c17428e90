#!/usr/bin/env bash
# GRE of packets: a routed link to host b, where scapy plays the other end (this kernel may have no gre
# device): a reaches networks behind it over IPv4 and IPv6, and the router answers inside.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import scapy' 2>/dev/null || skip "python3-scapy is missing"
hosts
{
    two_ports af_packet | sed 's/"10.0.1.1\/24"/&, "2001:db8:1::1\/64"/; s/"10.0.2.1\/24"/&, "2001:db8:2::1\/64"/'
    cat <<'TOML'
[port.link]
kind = "gre"
key = 7
payload = "packets"
local = "10.0.2.1"
remote = "10.0.2.2"
addresses = ["10.9.0.1/30", "2001:db8:9::1/64"]
[port.frames6]
kind = "gre"
local = "2001:db8:2::1"
remote = "2001:db8:2::2"
[bridge.lan]
ports = ["frames6", "own"]
[port.own]
kind = "bvi"
addresses = ["10.0.77.1/24"]
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
json '.[] | select(.name == "link") | select(.mtu == 1472 and .link_up) | .name' router show ports | has link
cat >"$work/far.py" <<'PY'
import sys
from scapy.all import ARP, GRE, ICMP, IP, Ether, ICMPv6EchoReply, ICMPv6EchoRequest, IPv6, Raw, conf, get_if_hwaddr, getmacbyip, sendp, sniff
conf.verb = 0
router, mac = getmacbyip("10.0.2.1"), "06:00:00:00:00:77"
outer = Ether(dst=router) / IP(src="10.0.2.2", dst="10.0.2.1") / GRE(key_present=1, key=7)
outer6 = Ether(dst=router) / IPv6(src="2001:db8:2::2", dst="2001:db8:2::1", nh=47) / GRE(proto=0x6558)

def ask(packet, wanted):
    for _ in range(10):
        seen = sniff(iface="eth0", count=1, timeout=2, lfilter=lambda it: it[Ether].src == router and wanted(it), started_callback=lambda: sendp(packet, iface="eth0"))
        if seen:
            return seen[0]
    sys.exit("no answer to " + packet.summary())

def inside(it):
    return it[GRE].payload if GRE in it and it[GRE].key == 7 else None

def answers(kind, source, target):
    def wanted(it):
        packet = inside(it)
        return packet is not None and kind in packet and packet.src == source and packet.dst == target
    return wanted

# The router itself, and a behind it: inside GRE there are packets, no frames.
v4 = lambda to: outer / IP(src="10.50.0.9", dst=to) / ICMP(id=7) / (b"x" * 1400)
assert ask(v4("10.9.0.1"), answers(ICMP, "10.9.0.1", "10.50.0.9"))[GRE].proto == 0x0800
echo = ask(v4("10.0.1.2"), answers(ICMP, "10.0.1.2", "10.50.0.9"))
assert inside(echo)[ICMP].type == 0 and inside(echo).ttl == 63 and echo[IP].flags.DF, echo.summary()
v6 = lambda to: outer / IPv6(src="2001:db8:50::9", dst=to) / ICMPv6EchoRequest(id=7)
assert ask(v6("2001:db8:9::1"), answers(ICMPv6EchoReply, "2001:db8:9::1", "2001:db8:50::9"))[GRE].proto == 0x86dd
ask(v6("2001:db8:1::2"), answers(ICMPv6EchoReply, "2001:db8:1::2", "2001:db8:50::9"))
# No way there: the sender hears of it.
long = outer / IP(src="10.50.0.9", dst="172.16.0.1") / ICMP(id=9)
ask(long, answers(ICMP, "10.9.0.1", "10.50.0.9"))
# Frames over IPv6: the router's own station in the bridge answers ARP.
arp = Ether(src=mac, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=mac, psrc="10.0.77.9", pdst="10.0.77.1")
answer = ask(outer6 / arp, lambda it: IPv6 in it and it[IPv6].nh == 47 and b"\x00\x02\x02\x56" in bytes(it[IPv6].payload))
assert answer[IPv6].dst == "2001:db8:2::2"
# Frames where packets are carried are counted.
sendp(Ether(dst=router) / IP(src="10.0.2.2", dst="10.0.2.1") / GRE(proto=0x6558, key_present=1, key=7) / arp, iface="eth0")
PY
on "$b" timeout 50 /usr/bin/python3 "$work/far.py" || { ctl router show errors; ctl router show ports; exit 1; }
counted() { ctl router show errors | has wrong-payload; }
until_true counted
# Too long a packet into the tunnel: a hears what fits, as from any link.
on "$a" ping -c 1 -W 2 -M do -s 1460 10.50.0.1 >"$work/ping.txt" 2>&1 || true
has 'mtu = 1472' "$work/ping.txt" || { cat "$work/ping.txt"; ctl router show errors; exit 1; }
echo "ok $name"
