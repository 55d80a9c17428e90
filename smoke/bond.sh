#!/usr/bin/env bash
# Bonds without LACP: host b has two wires into a bridge of its own namespace's kernel, as behind a switch. One member
# carries, and when its wire is cut the other does, within what was in flight; addresses are announced by it.
. "$(dirname "$0")/lib.sh"
hosts
# A second wire, and a bridge at b's end of both.
ip -n "$r" link add v3 type veth peer name eth1 netns "$b"
ip -n "$r" link set v3 up
ip -n "$b" addr flush dev eth0
on "$b" ethtool -K eth1 tx off gso off tso off gro off >/dev/null
ip -n "$b" link add br0 type bridge
for port in eth0 eth1; do
    ip -n "$b" link set "$port" master br0
    ip -n "$b" link set "$port" up
done
ip -n "$b" link set br0 up
ip -n "$b" addr add 10.0.2.2/24 dev br0
ip -n "$b" addr add fd00:2::2/64 dev br0 nodad
ip -n "$b" route replace default via 10.0.2.1
base() { # base MODE...
    two_ports af_packet | sed '/^\[port.p2\]/,$d'
    cat <<TOML
[port.m1]
kind = "af_packet"
device = "v2"
[port.m2]
kind = "af_packet"
device = "v3"
[port.b0]
kind = "bond"
members = ["m1", "m2"]
addresses = ["10.0.2.1/24", "fd00:2::1/64"]
$1
TOML
}
base 'mode = "active-backup"
primary = "m1"' >"$work/router.toml"
router router
fails() { ctl router show bonds; ctl router show ports; ctl router show errors; exit 1; }
state() { json ".[0].members[] | select(.port == \"$1\") | .state" router show bonds; }
is() { [ "$(state m1)" = "$1" ] && [ "$(state m2)" = "$2" ]; }
until_true is carries 'stands by' || fails
until_true pings "$a" 10.0.2.2 || fails
# One MAC: the first member's.
macs() { json "[.[] | select(.name == \"m1\" or .name == \"b0\") | .mac] | unique | length" router show ports; }
[ "$(macs)" = 1 ] || fails

# Pings while the wire of m1 is cut, and comes back: at most two are lost each time, and who listens is told.
ip netns exec "$b" tcpdump -n -l -i eth1 'arp or icmp6' >"$work/told.txt" 2>"$work/told.log" &
daemons+=($!)
until_true has listening "$work/told.log"
ip netns exec "$a" ping -q -i 0.05 -c 200 -W 2 10.0.2.2 >"$work/ping.txt" 2>&1 &
pinging=$!
sent() { json '.[] | select(.name == "b0") | .tx.packets' router show ports; }
before=$(sent)
more() { [ "$(sent)" -gt $((before + 20)) ]; }
until_true more || fails
ip -n "$b" link set eth0 down
until_true is down carries || fails
before=$(sent)
until_true more || fails
ip -n "$b" link set eth0 up
until_true is carries 'stands by' || fails
wait $pinging || true
got=$(sed -n 's/.* \([0-9]*\) received.*/\1/p' "$work/ping.txt")
# Two changes, 50 ms between pings; a machine that stalls is allowed some.
[ "$got" -ge 190 ] || { cat "$work/ping.txt"; fails; }
until_true has 'ARP, Request who-has 10.0.2.1 .*tell 10.0.2.1' "$work/told.txt" || { cat "$work/told.txt"; fails; }
until_true has 'fd00:2::1 > ff02::1: .*neighbor advertisement' "$work/told.txt" || { cat "$work/told.txt"; fails; }
json '.[0] | select(.failovers >= 2 and .carrying == 1 and .link_up) | .name' router show bonds | has b0 || fails

# Both cut: the bond has no link, nor its VLAN; a hears that nobody is there.
ip -n "$b" link set eth0 down
ip -n "$b" link set eth1 down
gone() { json '.[] | select(.name == "b0") | .link_up' router show ports | has false; }
until_true gone || fails
ip -n "$b" link set eth0 up
ip -n "$b" link set eth1 up
until_true pings "$a" 10.0.2.2 || fails

# What the standby member receives is counted and dropped; LACP is not for who does not speak it.
cat >"$work/send.py" <<'PY'
from scapy.all import Ether, Raw, conf, sendp
conf.verb = 0
sendp(Ether(dst="01:80:c2:00:00:02", src="06:00:00:00:00:09", type=0x8809) / Raw(bytes([1, 1, 1, 20]) + bytes(18) + bytes([2, 20]) + bytes(86)), iface="eth1")
sendp(Ether(dst="06:00:00:00:00:08", src="06:00:00:00:00:09", type=0x88b5) / Raw(bytes(46)), iface="eth1")
PY
on "$b" /usr/bin/python3 "$work/send.py"
dropped() { json ".[] | select(.node == \"bond-input\" and .reason == \"$1\") | .packets" router show errors | has .; }
until_true dropped not-spoken || fails
until_true dropped not-collecting || fails

# A wire that comes back is not used before it has stayed, while another carries; one that goes is left at once.
base 'mode = "active-backup"
primary = "m1"
up_delay = "3s"' >"$work/delayed.toml"
ctl router config apply "$work/delayed.toml" >/dev/null
until_true is carries 'stands by' || fails
ip -n "$b" link set eth0 down
until_true is down carries || fails
began=$SECONDS
ip -n "$b" link set eth0 up
until_true is carries 'stands by' || fails
[ $((SECONDS - began)) -ge 2 ] || { echo "m1 carries at once"; fails; }

# An end that speaks no LACP: nobody carries, or one does if it is told so.
base 'lacp_rate = "fast"' >"$work/lacp.toml"
ctl router config apply "$work/lacp.toml" >/dev/null
heard() { json '[.[0].members[].heard] | unique == ["defaulted"]' router show bonds | has true; }
until_true heard || fails
! pings "$a" 10.0.2.2 >/dev/null || { echo "it carries, and both ends do not agree"; fails; }
base 'lacp_rate = "fast"
fallback = true' >"$work/fallback.toml"
ctl router config apply "$work/fallback.toml" >/dev/null
until_true is carries detached || fails
until_true pings "$a" 10.0.2.2 || fails
ip -n "$b" link set eth0 down
until_true is down carries || fails
until_true pings "$a" 10.0.2.2 || fails
ip -n "$b" link set eth0 up

# By hand at both ends: all members carry, each flow by one; all of the bond's link needs two members.
base 'mode = "balance-xor"
min_links = 2' >"$work/xor.toml"
ip -n "$b" link set eth1 nomaster
ctl router config apply "$work/xor.toml" >/dev/null
until_true is carries carries || fails
ip -n "$b" link set eth1 down
until_true gone || fails
json '.[0] | .carrying' router show bonds | has 1 || fails
# As a bridge's port, and with a twin: hosts a and b are neighbours, and the kernel beside the router reaches b by it.
ip -n "$b" link set eth1 up
until_true is carries carries || fails
ip -n "$a" addr add 10.0.9.1/24 dev eth0
ip -n "$b" addr add 10.0.9.2/24 dev br0
{
    base 'mode = "active-backup"' | grep -v '^addresses'
    printf '[bridge.lan]\nports = ["p1", "b0"]\n'
} >"$work/bridged.toml"
ctl router config apply "$work/bridged.toml" >/dev/null
until_true pings "$a" 10.0.9.2 || fails
ctl router mac show | has ' b0 ' || fails
k=vly-$$-k
ip netns add "$k"
base "mode = \"active-backup\"
twin = { netns = \"$k\" }" >"$work/twin.toml"
ctl router config apply "$work/twin.toml" >/dev/null
until_true on "$k" ping -q -c 1 -W 1 -I b0 10.0.2.2 || fails
until_true pings "$a" 10.0.2.2 || fails
ctl router bond del b1 >/dev/null 2>&1 && { echo "a bond that is not there was removed"; exit 1; }
ctl router port del m1 >"$work/refused.txt" 2>&1 && { echo "a member was removed"; exit 1; }
has 'm1' "$work/refused.txt" || { cat "$work/refused.txt"; exit 1; }
echo "ok $name"
