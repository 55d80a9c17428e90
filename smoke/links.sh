#!/usr/bin/env bash
# What a router does for the hosts of its links: it answers ARP for what lies beyond it where it is asked to, and
# tells hosts of IPv6 to look for another router before it goes.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
on "$a" sysctl -qw net.ipv6.conf.eth0.accept_ra=2 net.ipv6.conf.eth0.router_solicitation_interval=1
two_ports af_packet | sed -e 's,10.0.1.1/24",&\, "2001:db8:1::1/64",' >"$work/router.toml"
printf '[port.p1.ra]\ninterval = "4s"\nlifetime = "10m"\n' >>"$work/router.toml"
router router

# Host a takes all of 10/8 for its link and knows no router: it hears of b by our answer alone.
ip -n "$a" addr flush dev eth0 scope global
ip -n "$a" addr add 10.0.1.2/8 dev eth0
until_true pings "$b" 10.0.2.1
on "$a" ping -c 1 -W 1 10.0.2.2 >/dev/null && fail "b was reached without proxy ARP"
ctl router port set p1 proxy_arp 10.0.2.0/24
until_true pings "$a" 10.0.2.2
own=$(json '.[] | select(.name == "p1").mac' router show ports)
told() { ip -n "$a" neigh show "$1" dev eth0; }
told 10.0.2.2 | has "lladdr $own" || fail "b is not behind our MAC: $(told 10.0.2.2)"
# Nobody stands in for who is on a's own link, nor for what has no route.
on "$a" ping -c 1 -W 1 10.0.1.9 >/dev/null && fail "10.0.1.9 answered"
on "$a" ping -c 1 -W 1 10.9.9.9 >/dev/null && fail "10.9.9.9 answered"
told 10.9.9.9 | has lladdr && fail "we stand in for what we have no way to"
ctl router port set p1 proxy_arp off
ip -n "$a" neigh flush dev eth0
on "$a" ping -c 1 -W 1 10.0.2.2 >/dev/null && fail "proxy ARP goes on"

# The last advertisement takes a's default route: when advertising ends, the port goes down, the router stops.
has_router() { ip -n "$a" -6 route show default | has 'proto ra'; }
has_none() { ! has_router; }
until_true has_router
ctl router port set p1 ra off
until_true has_none
ctl router port set p1 ra on
until_true has_router
ctl router port set p1 down
until_true has_none
ctl router port set p1 up
until_true has_router
kill "${daemons[0]}"
wait "${daemons[0]}" || fail "volleyd did not end well"
until_true has_none
echo "ok $name"
