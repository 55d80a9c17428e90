#!/usr/bin/env bash
# Flows that sample: `sample(…)` of ovs-ofctl, with the sets of collectors that Open vSwitch's database has; a collector is told of exactly
# the packets that passed, in the observation domain and at the point that the flow says, and of one in ten as of all. And spanning trees
# as ovs-appctl shows them, of ports with a tag as well.
. "$(dirname "$0")/lib.sh"
command -v tshark >/dev/null || skip "needs tshark"
. "$(dirname "$0")/ovsdb.bash"
of="unix:$work/br0.mgmt"
ofctl() { timeout 30 ovs-ofctl "$@"; }
appctl() { OVS_RUNDIR="$work" timeout 30 ovs-appctl "$@"; }

ip -n "$r" link set lo up
on "$r" python3 -c 'import socket, signal
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); one.bind(("127.0.0.1", 4739)); signal.pause()' &
daemons+=($!)
on "$r" tcpdump -n -U -i lo -w "$work/told.pcap" udp port 4739 2>"$work/tcpdump.txt" &
daemons+=($!)
until_true has listening "$work/tcpdump.txt"

vs add-br br0 -- set bridge br0 fail_mode=secure -- add-port br0 v1 -- add-port br0 v2 -- add-port br0 v3
until_true test -S "$work/br0.mgmt"
vs -- --id=@br get Bridge br0 -- --id=@i create IPFIX targets='"127.0.0.1:4739"' cache_active_timeout=1 \
    -- create Flow_Sample_Collector_Set id=7 bridge=@br ipfix=@i >/dev/null
until_true is '.[] | .name + " " + .protocol' 'br0.set7 ipfix' export

# Every form is taken and told as it was said; what is wrong is refused as Open vSwitch refuses it.
add() { ofctl add-flow "$of" "$1"; }
base='probability=65535,collector_set_id=7,obs_domain_id=9,obs_point_id=4278190081'
add "priority=1,actions=NORMAL"
add "priority=9,udp,tp_dst=1111,actions=sample($base),NORMAL"
add "priority=9,udp,tp_dst=2222,actions=sample(probability=6554,collector_set_id=7,obs_domain_id=10,obs_point_id=2),NORMAL"
add "priority=9,udp,tp_dst=3333,actions=sample($base,sampling_port=2,egress),NORMAL"
add "priority=9,udp,tp_dst=4444,actions=sample($base,sampling_port=2),NORMAL"
add "priority=9,udp,tp_dst=5555,actions=sample(probability=65535,collector_set_id=8),NORMAL"
ofctl dump-flows "$of" >"$work/flows.txt"
has "actions=sample($base),NORMAL" "$work/flows.txt"
has "actions=sample($base,sampling_port=v2,egress),NORMAL" "$work/flows.txt" || has "actions=sample($base,sampling_port=2,egress),NORMAL" "$work/flows.txt"
ofctl -O OpenFlow15 dump-flows "$of" | has "actions=sample($base),NORMAL"
! add 'priority=3,actions=sample(probability=0,collector_set_id=7)' 2>"$work/wrong.txt" || exit 1
appctl ofproto/trace br0 in_port=1,udp,tp_dst=2222 | has \
    'Datapath actions: sample(sample=10.0%,actions(userspace(pid=0,flow_sample(probability=6554,collector_set_id=7,obs_domain_id=10,obs_point_id=2,output_port=4294967295)))),'
appctl ofproto/trace br0 in_port=1,udp,tp_dst=4444 | has 'obs_point_id=4278190081,output_port=2)),'

# Packets of 128 octets of IP: so many to each of these ports.
until_true pings "$a" 10.0.9.2
on "$a" python3 -c 'import socket
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.bind(("10.0.9.1", 999))
import time
for port, many in ((1111, 7), (2222, 5000), (3333, 5), (4444, 3), (5555, 9), (6666, 4)):
    for number in range(many):
        one.sendto(bytes(100), ("10.0.9.2", port))
        if number % 50 == 49: time.sleep(0.01)'
# A controller's packet is sampled as well.
segment=0600000000020600000000010800$(printf '4500%04x0000000040110000' 128)0a0009010a000902$(printf '%04x%04x%04x0000' 999 7777 108)$(printf '%0200d' 0)
ofctl packet-out "$of" "in_port=1,packet=$segment,actions=sample($base),output:2"
number() { json ".[] | select(.name == \"br0.set7\") | .ports[] | select(.port == \"$1\") | .number" router show export; }
n1=$(number v1) n2=$(number v2)
# Domain, point, port, where it came in, where it left, direction, packets, octets.
cat >"$work/wanted" <<END
9 4278190081 1111 $n1 0 0 7 896
9 4278190081 3333 $n1 $n2 1 5 640
9 4278190081 4444 $n1 $n2 1 3 384
9 4278190081 7777 $n1 0 0 1 128
END
told() {
    tshark -r "$work/told.pcap" -d udp.port==4739,cflow -Y cflow -T pdml 2>/dev/null | python3 "$root/smoke/ovsdb_sample_told.py" >"$work/told"
    [ "$(grep -cxFf "$work/wanted" "$work/told")" = 4 ] && has '^10 2 2222 ' "$work/told"
}
until_true told || { cat "$work/told"; ctl router show export; exit 1; }
! grep -E ' (5555|6666) ' "$work/told" || { echo "told of what nobody asked for"; exit 1; }
# One in ten, each of which stands for ten: some 5000 of them.
counted=$(awk '$3 == 2222 { packets += $7 } END { print packets }' "$work/told")
[ "$counted" -ge 3800 ] && [ "$counted" -le 6200 ] && [ $((counted % 9)) = 0 ] || { echo "$counted packets of some 5000"; exit 1; }

# A set that is gone is told nothing more, and the flow stays.
vs --all destroy Flow_Sample_Collector_Set
gone() { [ "$(json length router show export)" = 0 ]; }
until_true gone
pings "$a" 10.0.9.2 >/dev/null
! appctl ofproto/trace br0 in_port=1,udp,tp_dst=1111 | has 'flow_sample' || exit 1

# A spanning tree: ports with a tag are part of it.
appctl rstp/show >"$work/none.txt"
[ ! -s "$work/none.txt" ]
! appctl rstp/show br0 2>"$work/wrong.txt" || exit 1
has 'No such RSTP object' "$work/wrong.txt"
! appctl stp/show br0 2>"$work/wrong.txt" || exit 1
has 'no such stp object' "$work/wrong.txt"
vs set bridge br0 rstp_enable=true other_config:rstp-priority=4096 other_config:rstp-address=02:00:00:00:00:09 -- set port v3 tag=10 other_config:rstp-path-cost=77
shown() {
    appctl rstp/show br0 >"$work/rstp.txt" && grep -cE '^  v[123]  ' "$work/rstp.txt" | has -x 3 && has -E '^  v3         Designated [A-Z][a-z]+ +77       128\.[1-9]$' "$work/rstp.txt"
}
until_true shown || { cat "$work/rstp.txt"; ctl router show spanning-tree; exit 1; }
head -8 "$work/rstp.txt" | diff - <(cat <<END
---- br0 ----
Root ID:
  stp-priority    4096
  stp-system-id   02:00:00:00:00:09
  stp-hello-time  2s
  stp-max-age     20s
  stp-fwd-delay   15s
  This bridge is the root
END
)
role() { [ "$(vs get port v3 rstp_status:rstp_port_role)" = Designated ]; }
until_true role
vs set bridge br0 rstp_enable=false -- set bridge br0 stp_enable=true
old() { appctl stp/show br0 >"$work/stp.txt" && has -E '^  v1         designated (listening|learning|forwarding) ' "$work/stp.txt"; }
until_true old || { cat "$work/stp.txt"; exit 1; }
vs clear bridge br0 other_config -- set bridge br0 stp_enable=false
none() { [ "$(json length router show spanning-tree)" = 0 ]; }
until_true none
echo "ok $name"
