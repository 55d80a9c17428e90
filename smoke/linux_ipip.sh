#!/usr/bin/env bash
# IP in IP with Linux's own devices at the other end, of a user-mode kernel: ipip and sit, each of one family, and ip6tnl
# of both. The router answers inside all four, with full packets, and host a and the other end reach each other through them.
. "$(dirname "$0")/lib.sh"
. "$root/smoke/uml.bash"
hosts
ip -n "$r" link del v2
uml_taps 1
{
    two_ports af_packet | sed 's/^device = "v2"/device = "ut0"/; s/"10.0.2.1\/24"/&, "fd00:2::1\/64"/; s/"10.0.1.1\/24"/&, "fd00:1::1\/64"/'
    cat <<'TOML'
[port.over4]
kind = "ipip"
local = "10.0.2.1"
remote = "10.0.2.2"
addresses = ["10.8.4.1/30", "fd00:84::1/64"]
[port.over6]
kind = "ipip"
dscp = "af11"
local = "fd00:2::1"
remote = "fd00:2::2"
addresses = ["10.8.6.1/30", "fd00:86::1/64"]
TOML
} >"$work/router.toml"
ip -n "$a" addr add fd00:1::2/64 dev eth0 nodad
ip -n "$a" -6 route add default via fd00:1::1
router router
uml 1 "ipip sit ip6_tunnel" <<'INIT'
ip link set vec0 up
ip addr add 10.0.2.2/24 dev vec0
six vec0 fd00:2::2/64
ip link add four type ipip local 10.0.2.2 remote 10.0.2.1
ip link add six type sit local 10.0.2.2 remote 10.0.2.1
ip link add any6 type ip6tnl mode any local fd00:2::2 remote fd00:2::1
for device in four six any6; do ip link set $device up; done
ip addr add 10.8.4.2/30 dev four
six six fd00:84::2/64
ip addr add 10.8.6.2/30 dev any6
six any6 fd00:86::2/64
ip route add 10.0.1.0/24 via 10.8.4.1
ip route add fd00:1::/64 via fd00:86::1
try 10.0.2.1 && try fd00:2::1 && echo underlay
try -M do -s 1452 10.8.4.1 && echo four in four
try -M do -s 1432 fd00:84::1 && echo six in four
# With the option that limits how deep tunnels are put into each other, as it is by default: eight octets less.
try -M do -s 1424 10.8.6.1 && echo four in six
try -M do -s 1404 fd00:86::1 && echo six in six
try 10.0.1.2 && echo host behind four
try fd00:1::2 && echo host behind six
INIT
uml_done
for word in underlay 'four in four' 'six in four' 'four in six' 'six in six' 'host behind four' 'host behind six'; do
    has -x "$word" "$work/uml.txt" || uml_fails
done
# The router into them: both families over both, in full packets, and what is too long is told of.
for to in 10.8.4.2 10.8.6.2 fd00:84::2 fd00:86::2; do until_true on "$a" ping -q -c 1 -W 1 "$to" || uml_fails; done
on "$a" ping -c 1 -W 2 -M do -s 1453 10.8.4.2 >"$work/ping.txt" 2>&1 || true
has 'mtu = 1480' "$work/ping.txt" || uml_fails
json '.[] | select(.name == "over4" or .name == "over6") | select(.rx.packets > 4 and .tx.packets > 4) | .name' router show ports | wc -l | has -x 2 || uml_fails
uml_stop
echo "ok $name"
