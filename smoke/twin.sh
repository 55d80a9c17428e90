#!/usr/bin/env bash
# The kernel beside us: a port's twin has its name, MAC, MTU and addresses; TCP to our address meets a
# listener there, over IPv4 and IPv6, from a host and from beyond a hop; tcpdump sees it; the kernel pings
# hosts; sub-interfaces have twins, too; one that is taken away comes back; and a flood of packets to
# ourselves leaves a TCP connection alone.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
# A packet socket leaves its frames to the kernel as well, so the twins live apart from the devices.
k=vly-$$-k
ip netns add "$k"
ip -n "$k" link set lo up
twin="twin = { netns = \"$k\" }"
{
    two_ports af_packet | sed -e "s,10.0.1.1/24\",&\\, \"2001:db8:1::1/64\"," -e "/^device/a $twin"
    printf '[port.v20]\nkind = "vlan"\nparent = "p1"\nvlan = 20\naddresses = ["10.0.20.1/24"]\n%s\n' "$twin"
    printf '[twins]\nrest_pps = 500\n'
} >"$work/router.toml"
router router
ip -n "$a" addr add 2001:db8:1::2/64 dev eth0 nodad

# It looks as the port does.
port_mac=$(ip -n "$r" -j link show v1 | jq -r '.[0].address')
looks() {
    ip -n "$k" -j addr show "$1" | jq -e --arg mac "$port_mac" \
        '.[0] | select(.address == $mac and .mtu == 1500 and .operstate != "DOWN") | .addr_info[] | select(.local == "'"$2"'")'
}
until_true looks p1 10.0.1.1
until_true looks p1 2001:db8:1::1
until_true looks v20 10.0.20.1
until_true ip -n "$k" link show p2

# The kernel pings hosts of both families; hosts ping us.
until_true pings "$k" 10.0.1.2
until_true on "$k" ping -6 -q -c 1 -W 2 2001:db8:1::2
# The router pings by itself; the kernel keeps its own answers.
for to in 10.0.1.2 2001:db8:1::2; do ctl router ping $to --count 1 --timeout 20 >/dev/null || fail "the router has no answer of its own from $to"; done
until_true pings "$k" 10.0.1.2
until_true pings "$a" 10.0.1.1
on "$a" ping -q -c 1 -W 5 -s 4000 10.0.1.1 >/dev/null || fail "a ping in pieces is not answered"

# TCP to our addresses, from the link and from beyond; tcpdump on the twin sees it.
ip netns exec "$k" tcpdump -n -U -i p1 -w "$work/seen.pcap" 'tcp port 7777' 2>"$work/seen.txt" &
daemons+=($!)
until_true has listening "$work/seen.txt"
ip netns exec "$k" socat TCP6-LISTEN:7777,fork,reuseaddr,ipv6only=0 EXEC:cat 2>/dev/null &
daemons+=($!)
echoes() { [ "$(echo hello | on "$1" socat -t 5 - "TCP:$2:7777,connect-timeout=5")" = hello ]; }
until_true echoes "$a" 10.0.1.1
until_true echoes "$a" '[2001:db8:1::1]'
until_true echoes "$a" 10.0.2.1
until_true echoes "$b" 10.0.1.1
seen() { tcpdump -n -r "$work/seen.pcap" 2>/dev/null | has '10.0.1.1.7777'; }
until_true seen
# A port where nobody listens is refused by the kernel.
on "$a" socat -u /dev/null TCP:10.0.1.1:7,connect-timeout=5 2>"$work/refused" && fail "port 7 is open"
has refused <"$work/refused" || fail "nobody refuses"
ctl router show twins | has -P '^p1 +p1 +vly' || fail "no twin is shown"

# Neighbours that somebody set outlive a cable that is pulled out.
ip -n "$k" neigh replace 10.0.1.77 lladdr 02:00:00:00:00:77 dev p1 nud permanent
state_is() { [ "$(ip -n "$k" -j link show p1 | jq -r '.[0].flags | any(. == "LOWER_UP")')" = "$1" ]; }
ip -n "$a" link set eth0 down
until_true state_is false
ip -n "$a" link set eth0 up
until_true state_is true
ip -n "$k" neigh show dev p1 | has 'lladdr 02:00:00:00:00:77 PERMANENT' || fail "a neighbour is forgotten with the carrier"
ip -n "$a" route replace default via 10.0.1.1
ip -n "$a" addr replace 2001:db8:1::2/64 dev eth0 nodad
until_true pings "$a" 10.0.2.2

# A sub-interface: what is refused by the kernel on its twin comes back with the tag.
mac=$(ip -n "$a" -j link show eth0 | jq -r '.[0].address')
ip -n "$k" neigh replace 10.0.20.2 lladdr "$mac" dev v20
cat >"$work/tagged.py" <<PY
import sys
from scapy.all import ICMP, IP, UDP, Dot1Q, Ether, conf, srp1
conf.verb = 0
datagram = Ether(src="$mac", dst="$port_mac") / Dot1Q(vlan=20) / IP(src="10.0.20.2", dst="10.0.20.1") / UDP(dport=9)
for _ in range(10):
    answer = srp1(datagram, iface="eth0", timeout=2)
    if answer is not None and ICMP in answer:
        sys.exit(0 if (answer[Dot1Q].vlan, answer[ICMP].type, answer[ICMP].code) == (20, 3, 3) else answer.summary())
sys.exit("no answer in VLAN 20")
PY
on "$a" timeout 40 /usr/bin/python3 "$work/tagged.py" || fail "the twin of VLAN 20"

# Another MTU and address, down and up, at run time.
has_address() { ip -n "$k" -j addr show "$1" | jq -e --arg own "$2" '.[0].addr_info[] | select(.local == $own)'; }
is_up() { ip -n "$k" -j link show p2 | jq -e '.[0].flags | index("UP")'; }
is_down() { ! is_up; }
has_mtu() { ip -n "$k" -j link show p2 | jq -e --argjson mtu "$1" '.[0].mtu == $mtu'; }
ctl router address add 10.0.3.1/24 port p2 >/dev/null
until_true has_address p2 10.0.3.1
ctl router port set p2 down >/dev/null
until_true is_down
ctl router port set p2 up mtu 1400 >/dev/null
until_true is_up
until_true has_mtu 1400
until_true has_address p2 10.0.2.1

# One that somebody takes away is told, and comes back; one that nobody wants goes.
ip -n "$k" link del p2
until_true has 'p2: its twin is gone' "$work/router.log"
until_true has_address p2 10.0.2.1
until_true has 'p2: its twin is back' "$work/router.log"
ctl router port set p2 twin off >/dev/null
! ip -n "$k" link show p2 >/dev/null 2>&1 || fail "a twin stays that nobody wants"
# A name that is taken is refused, and nothing changes.
! ctl router port set p2 twin on netns "$k" name lo >"$work/taken" 2>&1 || fail "a name was taken twice"
has 'has a link `lo` already' <"$work/taken" || { cat "$work/taken"; fail "it is not said what is wrong"; }
until_true pings "$a" 10.0.2.2

# A flood of datagrams to ourselves: the connection of before goes on, and the flood is counted.
ip netns exec "$a" timeout 60 python3 "$root/smoke/flood.py" 10.0.1.1 9 &
daemons+=($!)
limited() { json '.[] | select(.port == "p1").classes[] | select(.class == "rest").limited' router show twins; }
is_limited() { [ "$(limited)" -gt 1000 ]; }
until_true is_limited
on "$a" python3 "$root/smoke/converse.py" 10.0.1.1 7777 100 || fail "the connection suffers from the flood"
before=$(limited)
more_limited() { [ "$(limited)" -gt "$before" ]; }
until_true more_limited

# A twin that somebody moves into another namespace is not gone: set up there, it is the port's as before.
moved=vly-$$-moved
ip netns add "$moved"
ip -n "$k" link set p1 netns "$moved"
ip -n "$moved" addr add 10.0.1.1/24 dev p1
ip -n "$moved" link set p1 up
ip netns exec "$moved" socat TCP-LISTEN:7778,fork,reuseaddr EXEC:cat 2>/dev/null &
daemons+=($!)
until_true on "$a" python3 "$root/smoke/converse.py" 10.0.1.1 7778 3
! has 'p1: its twin is gone' "$work/router.log" || fail "a twin that was moved is taken for gone"
echo "ok $name"
