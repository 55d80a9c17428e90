#!/usr/bin/env bash
# The twin of a bridge's own station, in a VRF: TCP to its address meets a listener, the kernel reaches hosts of the
# bridge by it; and routes of a kernel table that FPM tells are those of the VRF, and of no other, those of type 5 of EVPN by
# a tunnel to Linux's vxlan device as well. What zebra would say and write is written here: this kernel may have no VRFs.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
k=vly-$$-k c=vly-$$-c
ip netns add "$c"
ip -n "$r" link add v3 type veth peer name eth0 netns "$c"
ip -n "$r" link set v3 up
ip -n "$c" addr add 10.0.3.2/24 dev eth0
ip -n "$c" link set eth0 up
on "$c" ethtool -K eth0 tx off gso off tso off gro off >/dev/null
ip -n "$c" link add vx type vxlan id 200 dstport 4789 local 10.0.3.2 remote 10.0.3.1 2>/dev/null || skip "no vxlan device in this kernel"
ip netns add "$k"
ip -n "$k" link set lo up
cat >"$work/router.toml" <<TOML
[workers]
count = 1
[memory]
buffers = 8192
[vrf.red]
[port.p1]
kind = "af_packet"
device = "v1"
vrf = "red"
addresses = ["10.0.1.1/24"]
[port.p2]
kind = "af_packet"
device = "v2"
[port.own]
kind = "bvi"
vrf = "red"
addresses = ["10.0.2.1/24"]
twin = { netns = "$k" }
[bridge.lan]
ports = ["p2", "own"]
[port.p3]
kind = "af_packet"
device = "v3"
addresses = ["10.0.3.1/24"]
[port.vx200]
kind = "vxlan"
vni = 200
local = "10.0.3.1"
learn_remotes = false
mtu = 1400
[port.within]
kind = "bvi"
vrf = "red"
routing = true
mtu = 1400
[bridge.red]
ports = ["within", "vx200"]
evpn = { netns = "$k", routes = true }
[fpm]
netns = "$k"
vrfs = ["red=1001"]
TOML
router router
until_true pings "$a" 10.0.2.2
until_true ip -n "$k" link show own
until_true pings "$k" 10.0.2.2
ip netns exec "$k" socat TCP-LISTEN:7777,fork,reuseaddr EXEC:cat 2>/dev/null &
daemons+=($!)
echoes() { [ "$(echo hello | on "$1" socat -t 5 - "TCP:10.0.2.1:7777,connect-timeout=5")" = hello ]; }
until_true echoes "$b"

link_of() { ip -n "$k" -j link show "$1" | jq '.[0].ifindex'; }
mkfifo "$work/say"
ip netns exec "$k" python3 "$root/smoke/fpm_say.py" <"$work/say" &
daemons+=($!)
exec 7>"$work/say"
printf 'hop 1 10.0.2.2 %s\nroute 20.0.0.0/24 1 100 1001\n' "$(link_of own)" >&7
are_active() { [ "$(json .active router show fpm)" = 100 ]; }
until_true are_active
ctl router lookup 20.0.7.7 --vrf red | has 10.0.2.2 || fail "the VRF has no route"
! ctl router lookup 20.0.7.7 | has 10.0.2.2 || fail "the route is in another VRF, too"
ip -n "$b" addr add 20.0.7.7/32 dev lo
until_true pings "$a" 20.0.7.7

# Type 5: when the routes are told there is a mailbox, in which zebra writes the other router's MAC address; a route leads by it.
until_true ip -n "$k" link show red
mac=$(ip -n "$c" -j link show vx | jq -r '.[0].address')
on "$k" bridge fdb add "$mac" dev vni200 dst 10.0.3.2 self extern_learn
on "$k" bridge fdb add "$mac" dev vni200 master static extern_learn
ip -n "$k" neigh add 10.0.3.2 lladdr "$mac" dev red nud noarp extern_learn
printf 'hop 2 10.0.3.2 %s\nroute 10.0.5.0/24 2 1 1001\n' "$(link_of red)" >&7
ip -n "$c" addr add 10.0.5.9/32 dev lo
ip -n "$c" link set lo up
ip -n "$c" link set vx up
ip -n "$c" neigh add 10.9.9.1 lladdr "$(json '.[] | select(.name == "within").mac' router show ports)" dev vx
ip -n "$c" route add 10.0.1.0/24 via 10.9.9.1 dev vx onlink
until_true pings "$a" 10.0.5.9
ctl router lookup 10.0.5.9 --vrf red | has within || fail "the VRF has no route of type 5"
! ctl router lookup 10.0.5.9 | has within || fail "the default VRF has it, too"
ip -n "$k" link show red | has "$(json '.[] | select(.name == "within").mac' router show ports)" || fail "zebra is told another router's MAC address"
echo "ok $name"
