#!/usr/bin/env bash
# LACP with Linux's bonding driver at the other end, of a user-mode kernel: both agree on two wires, VLANs and pings pass,
# a wire that goes silent is left out by both, and comes back; then active-backup.
. "$(dirname "$0")/lib.sh"
. "$root/smoke/uml.bash"
hosts
ip -n "$r" link del v2
uml_taps 2
base() {
    two_ports af_packet | sed '/^\[port.p2\]/,$d'
    cat <<TOML
[port.m1]
kind = "af_packet"
device = "ut0"
[port.m2]
kind = "af_packet"
device = "ut1"
[port.b0]
kind = "bond"
members = ["m1", "m2"]
lacp_rate = "fast"
key = 7
addresses = ["10.0.2.1/24"]
$1
[port."b0.100"]
kind = "vlan"
parent = "b0"
vlan = 100
addresses = ["10.0.3.1/24"]
TOML
}
base '' >"$work/router.toml"
router router
uml 2 "bonding 8021q veth sch_ingress cls_matchall act_mirred" <<'INIT'
ip link add bond0 type bond mode 802.3ad lacp_rate fast miimon 100 xmit_hash_policy layer3+4
# The wires know neither speed nor duplex, and without those the driver speaks no LACP: devices that do stand before them.
for number in 0 1; do
    ip link add w$number type veth peer name x$number
    for way in "vec$number x$number" "x$number vec$number"; do
        set -- $way
        ip link set $1 up
        tc qdisc add dev $1 ingress
        tc filter add dev $1 parent ffff: matchall action mirred egress redirect dev $2
    done
    ethtool -K w$number tx off sg off tso off gso off gro off
    ip link set w$number master bond0
done
ip link set bond0 up
ip addr add 10.0.2.2/24 dev bond0
ip link add link bond0 name bond0.100 type vlan id 100
ip link set bond0.100 up
ip addr add 10.0.3.2/24 dev bond0.100
ip route add 10.0.1.0/24 via 10.0.2.1
try 10.0.2.1 && echo agreed
try 10.0.3.1 && echo vlan
# Wait until both wires are of one group, and say so.
for turn in $(seq 100); do
    sleep 0.2
    [ "$(grep -c 'port state: 63' /proc/net/bonding/bond0)" = 4 ] && echo both && break
done
cat /proc/net/bonding/bond0
echo ready >$work/ready
until_there again
ip link set w1 down
try 10.0.2.1 && echo without
echo one >$work/one
until_there back
ip link set w1 up
until_there backup
ip link set bond0 down
ip link del bond0
ip link add bond0 type bond mode active-backup miimon 100
for device in w0 w1; do ip link set $device down; ip link set $device master bond0; done
ip link set bond0 up
ip addr add 10.0.2.2/24 dev bond0
try 10.0.2.1 && echo active backup
INIT
fails() { ctl router show bonds; uml_fails; }
until_true test -e "$work/ready" || fails
for word in agreed vlan both; do has -x "$word" "$work/uml.txt" || fails; done
state() { json ".[0].members[] | select(.port == \"$1\") | .state" router show bonds; }
is() { [ "$(state m1)" = "$1" ] && [ "$(state m2)" = "$2" ]; }
until_true is distributing distributing || fails
# What Linux says of us, and we of it.
has 'Partner Mac Address: '"$(json '.[] | select(.name == "b0") | .mac' router show ports)" "$work/uml.txt" || fails
has 'Partner Key: 7' "$work/uml.txt" || fails
ctl router show bonds | has 'distributing .*current .*active fast aggregatable in-sync collecting distributing' || fails
until_true pings "$a" 10.0.2.2 || fails
# Our messages as tshark reads them.
ip netns exec "$r" tcpdump -n -U -Q out -i ut0 -w "$work/said.pcap" ether proto 0x8809 2>"$work/said.log" &
daemons+=($!)
said() { tshark -r "$work/said.pcap" -Y 'slow.subtype == 1 && lacp.actor.key == 7 && lacp.actor.state == 0x3f && lacp.partner.state == 0x3f && lacp.collector.max_delay == 0' 2>/dev/null | has .; }
until_true said || { tshark -r "$work/said.pcap" -V; fails; }
# One end goes: it is left out at ours, and packets go by the other.
touch "$work/again"
one() { json '.[0] | select(.carrying == 1 and .link_up) | .name' router show bonds | has b0 && [ "$(state m1)" = distributing ]; }
until_true one || fails
until_true test -e "$work/one" || fails
has -x without "$work/uml.txt" || fails
until_true pings "$a" 10.0.2.2 || fails
touch "$work/back"
until_true is distributing distributing || fails
# The other end speaks no LACP any more: without it nothing carries, and told so it does.
touch "$work/backup"
silent() { json '.[0] | select(.carrying == 0 and .link_up == false) | .name' router show bonds | has b0; }
until_true silent || fails
base 'mode = "active-backup"' >"$work/backup.toml"
ctl router config apply "$work/backup.toml" >/dev/null
uml_done
has -x 'active backup' "$work/uml.txt" || fails
uml_stop
echo "ok $name"
