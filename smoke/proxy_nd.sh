#!/usr/bin/env bash
# ND proxy (RFC 4389): hosts a and b take themselves to be on one link, 2001:db8:9::/64; the router between them knows b behind p2
# and answers for each towards the other. Nobody is answered for who is nowhere, nor so that a host could not take an address.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; ctl router show neighbors; ctl router show errors; exit 1; }
hosts
ip -n "$a" addr add 2001:db8:9::a/64 dev eth0 nodad
ip -n "$b" addr add 2001:db8:9::b/64 dev eth0 nodad
ip -n "$b" addr add 2001:db8:2::2/64 dev eth0 nodad
{
    two_ports af_packet | sed -e 's,"10.0.1.1/24",&\, "2001:db8:9::1/64",' -e 's,"10.0.2.1/24",&\, "2001:db8:2::1/64",'
    printf '[[route]]\nprefix = "2001:db8:9::b/128"\nport = "p2"\n'
} >"$work/router.toml"
router router
on "$a" tcpdump -U -ni eth0 -w "$work/heard.pcap" icmp6 2>"$work/tcpdump.log" &
daemons+=($!)
until_true grep -q listening "$work/tcpdump.log"
until_true on "$a" ping -6 -q -c 1 -W 2 2001:db8:9::1
reaches() { on "$a" ping -6 -q -c 1 -W 2 -I 2001:db8:9::a "$1"; }
! reaches 2001:db8:9::b >/dev/null || fail "a reaches b, and nobody stands in"
for n in 1 2; do ctl router port set p$n proxy_nd 2001:db8:9::/64; done
for host in "$a" "$b"; do ip -n "$host" -6 neigh flush dev eth0; done
until_true reaches 2001:db8:9::b

# The answer has the router's MAC, is solicited, overrides nothing, is no router's, and comes from an address of the router's.
mac=$(json '.[] | select(.name == "p1") | .mac' router show ports | tr -d '"')
said() { tshark -r "$work/heard.pcap" -Y "icmpv6.type == 136 && eth.src == $mac && icmpv6.nd.na.target_address == $1" 2>/dev/null | has .; }
until_true said "2001:db8:9::b && icmpv6.nd.na.flag.s == 1 && icmpv6.nd.na.flag.o == 0 && icmpv6.nd.na.flag.r == 0 && \
    icmpv6.opt.linkaddr == $mac && ipv6.src == 2001:db8:9::1 && ipv6.hlim == 255"

# Who would be on the asker's own link is not answered for.
! reaches 2001:db8:9::77 >/dev/null || fail "somebody is 9::77"
! said 2001:db8:9::77 || fail "it stands in for who is nowhere"
# A host takes an address of a proxied network whose owner nobody knows; one whose owner is known behind p2 it does not get.
ctl router port set p1 proxy_nd 2001:db8:2::/64
ip -n "$a" addr add 2001:db8:2::ee/128 dev eth0
state() { ip -n "$a" -6 -j addr show dev eth0 | jq -e ".[].addr_info[] | select(.local == \"$1\") | $2"; }
until_true state 2001:db8:2::ee '(.tentative or .dadfailed) | not'
on "$b" ping -6 -q -c 1 -W 5 2001:db8:2::1 >/dev/null || fail "b does not reach the router"
ip -n "$a" addr add 2001:db8:2::2/128 dev eth0
until_true state 2001:db8:2::2 .dadfailed

ctl router port set p1 proxy_nd off
ip -n "$a" -6 neigh flush dev eth0
! reaches 2001:db8:9::b >/dev/null || fail "it stands in still"
echo "ok $name"
