#!/usr/bin/env bash
# Labels of MPLS in flows, told by Open vSwitch's own ovs-ofctl: what leaves has them, as tcpdump sees it, and what comes with
# them is read anew when they are gone; what cannot be is refused.
. "$(dirname "$0")/lib.sh"
for tool in ovs-ofctl tcpdump; do command -v $tool >/dev/null || skip "$tool is missing"; done
fail() { echo "$1"; ofctl -O OpenFlow13 dump-flows "$of"; ctl router show errors; exit 1; }
bridge_of_flows
# count COOKIE: packets of a flow.
count() { ofctl dump-flows "$of" "cookie=$1/-1" | sed -n 's/.*n_packets=\([0-9]*\),.*/\1/p'; }

# Pings from a to b pass through two labels on their way, each looked at in a table of its own; ARP and answers go straight.
cat >"$work/labels.txt" <<'FLOWS'
table=0,priority=1,actions=NORMAL
cookie=1,table=0,priority=9,icmp,in_port=1,actions=push_mpls:0x8847,set_field:17->mpls_label,push_mpls:0x8847,set_field:18->mpls_label,goto_table:1
cookie=2,table=1,mpls,mpls_label=18,mpls_bos=0,actions=dec_mpls_ttl,output:3,pop_mpls:0x8847,goto_table:2
cookie=3,table=2,mpls,mpls_label=17,mpls_bos=1,actions=pop_mpls:0x0800,goto_table:3
cookie=4,table=3,icmp,nw_dst=10.0.9.2,actions=dec_ttl,output:2
FLOWS
ofctl -O OpenFlow13 add-flows "$of" "$work/labels.txt"
on "$c" tcpdump -n -e -l -i eth0 mpls >"$work/seen.txt" 2>"$work/dump.txt" & daemons+=($!)
until_true has listening "$work/dump.txt"
until_true pings "$a" 10.0.9.2 || fail "what was labelled does not come back"
labelled() {
    on "$a" ping -q -c 1 -W 1 10.0.9.2
    has -P 'ethertype MPLS unicast.*MPLS \(label 18, tc 0, ttl 63\).*\(label 17, tc 0, \[S\], ttl 64\)' "$work/seen.txt"
}
until_true labelled || { cat "$work/seen.txt"; fail "what left has other labels"; }
all() { for cookie in 1 2 3 4; do [ "$(count $cookie)" -ge 1 ] || return 1; done; }
until_true all || fail "not each table was passed"
on "$b" tcpdump -n -v -l -i eth0 'icmp[0] = 8' >"$work/seen.txt" 2>"$work/dump2.txt" & daemons+=($!)
until_true has listening "$work/dump2.txt"
changed() {
    on "$a" ping -q -c 1 -W 1 10.0.9.2
    has 'ttl 63,' "$work/seen.txt"
}
until_true changed || { cat "$work/seen.txt"; fail "what is behind the labels was not changed"; }

# A packet is explained as far as its labels; what is not there cannot be changed.
ctl router explain in p1 ip src 10.0.9.1 dst 10.0.9.2 ttl 64 / icmp --json |
    jq -r '.walks[0].steps[].decisions[] | select(.what == "comes to").said' >"$work/explained.txt"
has 'push_mpls:0x8847 with label 17, then push_mpls:0x8847 with label 18' "$work/explained.txt" || { cat "$work/explained.txt"; fail "it is not explained"; }
! ofctl -O OpenFlow13 add-flow "$of" 'ip,actions=pop_mpls:0x0800,output:1' 2>"$work/error.txt" || fail "a label that is not there is popped"
for version in OpenFlow10 OpenFlow13 OpenFlow15; do
    ofctl -O $version add-flow "$of" 'cookie=9,priority=3,mpls,actions=set_mpls_label:5,set_mpls_tc:1,set_mpls_ttl:9,output:1' || fail "$version cannot set labels"
    ofctl -O $version dump-flows "$of" cookie=9/-1 | has 'set_.*mpls_ttl' || fail "$version is told otherwise"
done
echo "ok $name"
