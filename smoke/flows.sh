#!/usr/bin/env bash
# 600 flows over two next hops: of tunnels that pass by what they carry, if that is chosen, of our own tunnels
# always; the fields that tell flows apart change at run time.
#
#   host a ── p1 │ volleyd │ p2 ── 10.0.2.2 ─┬ host b
#                          │ p3 ── 10.0.3.2 ─┘
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; ctl router show ports; ctl router show errors; exit 1; }
/usr/bin/python3 -c 'import scapy' 2>/dev/null || skip "python3-scapy is missing"
hosts
ip -n "$r" link add v3 type veth peer name eth1 netns "$b"
ip -n "$r" link set v3 up
ip -n "$b" addr add 10.0.3.2/24 dev eth1
ip -n "$b" link set eth1 up
on "$b" sysctl -qw net.ipv4.conf.eth0.arp_ignore=1 net.ipv4.conf.eth1.arp_ignore=1
{
    two_ports af_packet
    cat <<'TOML'
[port.p3]
kind = "af_packet"
device = "v3"
addresses = ["10.0.3.1/24"]
[port.gre]
kind = "gre"
payload = "packets"
local = "10.0.2.1"
remote = "192.0.2.9"
[port.vx]
kind = "vxlan"
vni = 42
local = "10.0.2.1"
remote = "192.0.2.9"
addresses = ["10.9.0.1/24"]
[[neighbor]]
address = "10.9.0.2"
port = "vx"
mac = "06:00:00:00:00:99"
[[route]]
prefix = "192.0.2.0/24"
via = ["10.0.2.2", "10.0.3.2"]
[[route]]
prefix = "198.18.0.0/16"
via = { port = "gre" }
[[route]]
prefix = "198.19.0.0/16"
via = "10.9.0.2"
TOML
} >"$work/router.toml"
# 600 packets of each kind, in hexadecimal: made once, since that is what takes time.
cat >"$work/make.py" <<'PY'
import sys
from scapy.all import GRE, IP, UDP, VXLAN, Dot1Q, Ether, Raw, conf, getmacbyip
conf.verb = 0
link, inner = Ether(dst=getmacbyip("10.0.1.1")), lambda port: IP(src="10.7.0.1", dst="10.7.0.2") / UDP(sport=1024 + port, dport=9)
outer = IP(src="10.0.1.2", dst="192.0.2.1")
frame = Ether(src="06:00:00:00:00:01", dst="06:00:00:00:00:02")
gtp = lambda packet: Raw(b"\x30\xff" + len(packet).to_bytes(2, "big") + b"\0\0\0\7") / packet
made = {
    "plain": lambda n: outer / UDP(sport=1024 + n, dport=9),
    "vxlan": lambda n: outer / UDP(sport=50000, dport=4789) / VXLAN(vni=5) / frame / Dot1Q(vlan=7) / inner(n),
    "flannel": lambda n: outer / UDP(sport=50000, dport=8472) / VXLAN(vni=5) / frame / inner(n),
    "gre": lambda n: outer / GRE(key_present=1, key=3) / inner(n),
    "ipip": lambda n: outer / inner(n),
    "gtp": lambda n: outer / UDP(sport=2152, dport=2152) / gtp(inner(n)),
    "pieces": lambda n: IP(src="10.0.1.2", dst="192.0.2.1", flags="MF", id=n) / UDP(sport=1024 + n, dport=9) / Raw(b"x" * 16),
    "our-gre": lambda n: IP(src="10.0.1.2", dst="198.18.0.1") / UDP(sport=1024 + n, dport=9),
    "our-vxlan": lambda n: IP(src="10.0.1.2", dst="198.19.0.1") / UDP(sport=1024 + n, dport=9),
}
for kind, packet in made.items():
    with open(f"{sys.argv[1]}/{kind}.packets", "w") as file:
        file.writelines(bytes(link / packet(n)).hex() + "\n" for n in range(600))
PY
cat >"$work/send.py" <<'PY'
import errno
import socket
import sys
import time
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind(("eth0", 0))
for packet in open(sys.argv[1]):
    while True:
        try:
            wire.send(bytes.fromhex(packet))
            break
        except OSError as full:
            # What is sent faster than a busy machine takes it waits.
            if full.errno != errno.ENOBUFS:
                raise
            time.sleep(0.01)
PY
router router
until_true pings "$a" 10.0.2.2
until_true pings "$a" 10.0.3.2
on "$a" /usr/bin/python3 "$work/make.py" "$work"
sent() { json ".[] | select(.name == \"$1\") | .tx.packets" router show ports; }
# by_first KIND: how many of 600 packets leave by p2, once all have left.
by_first() {
    local p2 p3
    p2=$(sent p2) p3=$(sent p3)
    on "$a" /usr/bin/python3 "$work/send.py" "$work/$1.packets"
    left() { [ $(($(sent p2) + $(sent p3) - p2 - p3)) -ge 600 ]; }
    until_true left || fail "$1: not all leave"
    first=$(($(sent p2) - p2)) second=$(($(sent p3) - p3))
}
shared() { by_first "$1"; [ $first -ge 240 ] && [ $first -le 360 ] || fail "$1: $first and $second"; }
# A few more are what asks for addresses.
together() { by_first "$1"; [ $first -le 9 ] || [ $second -le 9 ] || fail "$1: $first and $second"; }

for kind in plain our-gre our-vxlan; do shared $kind; done
for kind in vxlan gre ipip gtp pieces; do together $kind; done
ctl router flows set inner >/dev/null
for kind in plain vxlan gre ipip gtp our-gre our-vxlan; do shared $kind; done
for kind in flannel pieces; do together $kind; done
ctl router flows set vxlan_ports 4789,8472 >/dev/null
shared flannel
ctl router flows set fields source,destination >/dev/null
ctl router show flows | has 'source, destination .*yes.*4789, 8472' || fail "what tells flows apart is not shown"
for kind in plain vxlan our-gre our-vxlan; do together $kind; done
ends 1 ctl router flows set fields source_port symmetric 2>"$work/said.txt"
has 'without `destination_port`' "$work/said.txt" || fail "half a direction is taken"
ctl router flows set fields default inner off vxlan_ports default >/dev/null
shared plain
together vxlan
echo "ok $name"
