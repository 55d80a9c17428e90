#!/usr/bin/env bash
# Ports with tags in a bridge of flows: flows have their frames first, and what these leave to NORMAL stays in its VLAN. As Neutron's br-int does it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ovsdb.bash"
of() { ovs-ofctl "$1" "unix:$work/br0.mgmt" "${@:2}"; }
apart() { ! pings "$1" "$2" >/dev/null; }

# Two hosts of VLAN 10, one of VLAN 20: the two alone reach each other.
vs add-br br0 -- add-port br0 v1 tag=10 -- set Interface v1 ofport_request=1 -- add-port br0 v2 tag=10 -- set Interface v2 ofport_request=2 \
    -- add-port br0 v3 tag=20 -- set Interface v3 ofport_request=3
until_true pings "$a" 10.0.9.2
apart "$a" 10.0.9.3

# Flows have what ports with tags receive, and count it.
of add-flow 'cookie=7,priority=9,in_port=1,icmp,actions=NORMAL'
on "$a" ping -c 3 -i 0.1 -W 2 10.0.9.2 >/dev/null
counts() { of dump-flows 'cookie=7/-1' | has "n_packets=$1,"; }
until_true counts 3
of add-flow 'priority=10,in_port=1,icmp,actions=drop'
apart "$a" 10.0.9.2
ovs-ofctl --strict del-flows "unix:$work/br0.mgmt" 'priority=10,in_port=1,icmp'
until_true pings "$a" 10.0.9.2
# Neutron's port security: who sends from another's address is not let through, in its VLAN neither.
of add-flow 'priority=8,in_port=2,arp,arp_spa=10.0.9.2,actions=NORMAL'
of add-flow 'priority=7,in_port=2,arp,actions=drop'
on "$b" ip neighbor flush dev eth0
pings "$b" 10.0.9.1 >/dev/null
of del-flows 'in_port=2' && of del-flows 'cookie=7/-1'

# Flows lead from one VLAN into the other by a port, whatever its tag.
of add-flow 'priority=5,in_port=1,arp,arp_tpa=10.0.9.3,actions=output:3'
of add-flow 'priority=5,in_port=1,ip,nw_dst=10.0.9.3,actions=output:3'
of add-flow 'priority=5,in_port=3,actions=output:1'
until_true pings "$a" 10.0.9.3
of del-flows && of add-flow 'priority=0,actions=NORMAL'
on "$a" ip neighbor flush dev eth0
apart "$a" 10.0.9.3

# A trunk has both, with tags; a tag that flows take off is none, and one that a port may not have is dropped.
send() { on "$1" python3 -c "import socket, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('eth0', 0))
link.send(bytes.fromhex(sys.argv[1]).ljust(64, b'\\0'))" "$2"; }
# hears HOST FILTER SAY...: what is said is heard there, by what tcpdump tells of it.
hears() {
    rm -f "$work/dump"
    on "$1" timeout "${patience:-10}" tcpdump -n -e -i eth0 -c 1 "$2" >"$work/seen" 2>"$work/dump" &
    local listens=$!
    until_true has listening "$work/dump"
    "${@:3}"
    wait $listens
}
silent() { ! patience=2 hears "$@" || { cat "$work/seen"; exit 1; }; }
vs clear port v3 tag -- set port v3 trunks=10,20
broadcast=ffffffffffff020000000001
is '(.[] | select(.name == "br0.10").ports | map(.port) | sort | join(" "))' 'br0.10 v1 v2 v3.10' bridge
hears "$c" 'vlan 10' send "$a" ${broadcast}88b5
hears "$a" 'ether proto 0x88b5' send "$c" ${broadcast}8100000a88b5
of add-flow 'priority=3,in_port=3,dl_vlan=10,dl_type=0x88b5,actions=mod_vlan_vid:20,NORMAL'
silent "$a" 'ether proto 0x88b5' send "$c" ${broadcast}8100000a88b5
of del-flows 'in_port=3'
silent "$a" 'ether proto 0x88b5' send "$c" ${broadcast}88b5
silent "$c" 'vlan' send "$a" ${broadcast}8100001488b5
ctl router show errors | has 'flow-normal *not-in-vlan'

# What a controller sends is in the VLAN of the port that it says it comes from, or of its tag.
hears "$b" 'ether proto 0x88b5' of packet-out 1 NORMAL "${broadcast}88b5$(printf '00%.0s' {1..46})"
hears "$c" 'vlan 10' of packet-out 1 NORMAL "${broadcast}88b5$(printf '00%.0s' {1..46})"
hears "$b" 'ether proto 0x88b5' of packet-out NONE NORMAL "${broadcast}8100000a88b5$(printf '00%.0s' {1..46})"
silent "$b" 'ether proto 0x88b5' of packet-out NONE NORMAL "${broadcast}8100001488b5$(printf '00%.0s' {1..46})"

# A customer's tags pass the VLAN of a service as they are: the trunk has a service's tag in front of them, with their priority.
vs set port v1 vlan_mode=dot1q-tunnel tag=30 -- set port v3 trunks=10,20,30
is '(.[] | select(.name == "br0.30").ports | map(.port) | sort | join(" "))' 'br0.30 v1.30 v3.30' bridge
hears "$c" 'vlan 30' send "$a" ${broadcast}8100a00588b5
has '802.1Q-QinQ.*vlan 30, p 5.*vlan 5, p 5' "$work/seen" || { cat "$work/seen"; exit 1; }
hears "$c" 'vlan 30' send "$a" ${broadcast}88b5
hears "$a" 'vlan 5' send "$c" ${broadcast}88a8001e8100000588b5
hears "$a" 'ether proto 0x88b5' send "$c" ${broadcast}88a8001e88b5
silent "$a" 'ether proto 0x88b5 or vlan' send "$c" ${broadcast}8100000a88b5
# Only those that are the customer's, either way.
vs set port v1 cvlans=5
hears "$c" 'vlan 30' send "$a" ${broadcast}8100000588b5
silent "$c" 'vlan 30' send "$a" ${broadcast}8100000688b5
silent "$c" 'vlan 30' send "$a" ${broadcast}88b5
silent "$a" 'vlan 6' send "$c" ${broadcast}88a8001e8100000688b5
ctl router show errors | has 'vlan-output *not-in-vlan'
vs clear port v1 cvlans -- clear port v1 vlan_mode -- set port v1 tag=10 -- set port v3 trunks=10,20
until_true pings "$a" 10.0.9.2

# The tools tell of VLANs.
pings "$a" 10.0.9.2 >/dev/null
appctl() { ovs-appctl -t "$work/ovs-vswitchd.$ovs.ctl" "$@"; }
appctl fdb/show br0 | has ' 1 *10 '
mac=$(on "$b" cat /sys/class/net/eth0/address)
trace() { appctl ofproto/trace br0 "$1"; }
trace "in_port=1,dl_dst=$mac" | has 'forwarding to learned port'
trace "in_port=1,dl_dst=$mac" | has 'Datapath actions: 2$'
trace "in_port=3,dl_vlan=10,dl_dst=$mac" | has 'Datapath actions: 2$'
trace "in_port=3,dl_vlan=20,dl_dst=$mac" | has 'no learned MAC for destination, flooding'
trace "in_port=1,dl_vlan=20,dl_dst=$mac" | has 'dropping VLAN 20 packet received on port v1 not configured for trunking VLAN 20'

# A table has the name and as many flows as its row says; what is too much is refused as Open vSwitch does it.
vs set bridge br0 flow_tables:5=@t -- --id=@t create Flow_Table name=guard flow_limit=2 overflow_policy=refuse >/dev/null
named() { of dump-tables | has '"guard"'; }
until_true named
of add-flow 'table=5,in_port=1,actions=drop' && of add-flow 'table=5,in_port=2,actions=drop'
! of add-flow 'table=5,in_port=3,actions=drop' 2>"$work/said" || exit 1
has OFPFMFC_ <"$work/said" && has -i 'table_\?full' <"$work/said" || { cat "$work/said"; exit 1; }
# With `evict` a flow with a timeout makes room, the one that ends soonest; others never do.
t=$(vs get bridge br0 flow_tables:5)
OVS_RUNDIR=$work ovs-ofctl -O OpenFlow14 monitor "unix:$work/br0.mgmt" 65534 'watch:!initial' >"$work/monitor" 2>&1 &
daemons+=($!)
vs set Flow_Table "$t" overflow_policy=evict
! of add-flow 'table=5,in_port=3,actions=drop' 2>/dev/null || exit 1
of del-flows table=5
of add-flow 'table=5,idle_timeout=100,in_port=1,actions=drop'
of add-flow 'table=5,send_flow_rem,hard_timeout=50,in_port=2,actions=drop'
watched() {
    of del-flows 'table=5,in_port=3'
    of add-flow 'table=5,send_flow_rem,idle_timeout=40,in_port=2,actions=drop'
    of add-flow 'table=5,idle_timeout=200,in_port=3,actions=drop'
    has 'event=DELETED reason=eviction table=5 .*in_port=2' "$work/monitor" && has 'FLOW_REMOVED.*in_port=2 reason=eviction' "$work/monitor"
}
until_true watched || { cat "$work/monitor"; exit 1; }
of dump-flows table=5 >"$work/said"
has in_port=1 "$work/said" && has in_port=3 "$work/said" && ! has in_port=2 "$work/said" || { cat "$work/said"; exit 1; }
# With groups, one of the largest.
of del-flows table=5
vs set Flow_Table "$t" flow_limit=3 groups='"NXM_OF_IN_PORT[]"'
for flow in idle_timeout=300,in_port=1,udp idle_timeout=200,in_port=1,tcp idle_timeout=100,in_port=2 idle_timeout=400,in_port=3; do
    of add-flow "table=5,$flow,actions=drop"
done
of dump-flows table=5 >"$work/said"
has in_port=2 "$work/said" && has udp "$work/said" && ! has tcp "$work/said" || { cat "$work/said"; exit 1; }
# So does a controller of 1.4 have it.
vs set Flow_Table "$t" overflow_policy=refuse flow_limit=2
! of add-flow 'table=5,idle_timeout=9,in_port=4,actions=drop' 2>/dev/null || exit 1
ovs-ofctl -O OpenFlow14 mod-table "unix:$work/br0.mgmt" 5 evict
ovs-ofctl -O OpenFlow14 dump-table-desc "unix:$work/br0.mgmt" | has 'eviction=on' || exit 1
of add-flow 'table=5,idle_timeout=9,in_port=4,actions=drop'
# And is told how much room there is.
ovs-ofctl -O OpenFlow14 mod-table "unix:$work/br0.mgmt" 5 vacancy:20,80
ovs-ofctl -O OpenFlow14 dump-table-desc "unix:$work/br0.mgmt" | has 'vacancy=on vacancy_down=20% vacancy_up=80%' || exit 1
OVS_RUNDIR=$work ovs-ofctl -O OpenFlow14 monitor "unix:$work/br0.mgmt" 128 >"$work/room" 2>&1 &
daemons+=($!)
is_told_of_room() {
    of del-flows table=5
    for port in 1 2; do of add-flow "table=5,in_port=$port,actions=drop"; done
    has 'TABLE_STATUS.*VACANCY_UP' "$work/room" && has 'TABLE_STATUS.*VACANCY_DOWN' "$work/room"
}
until_true is_told_of_room || { cat "$work/room"; exit 1; }
ovs-ofctl -O OpenFlow14 mod-table "unix:$work/br0.mgmt" 5 novacancy
ovs-ofctl -O OpenFlow14 dump-table-desc "unix:$work/br0.mgmt" | has 'vacancy=on' && exit 1
vs clear bridge br0 flow_tables
ovs-ofctl -O OpenFlow14 mod-table "unix:$work/br0.mgmt" 5 noevict
until_true of add-flow 'table=5,in_port=3,actions=drop'

# Tags that go and change; then nothing is left.
vs set port v2 tag=20
until_true apart "$a" 10.0.9.2
vs clear port v1 tag -- clear port v2 tag
until_true pings "$a" 10.0.9.2
vs del-br br0
is length 0 ports && is length 0 bridge
echo "ok $name"
