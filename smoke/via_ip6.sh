#!/usr/bin/env bash
# IPv4 by next hops of IPv6 (RFC 8950): the link between router and host b has no IPv4 network at all. The router asks
# for fe80::b by ND, what it sends there is IPv4; b is Linux, which does the same. Errors have an address of the router's.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
two_ports af_packet | sed 's,addresses = \["10.0.2.1/24"\],addresses = ["fe80::1/64"\, "2001:db8::1/64"],' >"$work/router.toml"
cat >>"$work/router.toml" <<'END'
[[route]]
prefix = "10.9.0.0/16"
via = [{ address = "fe80::b", port = "p2" }]
END
ip -n "$b" addr flush dev eth0
ip -n "$b" addr add fe80::b/64 dev eth0 nodad
ip -n "$b" addr add 2001:db8::b/64 dev eth0 nodad
ip -n "$b" addr add 10.9.0.1/32 dev lo
ip -n "$b" addr add 10.8.0.1/32 dev lo
ip -n "$b" route replace default src 10.9.0.1 via inet6 fe80::1 dev eth0
on "$b" tcpdump -lenni eth0 >"$work/heard.log" 2>"$work/tcpdump.log" &
daemons+=($!)
until_true grep -q listening "$work/tcpdump.log"
router router
heard() { has "$1" <"$work/heard.log"; }

# There and back, asked for by ND alone.
until_true pings "$a" 10.9.0.1
until_true heard 'ICMP6, neighbor solicitation, who has fe80::b'
own=$(json '.[] | select(.name == "p2").mac' router show ports)
theirs=$(on "$b" cat /sys/class/net/eth0/address)
until_true heard "$own > $theirs, ethertype IPv4 (0x0800), .*10.0.1.2 > 10.9.0.1: ICMP echo request"
heard 'ethertype ARP' && fail "somebody was asked for by ARP"
ctl router show routes | has '10.9.0.0/16.*fe80::b' || fail "the route is not shown with its next hop"
ctl router lookup 10.9.0.1 | has "out of p2, next hop fe80::b, MAC $theirs" || fail "it leads elsewhere"

# A global address, at run time.
ctl router route add 10.8.0.0/16 via 2001:db8::b port p2 >/dev/null
until_true pings "$a" 10.8.0.1

# Errors: there is no address where the packet came in, so another one speaks.
dies() { on "$b" ping -c 1 -W 1 -t 1 10.0.1.2; heard '10.0.1.1 > 10.9.0.1: ICMP time exceeded'; }
until_true dies

# The neighbour takes another MAC: packets of IPv4 follow.
ip -n "$b" link set eth0 address 06:00:00:00:00:77
until_true pings "$a" 10.9.0.1
heard "$own > 06:00:00:00:00:77, ethertype IPv4 .*10.0.1.2 > 10.9.0.1" || fail "the old MAC is still in use"

# What cannot be is refused in words.
refused() { ! ctl router route add 10.7.0.0/16 "${@:2}" >"$work/refused" 2>&1 && has -- "$1" <"$work/refused"; }
refused 'a `port` with an IPv6 next hop' via 2001:db8::b || fail "a port is not asked for: $(cat "$work/refused")"
refused 'speaks no IPv6' via fe80::b port p1 || fail "a port without IPv6 took it: $(cat "$work/refused")"

# The last route goes, packets with it; it comes back.
ctl router route del 10.8.0.0/16
ctl router route del 10.9.0.0/16
ctl router lookup 10.9.0.1 | has 'fe80::b' && fail "it leads there without a route"
ctl router route add 10.9.0.0/16 via fe80::b port p2 >/dev/null
until_true pings "$a" 10.9.0.1
echo "ok $name"
