#!/usr/bin/env bash
# Packets and octets by next hop: exact, of ECMP members each for itself, of both families; off unless wanted, from zero
# when a route comes anew, and in the metrics.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; ctl router show next-hops; ctl router show routes --counters; exit 1; }
hosts
for last in 7 8; do ip -n "$b" addr add "10.0.2.$last/24" dev eth0; done
for last in $(seq 16); do ip -n "$b" addr add "192.0.2.$last/32" dev lo; done
ip -n "$b" addr add fd00:2::2/64 dev eth0 nodad
ip -n "$b" addr add 2001:db8::1/128 dev lo nodad
ip -n "$b" -6 route add default via fd00:2::1
ip -n "$a" addr add fd00:1::2/64 dev eth0 nodad
ip -n "$a" -6 route add default via fd00:1::1
{
    two_ports af_packet | sed -e 's|"10.0.1.1/24"|&, "fd00:1::1/64"|' -e 's|"10.0.2.1/24"|&, "fd00:2::1/64"|'
    printf '[[route]]\nprefix = "192.0.2.0/24"\nvia = ["10.0.2.7", "10.0.2.8"]\n'
    printf '[[route]]\nprefix = "2001:db8::/32"\nvia = "fd00:2::2"\n'
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
# count WHAT ADDRESS FAMILY: packets or octets of a next hop.
count() { json ".next_hops[] | select(.address == \"$2\" and .family == \"$3\") | .$1" router show next-hops; }
answered() {
    local last
    for last in $(seq 16); do on "$a" ping -q -c 1 -W 1 "192.0.2.$last" >/dev/null || return 1; done
    pings "$a" 2001:db8::1 >/dev/null
}
until_true answered
[ "$(count packets 10.0.2.7 ip4)" = 0 ] || fail "it counts unasked"
ctl router show next-hops | has 'nothing is counted' || fail "nobody says that nothing is counted"
ctl router next_hops set counters >/dev/null
for last in $(seq 16); do on "$a" ping -q -c 5 -i 0.01 -s 72 -W 2 "192.0.2.$last" >/dev/null || fail "pings are lost"; done
on "$a" ping -q -c 7 -i 0.01 -s 72 -W 2 2001:db8::1 >/dev/null || fail "pings are lost"
seven=$(count packets 10.0.2.7 ip4) eight=$(count packets 10.0.2.8 ip4)
[ $((seven + eight)) = 80 ] && [ "$seven" != 0 ] && [ "$eight" != 0 ] || fail "$seven and $eight of 80"
[ "$(count octets 10.0.2.7 ip4)" = $((seven * 100)) ] || fail "octets are not those of 100-octet packets"
[ "$(count packets fd00:2::2 ip6)" -ge 7 ] && [ "$(count octets fd00:2::2 ip6)" -ge $((7 * 120)) ] || fail "IPv6 is not counted"
ctl router show routes --counters | has "10.0.2.7 port p2 ($seven packets, $((seven * 100)) octets)" || fail "routes show others"
! ctl router show routes | has 'octets)' || fail "routes show them unasked"
on "$r" curl -sf --unix-socket "$work/router.sock" http://localhost/metrics >"$work/metrics" || fail "no metrics"
has "volley_next_hop_packets_total{address=\"10.0.2.7\",port=\"p2\",family=\"ip4\"} $seven" "$work/metrics" || fail "metrics say otherwise"

# A route that goes takes its numbers along; off again, nothing is counted.
ctl router route del 192.0.2.0/24 >/dev/null
ctl router route add 192.0.2.0/24 via 10.0.2.7 >/dev/null
[ "$(count packets 10.0.2.7 ip4)" = 0 ] || fail "what is new has old numbers"
on "$a" ping -q -c 3 -i 0.05 -W 2 192.0.2.1 >/dev/null
[ "$(count packets 10.0.2.7 ip4)" = 3 ] || fail "a new route is counted otherwise"
ctl router next_hops set counters off >/dev/null
on "$a" ping -q -c 3 -i 0.05 -W 2 192.0.2.1 >/dev/null
[ "$(count packets 10.0.2.7 ip4)" = 3 ] || fail "it counts on"
echo "ok $name"
