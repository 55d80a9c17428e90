#!/usr/bin/env bash
# A switch that watches listeners (MLD snooping, RFC 3810 and RFC 4541) learns our groups: from what we tell when an
# address comes, and again when its querier asks.
#
#   host a: eth0 ── v1: the router, behind a Linux bridge that watches
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
two_ports af_packet | sed 's,10.0.1.1/24",&\, "2001:db8:1::1/64",' >"$work/router.toml"
ip -n "$a" link add br0 type bridge mcast_snooping 1 mcast_querier 0 2>/dev/null || skip "no bridge with snooping"
ip -n "$a" addr flush dev eth0
ip -n "$a" link set eth0 master br0
ip -n "$a" link set br0 up
knows() { bridge -n "$a" mdb show dev br0 | has "port eth0 grp $1"; }
knows_not() { ! knows "$1"; }
group=ff02::1:ff00:1
router router
until_true knows $group

# Another address, another group; forgotten by the switch, they are told to who asks.
ctl router address add 2001:db8:1::77:7777/64 port p1
until_true knows ff02::1:ff77:7777
bridge -n "$a" mdb del dev br0 port eth0 grp $group
knows_not $group || fail "the switch forgot nothing"
ip -n "$a" link set br0 type bridge mcast_query_interval 200 mcast_startup_query_interval 200 mcast_query_response_interval 100
ip -n "$a" link set br0 type bridge mcast_querier 1
until_true knows $group
echo "ok $name"
