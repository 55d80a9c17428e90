#!/usr/bin/env bash
# IPv6 between Linux hosts: addresses are tried before they are used, hosts configure themselves by
# our advertisements, pings of many sizes, traceroute, path MTU discovery by TCP and UDP.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
global() { ip -n "$1" -6 addr show dev eth0 scope global -tentative | has 'inet6 2001:db8:'; }
for host in "$a" "$b"; do
    on "$host" sysctl -qw net.ipv6.conf.eth0.accept_ra=2 net.ipv6.conf.eth0.use_tempaddr=0
done
# Somebody on b's link has this address before we want it.
ip -n "$b" addr add 2001:db8:2::dad/64 dev eth0 nodad
{
    two_ports af_packet
    echo 'mtu = 1400'
    printf '[port.p1.ra]\ninterval = "10s"\nlifetime = "10m"\n[port.p2.ra]\n'
} | sed -e 's,10.0.1.1/24",&\, "2001:db8:1::1/64",' \
    -e 's,10.0.2.1/24",&\, "2001:db8:2::1/64"\, "2001:db8:2::dad/64",' >"$work/router.toml"
router router

# Another has it, so it is not used; the others are, a while after the links came up.
until_true grep -q '2001:db8:2::dad is not used' "$work/router.log"
lookup() { ctl router lookup "$1"; }
ours() { lookup "$1" | has 'our own'; }
until_true ours 2001:db8:1::1
until_true ours 2001:db8:2::1
ours 2001:db8:2::dad && fail "a duplicate address is used"

# Hosts make addresses of the prefixes and use us as their router.
until_true global "$a"
until_true global "$b"
ip -n "$a" -6 route show default | has 'via fe80::' || fail "no default route by advertisement"
address() { ip -n "$1" -j -6 addr show dev eth0 scope global | jq -r '[.[0].addr_info[] | select(.dynamic)][0].local'; }
host_a=$(address "$a") host_b=$(address "$b")

# Every size through us, and to us by both kinds of addresses.
until_true on "$a" ping -6 -q -c 1 -W 1 "$host_b"
for size in 0 1 56 1200 1352 1400 1452 4000 20000; do
    on "$a" ping -6 -q -c 1 -W 5 -s $size "$host_b" >/dev/null ||
        on "$a" ping -6 -q -c 1 -W 5 -s $size "$host_b" >/dev/null || fail "ping of $size bytes"
done
for size in 0 56 1300; do on "$a" ping -6 -q -c 1 -W 5 -s $size 2001:db8:1::1 >/dev/null || fail "ping to us, $size bytes"; done
link=$(ip -n "$a" -j -6 route show default | jq -r '.[0].gateway')
on "$a" ping -6 -q -c 2 -i 0.2 -W 5 "$link%eth0" >/dev/null || fail "ping to our link-local address"
on "$a" ping -6 -q -c 1 -W 5 "ff02::2%eth0" >/dev/null || fail "ping to all routers"
ctl router show neighbors | has "$host_b" || fail "b is no neighbour"
ctl router show routes | has '2001:db8:2::/64' || fail "no connected route"

# What lies beyond is told by us: each hop, and that nobody has an address.
on "$a" traceroute -6 -n -q 1 -w 5 "$host_b" >"$work/trace"
has -P '^ 1  2001:db8:1::1 ' <"$work/trace" && has -P "^ 2  $host_b " <"$work/trace" || { cat "$work/trace"; fail "traceroute"; }
on "$a" ping -6 -c 1 -W 10 2001:db8:2::99 >"$work/nobody" || true
has 'From 2001:db8:1::1 .*unreachable: Address unreachable' <"$work/nobody" || { cat "$work/nobody"; fail "no address unreachable"; }

# The link to b takes 1400 bytes, and b tells TCP more: senders hear of it from us, and get through.
learned() { ip -n "$a" -6 route get "$host_b" | has 'mtu 1400'; }
forget() { ip -n "$a" -6 route flush cache; }
via=$(ip -n "$b" -j -6 route show default | jq -r '.[0].gateway')
ip -n "$b" -6 route add "$host_a" via "$via" dev eth0 advmss 1440
on "$b" iperf3 -s -D --logfile "$work/iperf.log"
forget
# A host that hears an advertisement at that moment may forget it at once.
tcp_learns() { on "$a" iperf3 -6 -c "$host_b" -n 2M -J && learned; }
until_true tcp_learns || fail "TCP did not learn the path's MTU"
forget
# 1372 bytes make packets of 1420; those before the first error are lost.
udp_learns() { on "$a" iperf3 -6 -c "$host_b" -u -l 1372 -b 5M -t 1 -J >"$work/udp.json" && jq -e '.end.sum.lost_percent < 20' "$work/udp.json" && learned; }
until_true udp_learns || fail "UDP did not learn the path's MTU"
echo "ok $name"
