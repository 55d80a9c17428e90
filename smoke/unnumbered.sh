#!/usr/bin/env bash
# A link without a network: port p2 has no address of its own and speaks with p1's (RFC 1812 section 2.2.7). Host b, at
# its other end, has an address and no network either; routes alone say who is where.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
two_ports af_packet | sed 's,addresses = \["10.0.2.1/24"\],unnumbered = "p1",' >"$work/router.toml"
cat >>"$work/router.toml" <<'EOF'
[[route]]
prefix = "10.0.2.2/32"
via = [{ port = "p2" }]
[[route]]
prefix = "10.9.0.0/16"
via = [{ address = "10.0.2.2", port = "p2" }]
EOF
ip -n "$b" addr flush dev eth0
ip -n "$b" addr add 10.0.2.2/32 dev eth0
ip -n "$b" addr add 10.9.0.1/32 dev lo
ip -n "$b" route add 10.0.1.1 dev eth0 scope link src 10.0.2.2
ip -n "$b" route add default via 10.0.1.1 dev eth0
on "$b" tcpdump -lni eth0 arp or icmp >"$work/heard.log" 2>"$work/tcpdump.log" &
daemons+=($!)
until_true grep -q listening "$work/tcpdump.log"
router router

# Through it, to it, and beyond it.
until_true pings "$a" 10.0.2.2
until_true pings "$a" 10.9.0.1
until_true pings "$b" 10.0.1.2
until_true pings "$b" 10.0.1.1
heard() { has "$1" <"$work/heard.log"; }
until_true heard 'who-has 10.0.2.2 tell 10.0.1.1'
own=$(json '.[] | select(.name == "p2").mac' router show ports)
ip -n "$b" neigh show 10.0.1.1 dev eth0 | has "lladdr $own" || fail "10.0.1.1 is not behind p2's MAC"

# Errors come from the address that it borrows.
dies() { on "$b" ping -c 1 -W 1 -t 1 10.0.1.2; heard '10.0.1.1 > 10.0.2.2: ICMP time exceeded'; }
until_true dies

# The lender takes another address: so does who borrows it.
ctl router address add 10.7.0.1/24 port p1
ctl router address del 10.0.1.1/24 port p1
ip -n "$b" route add 10.7.0.1 dev eth0 scope link src 10.0.2.2
until_true pings "$b" 10.7.0.1
ip -n "$b" neigh flush dev eth0
on "$b" ping -c 1 -W 1 10.0.1.1 >/dev/null && fail "it speaks with an address that is nobody's"

# Without a lender it speaks no IPv4, and no next hop is behind it.
ctl router port set p2 unnumbered off 2>/dev/null && fail "a next hop lost its port"
ctl router route del 10.9.0.0/16
ctl router port set p2 unnumbered off
ip -n "$b" neigh flush dev eth0
on "$b" ping -c 1 -W 1 10.7.0.1 >/dev/null && fail "it answers with nobody's address"
echo "ok $name"
