#!/usr/bin/env bash
# FRR's next-hop groups: staticd's routes over two next hops come as a group of zebra's that routes share; flows
# take both, one that goes leaves all routes at once, blackholes and IPv6 come the same way, and nothing waits.
#
#   host a ── p1 │ volleyd │ p2 ── 10.0.2.2 ─┬ host b       zebra, staticd beside
#                          │ p3 ── 10.0.3.2 ─┘
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/frr.bash"
fail() { echo "$1"; ctl router show fpm; ctl router show routes --source dynamic; frr 1 'show nexthop-group rib'; exit 1; }
frr_is_there
hosts
ip -n "$r" link add v3 type veth peer name eth1 netns "$b"
ip -n "$r" link set v3 up
for at in 2:eth0 3:eth1; do
    ip -n "$b" addr add "10.0.${at%:*}.2/24" dev "${at#*:}" 2>/dev/null || true
    ip -n "$b" addr add "fd00:${at%:*}::2/64" dev "${at#*:}" nodad
done
ip -n "$b" link set eth1 up
for last in $(seq 16); do ip -n "$b" addr add "192.0.2.$last/32" dev lo; done
on "$b" sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth0.rp_filter=0 net.ipv4.conf.eth1.rp_filter=0
frr_space 1
{
    fabric_head 1
    frr_port p1 v1 10.0.1.1/24 "$(frr_name 1)"
    frr_port p2 v2 10.0.2.1/24 "$(frr_name 1)" | sed 's|^addresses.*|addresses = ["10.0.2.1/24", "fd00:2::1/64"]|'
    frr_port p3 v3 10.0.3.1/24 "$(frr_name 1)" | sed 's|^addresses.*|addresses = ["10.0.3.1/24", "fd00:3::1/64"]|'
} >"$work/router.toml"
cat >"$work/frr1.conf" <<'CONF'
fpm address 127.0.0.1
fpm use-next-hop-groups
ip route 192.0.2.0/24 10.0.2.2
ip route 192.0.2.0/24 10.0.3.2
ip route 203.0.113.0/24 10.0.2.2
ip route 203.0.113.0/24 10.0.3.2
ip route 198.51.100.0/24 blackhole
ipv6 route 2001:db8::/32 fd00:2::2
ipv6 route 2001:db8::/32 fd00:3::2
CONF
router router
frr_start 1 zebra staticd
goes() { ctl router lookup "$1" | has -P -- "$2"; }
for far in 192.0.2.9 203.0.113.9; do until_true goes $far 'route .*10.0.2.2.*10.0.3.2'; done
until_true goes 2001:db8::9 'route .*fd00:2::2.*fd00:3::2'
until_true goes 198.51.100.9 'blackhole'
fpm() { [ "$(json ".$1" router show fpm)" = "$2" ]; }
fpm waiting 0 || fail "routes wait"
# One of IPv4, one of IPv6: the blackhole has none.
fpm groups 2 || fail "routes do not share what they could"

# Each of 16 addresses of b is a flow; both ways have some.
each_arrives() {
    local last
    for last in $(seq 16); do on "$a" ping -q -c 1 -W 1 "192.0.2.$last" >/dev/null || return 1; done
}
sent() { json ".[] | select(.name == \"$1\") | .tx.packets" router show ports; }
until_true each_arrives
shares() {
    local p2 p3
    p2=$(sent p2) p3=$(sent p3)
    each_arrives && [ "$(sent p2)" -ge $((p2 + 2)) ] && [ "$(sent p3)" -ge $((p3 + 2)) ]
}
until_true shares || fail "one way takes all flows"

# One next hop is taken away by the operator, then a link; then all comes back.
frr 1 'configure terminal' -c 'no ip route 192.0.2.0/24 10.0.2.2'
left() { goes 192.0.2.9 'route .*10.0.3.2' && ! goes 192.0.2.9 '10.0.2.2'; }
until_true left
until_true each_arrives
goes 203.0.113.9 'route .*10.0.2.2.*10.0.3.2' || fail "a route changed with another's"
frr 1 'configure terminal' -c 'ip route 192.0.2.0/24 10.0.2.2'
until_true goes 192.0.2.9 'route .*10.0.2.2.*10.0.3.2'
ip -n "$b" link set eth1 down
alone() { goes 203.0.113.9 '10.0.2.2' && ! goes 203.0.113.9 'flows'; }
until_true alone
until_true each_arrives
ip -n "$b" link set eth1 up
until_true goes 203.0.113.9 'route .*10.0.2.2.*10.0.3.2'
until_true goes 203.0.113.9 'flows'
fpm waiting 0 || fail "routes wait in the end"
frr 1 'configure terminal' -c 'no ipv6 route 2001:db8::/32 fd00:2::2' -c 'no ipv6 route 2001:db8::/32 fd00:3::2' \
    -c 'no ip route 198.51.100.0/24 blackhole'
until_true fpm groups 1
until_true fpm routes 2
echo "ok $name"
