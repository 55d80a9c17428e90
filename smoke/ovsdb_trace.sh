#!/usr/bin/env bash
# `ovs-appctl ofproto/trace` says what Debian's own ovs-vswitchd says of the same flows; what workers remember is told by dump-flows.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ovsdb.bash"
command -v ovs-vswitchd >/dev/null || skip "needs ovs-vswitchd (openvswitch-switch)"
# Theirs: a bridge without devices, with the same ports and flows.
mkdir "$work/theirs"
ovsdb-tool create "$work/theirs/conf.db" /usr/share/openvswitch/vswitch.ovsschema
export OVS_RUNDIR="$work/theirs"
ovsdb-server "$work/theirs/conf.db" --remote="punix:$work/theirs/db.sock" --unixctl="$work/theirs/db.ctl" 2>>"$work/db.log" &
daemons+=($!)
theirs() { ovs-vsctl --db="unix:$work/theirs/db.sock" "$@"; }
until_true theirs --no-wait init
ovs-vswitchd "unix:$work/theirs/db.sock" --enable-dummy=override --disable-system --unixctl="$work/theirs/own.ctl" 2>"$work/theirs/log" &
daemons+=($!)
ports=()
for number in 1 2 3; do ports+=(-- add-port br0 v$number -- set Interface v$number ofport_request=$number); done
theirs add-br br0 -- set Bridge br0 datapath-type=dummy fail-mode=secure "${ports[@]}"
vs add-br br0 -- set-fail-mode br0 secure "${ports[@]}"
cat >"$work/flows" <<'END'
table=0,priority=100,ip,nw_dst=10.0.0.0/8,actions=load:0x7->NXM_NX_REG1[],resubmit(,5)
table=0,priority=90,in_port=1,dl_vlan=3,actions=pop_vlan,resubmit(,9),output:2,output:1,output:9
table=0,priority=80,in_port=2,actions=clone(set_field:3->reg2,output:1),move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],output:3
table=0,priority=70,in_port=3,ip,actions=push_vlan:0x8100,set_field:4105->vlan_vid,output:1
table=0,priority=60,in_port=3,icmp6,icmp_type=135,actions=push:NXM_OF_IN_PORT[],pop:NXM_NX_REG0[0..15],output:NXM_NX_REG0[]
table=0,priority=50,dl_type=0x9999,actions=resubmit(,0)
table=0,priority=40,dl_type=0x8888,actions=group:1,group:2,write_actions(output:3)
table=5,priority=5,tcp,tp_dst=80,cookie=0x12,actions=dec_ttl,set_field:02:00:00:00:00:09->eth_dst,set_queue:3,output:2
table=5,priority=4,udp,actions=ct(table=6,zone=9)
table=6,ct_state=+new,actions=output:2
table=6,ct_state=-new,actions=output:3
END
for of in "$work/br0.mgmt" "$work/theirs/br0.mgmt"; do
    ofctl -O OpenFlow13 add-group "unix:$of" group_id=1,type=all,bucket=output:2,bucket=output:1
    ofctl -O OpenFlow13 add-group "unix:$of" group_id=2,type=ff,bucket=watch_port:9,output:2
    ofctl -O OpenFlow13 add-flows "unix:$of" "$work/flows"
done
# Numbers of what begins again are each one's own; which bits decided, too.
trace() {
    ovs-appctl -t "$1" ofproto/trace "${@:2}" 2>&1 | grep -v -e '^Megaflow' -e 'server returned an error' |
        sed -E 's/recirc(_id=|\()0?x?[0-9a-f]+/recirc\1N/g; s/dont_send=[01]/dont_send=N/'
}
ours=$(echo "$work"/ovs-vswitchd.*.ctl) count=0
same() {
    diff <(trace "$work/theirs/own.ctl" "$@") <(trace "$ours" "$@") || { echo "ofproto/trace $*: theirs, ours"; exit 1; }
    count=$((count + 1))
}
web=in_port=1,tcp,nw_src=1.1.1.1,nw_dst=10.1.2.3,tcp_dst=80
same br0 $web,nw_ttl=64
same br0 $web,nw_ttl=64 --names
same br0 $web,nw_ttl=1 -generate
same br0 in_port=1,tcp,nw_dst=10.1.2.3,tcp_dst=81
same br0 in_port=1,dl_vlan=3,dl_vlan_pcp=1,ipv6,ipv6_src=::1
same br0 in_port=v2,dl_src=02:00:00:00:00:01,arp,arp_op=1
same br0 in_port=3,ip,nw_tos=184,ip_frag=first
same br0 in_port=3,icmp6,icmpv6_type=135,nd_target=::1
same br0 in_port=1,dl_type=0x9999
same br0 in_port=1,dl_type=0x8888
same br0 in_port=1,udp,nw_dst=10.9.9.9
same br0 in_port=1,udp,nw_dst=10.9.9.9 --ct-next trk,est
same br0 in_port=1 06000000000206000000000108004500001c0000000040110000010101010a01020300010050000800ab
for wrong in in_port=x in_port=1,foo=3 in_port=1,tcp_dst=80 ip,nw_dst=bad in_port=1,in_port=2; do same br0 $wrong; done
same nosuch in_port=1
same br0
same br0 in_port=1 zz
same br0 in_port=1 1234
same br0 in_port=1 -foo
same br0 in_port=1 --ct-next trk,foo
[ $count = 24 ]

# What packets came to, and how many: nothing for what nobody sent.
appctl() { ovs-appctl -t "$ours" "$@"; }
! appctl dpif/dump-flows br0 | has 'proto=1,' || { echo "flows of no packets"; exit 1; }
ofctl add-flow "unix:$work/br0.mgmt" 'table=0,priority=200,icmp,in_port=1,actions=output:2'
ofctl add-flow "unix:$work/br0.mgmt" 'table=0,priority=200,arp,actions=FLOOD'
ofctl add-flow "unix:$work/br0.mgmt" 'table=0,priority=200,icmp,in_port=2,actions=output:1'
# What was counted before flows were changed is forgotten with what was remembered: of six pings the first may be.
on "$a" ping -q -c 6 -i 0.1 10.0.9.2 >/dev/null
counted='\(packets:5, bytes:490\|packets:6, bytes:588\)'
dumped() { appctl dpif/dump-flows --names br0 | has "in_port(v1),packet_type(ns=0,id=0),eth_type(0x0800),ipv4(proto=1,frag=no), $counted, used:[0-9.]*s, actions:v2\$"; }
until_true dumped || { appctl dpif/dump-flows br0; exit 1; }
appctl dpctl/dump-flows filter=icmp,in_port=1 | has "$counted, .*actions:2\$"
appctl dpctl/dump-flows filter=icmp | has 'flow-dump from worker [01]:'
appctl upcall/show | has '(current [2-9])'
appctl dpctl/show -s | has 'flows: [2-9]'
appctl dpif/show | has 'hit:[1-9][0-9]* missed:[1-9]'
appctl fdb/stats-show br0 | has 'Current/maximum MAC entries in the table: 0/'
# Flows that change are forgotten.
ofctl del-flows "unix:$work/br0.mgmt"
gone() { ! appctl dpctl/dump-flows | has 'actions:[12]$'; }
until_true gone
echo "ok $name"
