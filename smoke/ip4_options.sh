#!/usr/bin/env bash
# By option, as Linux does: 240.0.0.0/4 (class E) are addresses of hosts, and echo requests to all stations of a link
# are answered. Both are off by default, and go on and off while it runs.
#
#   host a (10.0.1.2, 240.0.1.2) ── p1 │ volleyd │ p2 ── host b (10.0.2.2, 240.0.2.2)
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; ctl router show routes; ctl router show errors; exit 1; }
hosts
ip -n "$a" addr add 240.0.1.2/32 dev lo
ip -n "$b" addr add 240.0.2.2/32 dev lo
{
    two_ports af_packet
    printf '[[route]]\nprefix = "0.0.0.0/0"\nvia = "10.0.2.2"\n[[route]]\nprefix = "240.0.1.0/24"\nvia = "10.0.1.2"\n'
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
drops() { json "[.[] | select(.reason == \"$1\") | .packets] | add // 0" router show errors; }
far() { on "$a" ping -q -c 2 -i 0.1 -W 1 -I "$1" "$2" >/dev/null; }
unanswered() { ! far "$@"; }

# Class E: neither from it, nor to it by the default route.
far 240.0.1.2 10.0.2.2 && fail "240.0.1.2 was answered"
far 10.0.1.2 240.0.2.2 && fail "240.0.2.2 answered"
[ "$(drops martian-source)" = 2 ] || fail "dropped as from no host: $(drops martian-source)"
[ "$(drops martian-destination)" = 2 ] || fail "dropped as to no host: $(drops martian-destination)"
ctl router show errors | has 'class_e' || fail "nobody says what to do"
ctl router ip4 set class_e on >/dev/null
until_true far 240.0.1.2 10.0.2.2
until_true far 10.0.1.2 240.0.2.2
until_true far 240.0.1.2 240.0.2.2
# A VRF that comes later follows, too; the broadcast address is nobody's still.
ctl router vrf add red >/dev/null
ctl router route add 0.0.0.0/0 vrf red via_vrf default >/dev/null
is_routed() { ctl router lookup "$1" --vrf red | has '10.0.2.2'; }
is_routed 240.0.2.2 || fail "not in a VRF that came later"
! is_routed 255.255.255.255 || fail "the broadcast address is routed"
before=$(drops martian-source)
on "$a" /usr/bin/python3 -c "
import socket, struct
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(('eth0', 0))
from scapy.all import Ether, IP, UDP
mac = open('/sys/class/net/eth0/address').read().strip()
import subprocess, json
gw = [n['lladdr'] for n in json.loads(subprocess.check_output(['ip', '-j', 'neigh'])) if n['dst'] == '10.0.1.1'][0]
s.send(bytes(Ether(src=mac, dst=gw) / IP(src='255.255.255.255', dst='10.0.2.2') / UDP()))"
is_counted() { [ "$(drops martian-source)" = $((before + 1)) ]; }
until_true is_counted
ctl router ip4 set class_e off >/dev/null
until_true unanswered 240.0.1.2 10.0.2.2
until_true unanswered 10.0.1.2 240.0.2.2

# Echo requests to all: an address of ours answers.
asks_all() { on "$a" ping -b -q -c 2 -i 0.1 -W 1 "$1" 2>/dev/null || true; }
asks_all 10.0.1.255 | has ' 0 received' || fail "a broadcast was answered"
ctl router icmp set echo_broadcasts on >/dev/null
for all in 10.0.1.255 255.255.255.255; do
    on "$a" ping -b -c 2 -i 0.1 -W 2 -I eth0 "$all" 2>/dev/null | has '64 bytes from 10.0.1.1' || fail "nobody answers to $all"
done
# What is to all and no echo request stays here, and is counted.
on "$a" /usr/bin/python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
s.sendto(b'who', ('10.0.1.255', 137))"
is_dropped() { [ "$(drops not-for-us)" -ge 1 ]; }
until_true is_dropped
ctl router icmp set echo_broadcasts off >/dev/null
asks_all 10.0.1.255 | has ' 0 received' || fail "a broadcast is answered still"
echo "ok $name"
