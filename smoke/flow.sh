#!/usr/bin/env bash
# A bridge of flows, driven by Open vSwitch's own ovs-ofctl: what it says is what packets do, and counters are exact.
. "$(dirname "$0")/lib.sh"
command -v ovs-ofctl >/dev/null || skip "needs ovs-ofctl (openvswitch-switch)"
bridge_of_flows
# flow MATCH: packets and bytes of the flows of a match.
flow() { ofctl dump-flows "$of" "$1" | sed -n 's/.*n_packets=\([0-9]*\), n_bytes=\([0-9]*\).*/\1 \2/p'; }
counts() { [ "$(flow "$1")" = "$2" ] || { ofctl dump-flows "$of"; return 1; }; }

ofctl show "$of" | tee "$work/show.txt" | has ' 1(p1): addr:' || { cat "$work/show.txt"; exit 1; }
# Secure: nothing is done before somebody says so.
! pings "$a" 10.0.9.2 >/dev/null || { echo "packets pass without flows"; exit 1; }
ofctl add-flow "$of" 'priority=10,in_port=1,actions=output:2'
ofctl add-flow "$of" 'priority=10,in_port=2,actions=output:1'
until_true pings "$a" 10.0.9.2

# Counters: seven requests one way, seven answers back, 98 bytes each; ARP is another flow's.
ofctl add-flow "$of" 'priority=20,icmp,in_port=1,actions=output:2'
ofctl add-flow "$of" 'priority=20,icmp,in_port=2,actions=output:1'
on "$a" ping -q -c 7 -i 0.1 10.0.9.2 >/dev/null
until_true counts icmp,in_port=1 '7 686'
until_true counts icmp,in_port=2 '7 686'
ofctl dump-ports "$of" 1 | has 'rx pkts=[1-9]'

# Tables, registers, fields: port 3 answers in 2's name.
ofctl del-flows "$of"
ofctl add-flow "$of" 'table=0,priority=1,actions=load:7->NXM_NX_REG1[],resubmit(,5)'
ofctl add-flow "$of" 'table=5,reg1=7,arp,actions=FLOOD'
ofctl -O OpenFlow13 add-flow "$of" \
    'table=5,ip,in_port=1,nw_dst=10.0.9.2,actions=set_field:10.0.9.3->ip_dst,set_field:06:00:00:00:00:03->eth_dst,dec_ttl,output:3'
ofctl -O OpenFlow13 add-flow "$of" 'table=5,ip,in_port=3,actions=set_field:10.0.9.2->ip_src,output:1'
until_true pings "$a" 10.0.9.2
on "$a" ping -c 1 10.0.9.2 | has 'ttl=64'
ofctl -O OpenFlow13 dump-flows "$of" table=5 | has 'dec_ttl'
# Which flow of each table would have a packet is told, and what they come to.
ctl router explain in p1 ip src 10.0.9.1 dst 10.0.9.2 ttl 64 / icmp --json |
    jq -r '.walks[0].steps[].decisions[] | select(.what == "flow" or .what == "comes to").said' >"$work/explained.txt"
diff - "$work/explained.txt" <<'END'
table 0: priority 1, any packet: load:0x7->NXM_NX_REG1[],resubmit(,5)
  table 5: priority 32768, ip,in_port=1,ip_dst=10.0.9.2: set_field:10.0.9.3->ip_dst,set_field:06:00:00:00:00:03->eth_dst,dec_ttl,output:3
set_field:10.0.9.3->ip_dst, then set_field:06:00:00:00:00:03->eth_dst, then set_field:63->nw_ttl, then out of p3 (port 3)
END
# Of a packet that passes it is the same.
ctl router trace start --port p1 --protocol icmp --count 1 >/dev/null
on "$a" ping -q -c 1 10.0.9.2 >/dev/null
passed() { ctl router trace show --json | jq -r '.packets[].steps[].decisions[] | select(.what == "flow" or .what == "comes to").said' | diff - "$work/explained.txt"; }
until_true passed || { passed; exit 1; }

# The octet of a class: it is copied and put aside without the two bits that are none of it, and written so.
ofctl del-flows "$of"
ofctl add-flow "$of" 'priority=1,actions=NORMAL'
octet='push:NXM_OF_IP_TOS[],pop:NXM_NX_REG2[0..7],move:NXM_OF_IP_TOS[]->NXM_NX_REG1[0..7]'
ofctl add-flow "$of" "priority=2,icmp,in_port=1,actions=$octet,load:0x2b->NXM_OF_IP_TOS[],resubmit(,6)"
ofctl add-flow "$of" 'table=6,reg1=0xb8,reg2=0xb8,ip,nw_tos=0x28,nw_ecn=1,actions=output:2'
ofctl dump-flows "$of" | has -F "$octet,load:0x2b->NXM_OF_IP_TOS[],resubmit(,6)"
until_true on "$a" ping -q -c 1 -W 1 -Q 0xb9 10.0.9.2
! on "$a" ping -q -c 1 -W 1 -Q 0x29 10.0.9.2 || { ofctl dump-flows "$of"; exit 1; }

# As an ordinary bridge; a port that floods nothing; a group; what is wrong is told.
ofctl del-flows "$of"
ofctl add-flow "$of" 'actions=NORMAL'
until_true pings "$a" 10.0.9.3
ofctl mod-port "$of" p3 no-flood
ofctl show "$of" | has 'config: *NO_FLOOD'
ofctl -O OpenFlow13 add-group "$of" 'group_id=1,type=all,bucket=output:2,bucket=output:3'
ofctl -O OpenFlow13 add-flow "$of" 'priority=9,in_port=1,actions=group:1'
until_true pings "$a" 10.0.9.2
until_true pings "$a" 10.0.9.3
ofctl -O OpenFlow13 dump-groups "$of" | has 'group_id=1,type=all'
! ofctl -O OpenFlow13 add-flow "$of" 'actions=group:9' 2>"$work/error.txt" || exit 1
has OFPBAC_BAD_OUT_GROUP "$work/error.txt" || { cat "$work/error.txt"; exit 1; }

# A bundle, whole; a flow that ends; a packet of a controller's.
printf 'in_port=2,actions=drop\nin_port=3,actions=drop\n' >"$work/flows.txt"
ofctl --bundle replace-flows "$of" "$work/flows.txt"
[ "$(ofctl dump-flows "$of" | grep -c actions=drop)" = 2 ]
ofctl add-flow "$of" 'hard_timeout=1,in_port=1,actions=output:2'
gone() { ! ofctl dump-flows "$of" | has in_port=1; }
until_true gone
on "$b" timeout 30 tcpdump -n -i eth0 -c 1 ether proto 0x88b5 >"$work/seen.txt" 2>"$work/dump.txt" &
dump=$!
until_true has listening "$work/dump.txt"
ofctl packet-out "$of" 'in_port=1,packet=060000000002060000000001 88b5 00000000000000000000000000000000,actions=output:2' 2>/dev/null ||
    ofctl packet-out "$of" in_port=1,packet=06000000000206000000000188b500000000000000000000000000000000,actions=output:2
wait $dump
echo "ok $name"
