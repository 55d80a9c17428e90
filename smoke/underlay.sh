#!/usr/bin/env bash
# A VXLAN tunnel whose packets are in VRF blue and which carries VRF red's: host a in red and the router's own
# station there reach host b inside; outside, a and b are strangers. The tunnel moves to the default VRF, and back.
. "$(dirname "$0")/lib.sh"
ip netns add vly-$$-probe
ip -n vly-$$-probe link add vx type vxlan id 5 dstport 4789 remote 192.0.2.1 2>/dev/null || skip "no vxlan device in this kernel"
hosts
ip -n "$r" link set v2 mtu 1600
ip -n "$b" link set eth0 mtu 1600
{
    two_ports af_packet | sed 's/^device = "v1"/&\nvrf = "red"/; s/^device = "v2"/&\nvrf = "blue"\nmtu = 1600/'
    cat <<'TOML'
[vrf.red]
[vrf.blue]
[port.vx0]
kind = "vxlan"
vni = 42
local = "10.0.2.1"
remote = "10.0.2.2"
underlay_vrf = "blue"
[port.own]
kind = "bvi"
vrf = "red"
addresses = ["10.0.9.1/24"]
[bridge.lan]
ports = ["vx0", "own"]
TOML
} >"$work/router.toml"
ip -n "$b" link add vx0 type vxlan id 42 dstport 4789 local 10.0.2.2 remote 10.0.2.1
ip -n "$b" addr add 10.0.9.2/24 dev vx0
ip -n "$b" link set vx0 mtu 1500 up
on "$b" ethtool -K vx0 tx off gso off tso off gro off >/dev/null
ip -n "$b" route add 10.0.1.0/24 via 10.0.9.1
router router
until_true pings "$b" 10.0.9.1
until_true pings "$a" 10.0.9.2
on "$a" ping -q -c 2 -i 0.1 -W 2 -M do -s 1472 10.0.9.2 >/dev/null || { ctl router show errors; exit 1; }
! pings "$a" 10.0.2.2 >/dev/null || { echo "red reaches blue beside the tunnel"; exit 1; }
[ "$(json '[.[] | select(.address == "10.0.2.2" or .address == "10.0.9.2") | .vrf] | sort | join(" ")' router show neighbors)" = "blue red" ]
if ctl router vrf del blue 2>"$work/refused"; then echo "a tunnel's VRF was removed"; exit 1; fi
has 'port.vx0.underlay_vrf' "$work/refused"

# Where no port of the default VRF has the tunnel's address it cannot begin; with p2 it can move there.
config() { ctl router config "$@"; }
sed '/^underlay_vrf/d' "$work/router.toml" >"$work/new.toml"
if config apply "$work/new.toml" 2>"$work/refused"; then echo "a tunnel begins nowhere"; exit 1; fi
sed -i '/^vrf = "blue"/d' "$work/new.toml"
config apply "$work/new.toml" >/dev/null
until_true pings "$a" 10.0.9.2
config apply "$work/router.toml" >/dev/null
until_true pings "$a" 10.0.9.2
echo "ok $name"
