#!/usr/bin/env bash
# LACP with Open vSwitch at the other end, its own datapath in b's namespace: both agree on two wires and flows take both; a
# wire that is cut is left out by both, and comes back; who speaks no LACP any more has no link, and has it again.
. "$(dirname "$0")/lib.sh"
for program in ovs-vswitchd ovsdb-server; do command -v $program >/dev/null || skip "no $program"; done
hosts
ip -n "$r" link add v3 type veth peer name eth1 netns "$b"
ip -n "$r" link set v3 up
ip -n "$b" addr flush dev eth0
# The kernel sees what comes by the wires as well: it has nothing to say there.
on "$b" sysctl -qw net.ipv4.conf.all.arp_ignore=1
ip -n "$b" link set eth1 up
on "$b" ethtool -K eth1 tx off gso off tso off gro off >/dev/null
{
    two_ports af_packet | sed '/^\[port.p2\]/,$d'
    cat <<'TOML'
[port.m1]
kind = "af_packet"
device = "v2"
[port.m2]
kind = "af_packet"
device = "v3"
[port.b0]
kind = "bond"
members = ["m1", "m2"]
lacp_rate = "fast"
key = 7
addresses = ["10.0.2.1/24"]
TOML
} >"$work/router.toml"
router router

# The switch, and its own station in place of host b.
vs() { timeout 30 ovs-vsctl --db="unix:$work/db.sock" "$@"; }
ovsdb-tool create "$work/conf.db" /usr/share/openvswitch/vswitch.ovsschema
ovsdb-server "$work/conf.db" --remote="punix:$work/db.sock" --unixctl="$work/db.ctl" 2>"$work/db.log" &
daemons+=($!)
until_true vs --no-wait init
ip netns exec "$b" env OVS_RUNDIR="$work" ovs-vswitchd "unix:$work/db.sock" --unixctl="$work/switch.ctl" --disable-system 2>"$work/switch.log" &
daemons+=($!)
vs add-br br0 -- set bridge br0 datapath_type=netdev -- add-bond br0 far eth0 eth1 lacp=active bond_mode=balance-tcp other_config:lacp-time=fast
ip -n "$b" addr add 10.0.2.2/24 dev br0
ip -n "$b" link set br0 up
on "$b" ethtool -K br0 tx off >/dev/null
ip -n "$b" route add default via 10.0.2.1

far() { ovs-appctl -t "$work/switch.ctl" lacp/show far; }
fails() { ctl router show bonds; far; ctl router show errors; exit 1; }
state() { json ".[0].members[] | select(.port == \"$1\") | .state" router show bonds; }
is() { [ "$(state m1)" = "$1" ] && [ "$(state m2)" = "$2" ]; }
both() { is distributing distributing && [ "$(far | grep -c 'current attached')" = 2 ]; }
until_true both || fails
until_true pings "$a" 10.0.2.2 || fails
# What the switch says of us, and we of it.
far | has 'status: active negotiated' || fails
far | has "partner sys_id: $(json '.[] | select(.name == "b0") | .mac' router show ports)" || fails
far | has 'partner key: 7' || fails
ctl router show bonds | has 'distributing .*current .*active fast aggregatable in-sync collecting distributing' || fails

# Flows take both ways (layer3+4).
sent() { json ".[] | select(.name == \"$1\") | .tx.packets" router show ports; }
first=$(sent m1) second=$(sent m2)
for port in $(seq 5001 5040); do on "$a" bash -c "echo x >/dev/udp/10.0.2.2/$port"; done
spread() { [ $(($(sent m1) - first)) -ge 8 ] && [ $(($(sent m2) - second)) -ge 8 ]; }
until_true spread || fails

# A wire is cut: both leave it out, and take it in again.
ip -n "$b" link set eth1 down
one() { is distributing down && [ "$(json '.[0].carrying' router show bonds)" = 1 ]; }
until_true one || fails
until_true pings "$a" 10.0.2.2 || fails
ip -n "$b" link set eth1 up
until_true both || fails

# The switch speaks no LACP any more: nothing carries, and there is no link, until it does.
up() { json '.[] | select(.name == "b0") | .link_up' router show ports | has "$1"; }
vs set port far lacp=off
until_true up false || fails
[ "$(json '.[0].carrying' router show bonds)" = 0 ] || fails
vs set port far lacp=active
until_true both || fails
until_true pings "$a" 10.0.2.2 || fails
echo "ok $name"
