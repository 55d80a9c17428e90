#!/usr/bin/env bash
# A tunnel that learns its remotes, and VXLAN packets of random sources by the thousand: they have a share of the
# places, a remote that is configured loses nothing, and one that comes up by another port is learned and loses nothing.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
ip netns add vly-$$-probe
ip -n vly-$$-probe link add vx type vxlan id 5 dstport 4789 remote 192.0.2.1 2>/dev/null || skip "no vxlan device in this kernel"
hosts
c=vly-$$-c
ip netns add "$c"
ip -n "$c" link set lo up
ip -n "$r" link add v3 type veth peer name eth0 netns "$c"
ip -n "$c" addr add 10.0.9.3/24 dev eth0
ip -n "$c" link set eth0 up
ip -n "$r" link set v3 up
on "$c" ethtool -K eth0 tx off gso off tso off gro off >/dev/null
{
    two_ports af_packet
    cat <<'TOML'
[port.p3]
kind = "af_packet"
device = "v3"
[port.vx0]
kind = "vxlan"
vni = 42
local = "10.0.1.1"
remotes = ["10.0.1.2"]
learn_remotes = true
[bridge.lan]
ports = ["p3", "vx0"]
TOML
} >"$work/router.toml"
router router
# Host a's end of the tunnel is configured, host b's is not: b says that it is there.
number=0
for host in "$a" "$b"; do
    number=$((number + 1))
    ip -n "$host" link add vx0 type vxlan id 42 dstport 4789 local "10.0.$number.2" remote 10.0.1.1
    ip -n "$host" addr add "10.0.9.$number/24" dev vx0
    ip -n "$host" link set vx0 mtu 1400
    on "$host" ethtool -K vx0 tx off gso off tso off gro off >/dev/null
done
ip -n "$a" link set vx0 up
until_true pings "$a" 10.0.9.3
ours() { json ".[] | select(.name == \"$1\").mac" router show ports; }
ip netns exec "$a" python3 "$root/smoke/scan.py" eth0 4000 "$(ours p1)" 42 - 10.0.1.1 172.16.0.0/21 &
daemons+=($!)
told() { json 'map(select(.fields.fault == "remotes-full" and .fields.underlay == "p1")) | length' router events | has -v '^0$'; }
until_true told
remotes() { json '[.stations[].remote | select(. != null)] | unique | length' router mac show; }
few() { [ "$(remotes)" -gt 50 ] && [ "$(remotes)" -le 194 ]; }
until_true few

ip -n "$b" link set vx0 up
until_true pings "$b" 10.0.9.3
for host in "$a" "$b"; do
    on "$host" ping -q -i 0.05 -c $((20 * ${SECONDS_EACH:-1})) -W 2 10.0.9.3 >"$work/ping" || true
    has ' 0% packet loss' "$work/ping" || { cat "$work/ping"; fail "packets of a remote were lost"; }
done
few || fail "$(remotes) remotes"
echo "ok $name"
