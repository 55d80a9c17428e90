#!/usr/bin/env bash
# Flows that are watched by Open vSwitch's own ovs-ofctl monitor, and flows that packets teach: what comes, changes and goes is told, in both forms;
# what was learned goes with its teacher, and sooner when a connection ends.
. "$(dirname "$0")/lib.sh"
for tool in ovs-ofctl socat; do command -v $tool >/dev/null || skip "$tool is missing"; done
fail() { echo "$1"; tail -n 40 "$work"/watched*.txt || true; ofctl dump-flows "$of" | tail -n 40; exit 1; }
bridge_of_flows
# Where the tool puts a socket of its own.
export OVS_RUNDIR=$work

# Two watch: one all, in 1.0, one what goes of table 1, as 1.4 has it.
ofctl add-flow "$of" 'cookie=0x7,priority=5,in_port=1,actions=output:2'
ovs-ofctl monitor "$of" watch: >"$work/watched.txt" 2>&1 & daemons+=($!)
until_true has -F 'event=ADDED table=0 cookie=0x7 in_port=1 actions=output:2' "$work/watched.txt" || fail "the flows that there are are not told"
ovs-ofctl -O OpenFlow14 monitor "$of" 'watch:!initial,!add,!modify,table=1' >"$work/watched14.txt" 2>&1 & daemons+=($!)
ofctl mod-flows "$of" 'in_port=1,actions=output:3'
until_true has 'event=MODIFIED table=0 cookie=[0-9a-fx]* in_port=1 actions=output:3' "$work/watched.txt" || fail "a change is not told"
ofctl add-flow "$of" 'cookie=0x8,table=1,priority=6,udp,actions=drop'
until_true has -F 'event=ADDED table=1 cookie=0x8 udp' "$work/watched.txt" || fail "an addition is not told"
# Until the second is there its like is taken out and put in again.
gone() {
    ofctl --strict del-flows "$of" 'table=1,priority=6,udp'
    ofctl add-flow "$of" 'cookie=0x8,table=1,priority=6,udp,actions=drop'
    has -F 'event=DELETED reason=delete table=1 cookie=0x8 udp' "$work/watched14.txt"
}
until_true gone || fail "what goes is not told in 1.4"
! has 'ADDED\|table=0' "$work/watched14.txt" || fail "what nobody asked for is told"
has -F 'event=DELETED reason=delete table=1 cookie=0x8 udp' "$work/watched.txt" || fail "what goes is not told"

# Stations are learned where TCP passes; the flow ends soon after FIN, and all with who taught them.
ofctl del-flows "$of"
ofctl add-flow "$of" 'priority=1,actions=NORMAL'
ofctl add-flow "$of" 'priority=9,tcp,actions=learn(table=1,idle_timeout=600,fin_idle_timeout=1,priority=7,cookie=0x5,delete_learned,eth_type=0x800,nw_proto=6,NXM_OF_TCP_SRC[],NXM_OF_ETH_SRC[]),resubmit(,1),NORMAL'
on "$b" socat TCP-LISTEN:7000,fork,reuseaddr SYSTEM:"echo here" & daemons+=($!)
hears() { on "$a" timeout 5 socat -T 2 - TCP:10.0.9.2:7000 </dev/null 2>/dev/null | has here; }
until_true hears || fail "nothing passes"
until_true has -F 'event=ADDED table=1 idle_timeout=600 cookie=0x5 tcp' "$work/watched.txt" || fail "nothing is learned"
# A short connection may be over before what it taught is there: the other side's port is known to the next.
ended() { hears; has -F 'event=DELETED reason=idle table=1 idle_timeout=1 cookie=0x5' "$work/watched.txt"; }
until_true ended || fail "a flow does not end with its connection"
until_true hears
learned() { ofctl dump-flows "$of" table=1 | has cookie=0x5; }
until_true learned || { until_true hears; learned; } || fail "nothing is learned again"
ofctl --strict del-flows "$of" 'priority=9,tcp'
! learned || fail "what was learned stays without who taught it"

# Who does not read is paused; when it does it knows in the end what there is: all but two of 30,000, of which it had heard of one.
ovs-ofctl monitor "$of" 'watch:!initial,table=2' >"$work/watched_late.txt" 2>&1 & late=$!
daemons+=($late)
heard() {
    ofctl add-flow "$of" 'table=2,arp,actions=drop'
    has event=ADDED "$work/watched_late.txt"
}
until_true heard || fail "the late one does not listen"
kill -STOP $late
seq 30000 | sed 's/.*/table=2,udp,tp_dst=&,actions=drop/' | ofctl add-flows "$of" -
for port in 7 29999; do ofctl del-flows "$of" "table=2,udp,tp_dst=$port"; done
kill -CONT $late
until_true has FLOW_MONITOR_RESUMED "$work/watched_late.txt" || fail "it does not go on"
has FLOW_MONITOR_PAUSED "$work/watched_late.txt" || fail "it is not paused"
knows() {
    awk 'match($0, /tp_dst=[0-9]+/) { flow = substr($0, RSTART, RLENGTH); known[flow] = 1; if (/event=DELETED/) delete known[flow] }
        END { exit !(length(known) == 29998 && !("tp_dst=7" in known) && !("tp_dst=29999" in known)) }' "$work/watched_late.txt"
}
until_true knows || fail "it does not know what there is"
echo "ok $name"
