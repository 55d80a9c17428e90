#!/usr/bin/env bash
# Tunnels in flows as Neutron's br-tun has them, volley at one end and Debian's own ovs-vswitchd at the other, told the same by ovs-vsctl and
# ovs-ofctl: two tenants with the same addresses, each with a number of its own, by VXLAN, Geneve and GRE.
#
#   a ┐                                                               ┌ c   tenant one: VLAN 1, number 0x64
#     br-int ── patch ── br-tun ══ 192.0.2.1 ── 192.0.2.2 ══ br-tun ── patch ── br-int
#   b ┘                                                               └ d   tenant two: VLAN 2, number 0xc8
. "$(dirname "$0")/lib.sh"
command -v ovs-vswitchd >/dev/null || skip "needs ovs-vswitchd (openvswitch-switch)"
command -v tshark >/dev/null || skip "needs tshark"
c=vly-$$-c d=vly-$$-d o=vly-$$-o
ip netns add "$r"
ip netns add "$o"
ip -n "$r" link add u1 type veth peer name u2 netns "$o"
ip -n "$r" link set u1 up
ip -n "$o" link set u2 up
ip -n "$o" link set lo up
on "$o" ethtool -K u2 tx off gso off tso off gro off >/dev/null
# host NAMESPACE ROUTER DEVICE ADDRESS MAC
host() {
    ip netns add "$1"
    ip -n "$2" link add "$3" type veth peer name eth0 netns "$1"
    on "$1" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
    ip -n "$1" link set eth0 address "$5" mtu 1400
    ip -n "$1" addr add "$4/24" dev eth0
    ip -n "$1" link set lo up
    ip -n "$1" link set eth0 up
    on "$1" ethtool -K eth0 tx off gso off tso off gro off >/dev/null
    ip -n "$2" link set "$3" up
}
host "$a" "$r" one 10.0.9.1 06:00:00:00:00:0a
host "$b" "$r" two 10.0.9.1 06:00:00:00:00:0b
host "$c" "$o" one 10.0.9.2 06:00:00:00:00:0c
host "$d" "$o" two 10.0.9.2 06:00:00:00:00:0d

# Both ends have a database of their own.
mkdir "$work/theirs"
for folder in "$work" "$work/theirs"; do
    ovsdb-tool create "$folder/conf.db" /usr/share/openvswitch/vswitch.ovsschema
    ovsdb-server "$folder/conf.db" --remote="punix:$folder/db.sock" --unixctl="$folder/db.ctl" 2>>"$work/db.log" &
    daemons+=($!)
    until_true ovs-vsctl --db="unix:$folder/db.sock" --no-wait init
done
ours() { timeout 30 ovs-vsctl --db="unix:$work/db.sock" "$@"; }
theirs() { timeout 30 ovs-vsctl --db="unix:$work/theirs/db.sock" "$@"; }
printf '[workers]\ncount = 2\n[memory]\nbuffers = 8192\n[port.uplink]\nkind = "af_packet"\ndevice = "u1"\naddresses = ["192.0.2.1/24"]\n' >"$work/router.toml"
router router
ip netns exec "$r" "$bin/volley" --socket "$work/router.sock" ovs "unix:$work/db.sock" --folder "$work" --state "$work/ovs.json" 2>>"$work/ovs.log" &
daemons+=($!)
OVS_RUNDIR="$work/theirs" ip netns exec "$o" ovs-vswitchd "unix:$work/theirs/db.sock" --disable-system --unixctl="$work/theirs/own.ctl" 2>"$work/theirs.log" &
daemons+=($!)
theirs add-br br-phy -- set Bridge br-phy datapath_type=netdev -- add-port br-phy u2
until_true ip -n "$o" addr add 192.0.2.2/24 dev br-phy
ip -n "$o" link set br-phy up

bridges() {
    "$1" add-br br-int -- set-fail-mode br-int secure -- add-br br-tun -- set-fail-mode br-tun secure \
        -- set Bridge br-int "$2" -- set Bridge br-tun "$2" \
        -- add-port br-int one -- set Interface one ofport_request=1 -- add-port br-int two -- set Interface two ofport_request=2 \
        -- add-port br-int patch-tun -- set Interface patch-tun type=patch options:peer=patch-int ofport_request=3 \
        -- add-port br-tun patch-int -- set Interface patch-int type=patch options:peer=patch-tun ofport_request=1
}
bridges ours datapath_type=netdev
bridges theirs datapath_type=netdev
cat >"$work/int" <<'END'
in_port=1,actions=mod_vlan_vid:1,output:3
in_port=2,actions=mod_vlan_vid:2,output:3
in_port=3,dl_vlan=1,actions=strip_vlan,output:1
in_port=3,dl_vlan=2,actions=strip_vlan,output:2
END
# tun FROM: the flows of br-tun, whose packets come from there.
tun() {
    cat <<END
table=0,in_port=1,actions=resubmit(,2)
table=0,in_port=2,actions=resubmit(,4)
table=2,dl_vlan=1,actions=strip_vlan,set_tunnel:0x64,output:2
table=2,dl_vlan=2,actions=strip_vlan,set_field:0xc8->tun_id,output:2
table=4,tun_id=0x64,tun_src=$1,actions=mod_vlan_vid:1,output:1
table=4,tun_id=0xc8,actions=move:NXM_NX_TUN_ID[0..31]->NXM_NX_REG1[],resubmit(,5)
table=5,reg1=0xc8,actions=mod_vlan_vid:2,output:1
END
}
tun 192.0.2.2 >"$work/tun"
tun 192.0.2.1 >"$work/theirs/tun"
for folder in "$work" "$work/theirs"; do
    until_true test -S "$folder/br-int.mgmt"
    until_true test -S "$folder/br-tun.mgmt"
    ofctl add-flows "unix:$folder/br-int.mgmt" "$work/int"
    ofctl add-flows "unix:$folder/br-tun.mgmt" "$folder/tun"
done
ofctl dump-flows "unix:$work/br-tun.mgmt" | has 'actions=strip_vlan,set_tunnel:0x64,output:2'
ofctl dump-flows "unix:$work/br-tun.mgmt" | has 'tun_id=0x64,tun_src=192.0.2.2 actions=mod_vlan_vid:1'

meets() { on "$1" ping -q -c 1 -W 1 10.0.9.2 >/dev/null && ip -n "$1" neigh | has "10.0.9.2 .*$2"; }
# tunnel TYPE FILTER FIELD ONE TWO: each tenant meets its own, and outside stands the number that the flows say.
tunnel() {
    local kind=$1 filter=$2 field=$3 one=$4 two=$5
    ours add-port br-tun vx0 -- set Interface vx0 type="$kind" options:key=flow options:local_ip=192.0.2.1 options:remote_ip=192.0.2.2 ofport_request=2
    theirs add-port br-tun vx0 -- set Interface vx0 type="$kind" options:key=flow options:local_ip=192.0.2.2 options:remote_ip=192.0.2.1 ofport_request=2
    ours get Interface vx0 error | has -x '\[\]'
    until_true meets "$a" 06:00:00:00:00:0c
    until_true meets "$b" 06:00:00:00:00:0d
    on "$o" tcpdump -n -U -i u2 -w "$work/$kind.pcap" 2>"$work/dump" &
    dump=$!
    daemons+=($dump)
    until_true has listening "$work/dump"
    pings "$a" 10.0.9.2 | has '3 received'
    pings "$b" 10.0.9.2 | has '3 received'
    on "$a" ping -q -c 2 -i 0.2 -W 2 -s 1300 10.0.9.2 | has '2 received'
    sleep 0.5
    kill $dump
    wait $dump || true
    # Requests and answers, by who sent them and the number around them.
    tshark -n -r "$work/$kind.pcap" -Y "$filter && icmp" -T fields -E occurrence=l -e eth.src -e "$field" 2>/dev/null |
        tr '\t' ' ' | sort -u >"$work/$kind.seen"
    diff "$work/$kind.seen" - <<END || { echo "$kind: what was seen outside, and what was to be"; exit 1; }
06:00:00:00:00:0a $one
06:00:00:00:00:0b $two
06:00:00:00:00:0c $one
06:00:00:00:00:0d $two
END
}
tunnel vxlan vxlan vxlan.vni 100 200

# What is told of it: where a packet would go, what workers remember, and how it fared.
appctl() { ovs-appctl -t "$work"/ovs-vswitchd.*.ctl "$@"; }
appctl ofproto/trace br-tun in_port=1,dl_vlan=1,icmp >"$work/told"
has '^ *set_tunnel:0x64$' "$work/told" || has 'set_field:0x64->tun_id' "$work/told" || has 'load:0x64->NXM_NX_TUN_ID' "$work/told"
has 'Datapath actions: pop_vlan,set(tunnel(tun_id=0x64)),2' "$work/told"
has 'Final flow: .*tun_id=0x64' "$work/told"
appctl ofproto/trace br-tun in_port=2,tun_id=0x64,tun_src=192.0.2.2,icmp | has 'Datapath actions: push_vlan(vid=1,pcp=0),1'
appctl ofproto/trace br-tun in_port=2,tun_id=0x65,tun_src=192.0.2.2,icmp | has 'Datapath actions: drop'
appctl dpif/dump-flows br-tun | has 'tunnel(tun_id=0x64,src=192.0.2.2)'
appctl dpif/dump-flows br-tun | has 'tunnel(tun_id=0xc8)'

# Another number is another network, from the first packet on.
ofctl mod-flows "unix:$work/br-tun.mgmt" 'table=2,dl_vlan=2,actions=strip_vlan,set_tunnel:0xc9,output:2'
! on "$b" ping -q -c 2 -i 0.2 -W 1 10.0.9.2 >/dev/null || { echo "tenant two is met with another number"; exit 1; }
pings "$a" 10.0.9.2 | has '3 received'
ofctl mod-flows "unix:$work/br-tun.mgmt" 'table=2,dl_vlan=2,actions=strip_vlan,set_tunnel:0xc8,output:2'
pings "$b" 10.0.9.2 | has '3 received'
# A packet of a controller's leaves with the number that it says.
ofctl packet-out "unix:$work/br-tun.mgmt" 'in_port=LOCAL, packet=06000000000c06000000000a88b500010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748, actions=set_tunnel:0x64,output:2'
until_true sh -c "ovs-ofctl dump-flows unix:$work/theirs/br-tun.mgmt table=4,tun_id=0x64 | grep -q n_packets=[1-9]"

# What NORMAL floods has the number, too: nothing is learned here, as answers do not come by NORMAL.
ofctl mod-flows "unix:$work/br-tun.mgmt" 'table=2,dl_vlan=1,actions=strip_vlan,set_tunnel:0x64,NORMAL'
ip -n "$a" neigh flush all
until_true meets "$a" 06:00:00:00:00:0c
pings "$a" 10.0.9.2 | has '3 received'
ofctl mod-flows "unix:$work/br-tun.mgmt" 'table=2,dl_vlan=1,actions=strip_vlan,set_tunnel:0x64,output:2'

# A tunnel of a number of its own comes before one that takes any; flows see that number.
ours add-port br-tun fixed -- set Interface fixed type=vxlan options:key=0x64 options:local_ip=192.0.2.1 options:remote_ip=192.0.2.2 ofport_request=7
until_true sh -c "ovs-ofctl show unix:$work/br-tun.mgmt | grep -q '7(fixed)'"
! on "$a" ping -q -c 2 -i 0.2 -W 1 10.0.9.2 >/dev/null || { echo "no flow is for port 7"; exit 1; }
ofctl add-flow "unix:$work/br-tun.mgmt" 'table=0,in_port=7,tun_id=0x64,actions=resubmit(,4)'
pings "$a" 10.0.9.2 | has '3 received'
ours del-port br-tun fixed
until_true meets "$a" 06:00:00:00:00:0c

# Flows say the other end, too, as Antrea's have it: nothing goes anywhere before they do, and then there alone.
# directed FOLDER END: what both tenants send there goes to END.
directed() {
    ofctl mod-flows "unix:$1/br-tun.mgmt" "table=2,dl_vlan=1,actions=strip_vlan,set_tunnel:0x64,set_field:$2->tun_dst,output:2"
    ofctl mod-flows "unix:$1/br-tun.mgmt" "table=2,dl_vlan=2,actions=strip_vlan,set_tunnel:0xc8,set_field:$2->tun_dst,output:2"
}
ours set Interface vx0 options:remote_ip=flow
theirs set Interface vx0 options:remote_ip=flow
ours get Interface vx0 error | has -x '\[\]'
says_none() { ! on "$a" ping -q -c 1 -W 1 10.0.9.2 >/dev/null && ctl router show errors | has 'tunnel-encap *no-remote'; }
until_true says_none
directed "$work" 192.0.2.2
directed "$work/theirs" 192.0.2.1
until_true meets "$a" 06:00:00:00:00:0c
until_true meets "$b" 06:00:00:00:00:0d
pings "$a" 10.0.9.2 | has '3 received'
pings "$b" 10.0.9.2 | has '3 received'
appctl ofproto/trace br-tun in_port=1,dl_vlan=1,icmp | has 'Datapath actions: pop_vlan,set(tunnel(tun_id=0x64,dst=192.0.2.2)),2'
appctl ofproto/trace br-tun in_port=2,tun_id=0x64,tun_src=192.0.2.3,icmp | has 'Datapath actions: drop'
directed "$work" 192.0.2.77
! on "$a" ping -q -c 2 -i 0.2 -W 1 10.0.9.2 >/dev/null || { echo "192.0.2.77 is nobody"; exit 1; }
# Our end, too: from where flows say, which Open vSwitch sees.
# sees FOLDER MATCH: packets of the tunnel are like this there, as a flow in front of all others says.
sees() {
    ofctl add-flow "unix:$1/br-tun.mgmt" "table=0,priority=65000,in_port=2,$2,actions=resubmit(,4)"
    has_some() { on "$a" ping -q -c 1 -W 1 10.0.9.2 >/dev/null || true; ofctl dump-flows "unix:$1/br-tun.mgmt" | has 'n_packets=[1-9].*priority=65000,'; }
    until_true has_some "$1"
    ofctl --strict del-flows "unix:$1/br-tun.mgmt" "table=0,priority=65000,in_port=2,$2"
}
ours set Interface vx0 options:local_ip=flow
ours get Interface vx0 error | has -x '\[\]'
leaves_from() { ofctl mod-flows "unix:$work/br-tun.mgmt" "table=2,dl_vlan=1,actions=strip_vlan,set_tunnel:0x64,set_field:192.0.2.2->tun_dst,set_field:$1->tun_src,output:2"; }
for end in 192.0.2.1 192.0.2.66; do
    leaves_from $end
    sees "$work/theirs" "tun_src=$end"
done
appctl ofproto/trace br-tun in_port=1,dl_vlan=1,icmp | has 'Datapath actions: pop_vlan,set(tunnel(tun_id=0x64,src=192.0.2.66,dst=192.0.2.2)),2'
directed "$work" 192.0.2.2
sees "$work/theirs" tun_src=192.0.2.1
pings "$a" 10.0.9.2 | has '3 received'
# Without an end of ours flows say the other one alone, and packets leave from the address of the way.
ours remove Interface vx0 options local_ip
ours get Interface vx0 error | has -x '\[\]'
until_true meets "$a" 06:00:00:00:00:0c
pings "$a" 10.0.9.2 | has '3 received'
sees "$work/theirs" tun_src=192.0.2.1
# And the usual command, which names neither flows nor an end of ours.
ours set Interface vx0 options:remote_ip=192.0.2.2
ours get Interface vx0 error | has -x '\[\]'
until_true meets "$a" 06:00:00:00:00:0c
pings "$a" 10.0.9.2 | has '3 received'
sees "$work/theirs" tun_src=192.0.2.1
sees "$work" tun_dst=192.0.2.1
ours set Interface vx0 options:local_ip=flow 2>"$work/told" || true
ours get Interface vx0 error | has 'local_ip=flow requires options:remote_ip=flow'
ours set Interface vx0 options:local_ip=192.0.2.1 options:remote_ip=flow
directed "$work" 192.0.2.77
# What NORMAL floods goes there, too.
ofctl mod-flows "unix:$work/br-tun.mgmt" 'table=2,dl_vlan=1,actions=strip_vlan,set_tunnel:0x64,set_field:192.0.2.2->tun_dst,NORMAL'
ip -n "$a" neigh flush all
until_true meets "$a" 06:00:00:00:00:0c
pings "$a" 10.0.9.2 | has '3 received'
ofctl add-flows "unix:$work/br-tun.mgmt" "$work/tun"
ofctl add-flows "unix:$work/theirs/br-tun.mgmt" "$work/theirs/tun"

# The same by the others.
for kind in geneve gre; do
    ours del-port br-tun vx0
    theirs del-port br-tun vx0
    until_true sh -c "! ovs-ofctl show unix:$work/br-tun.mgmt | grep -q vx0"
    case $kind in
        geneve) tunnel geneve geneve geneve.vni 0x000064 0x0000c8 ;;
        gre) tunnel gre gre gre.key 0x00000064 0x000000c8 ;;
    esac
    [ $kind = geneve ] || continue
    # At another port than the usual one.
    ours set Interface vx0 options:dst_port=6082
    theirs set Interface vx0 options:dst_port=6082
    ours get Interface vx0 error | has -x '\[\]'
    until_true meets "$a" 06:00:00:00:00:0c
    pings "$a" 10.0.9.2 | has '3 received'
done
# What is not done is an error of its row.
ours set Interface vx0 options:out_key=5 2>"$work/told" || true
ours get Interface vx0 error | has 'are to be both flow, or neither'
echo "ok $name"
