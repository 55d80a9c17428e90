#!/usr/bin/env bash
# What router advertisements say (RFC 4861, RFC 4191, RFC 8106): a Linux host takes it, and each option stands where it belongs.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import scapy' 2>/dev/null || skip "python3-scapy is missing"
fail() { echo "$1"; cat "$work"/*.txt; exit 1; }
hosts
on "$a" sysctl -qw net.ipv6.conf.eth0.accept_ra=2 net.ipv6.conf.eth0.autoconf=1
{
    two_ports af_packet | sed 's,"10.0.1.1/24",&\, "2001:db8:1::1/64",'
    printf '[port.p1.ra]\ninterval = "4s"\n'
} >"$work/router.toml"
on "$a" tcpdump -U -ni eth0 -w "$work/heard.pcap" 'icmp6 and ip6[40] == 134' 2>"$work/tcpdump.txt" &
daemons+=($!)
until_true grep -q listening "$work/tcpdump.txt"
router router
has_route() { ip -n "$a" -6 route show default | has "$1"; }
has_address() { ip -n "$a" -6 addr show dev eth0 | has "$1"; }
until_true has_route 'via fe80::.* pref medium'
until_true has_address 2001:db8:1:

# All of it otherwise; hosts hear soon, and do it.
ctl router port set p1 ra interval 4s lifetime 20m preference high managed on other on hop_limit 33 reachable 31s retransmit 1500ms \
    link_mtu 1400 valid 2h preferred 1h dns 2001:db8::53,2001:db8::54 domains lab.example,example dns_lifetime 77s
until_true has_route 'pref high'
until_true has_route 'mtu 1400\|hoplimit 33'
value() { on "$a" sysctl -n "$1"; }
is() { [ "$(value "$1")" = "$2" ]; }
until_true is net.ipv6.conf.eth0.mtu 1400
until_true is net.ipv6.conf.eth0.hop_limit 33
until_true is net.ipv6.neigh.eth0.base_reachable_time_ms 31000
until_true is net.ipv6.neigh.eth0.retrans_time_ms 1500
cat >"$work/bytes.py" <<'PY'
import sys
from scapy.all import *
said = rdpcap(sys.argv[1])[-1]
ra = said[ICMPv6ND_RA]
assert (said[IPv6].hlim, ra.M, ra.O, ra.prf, ra.chlim) == (255, 1, 1, 1, 33), said.show(dump=True)
assert (ra.routerlifetime, ra.reachabletime, ra.retranstimer) == (1200, 31000, 1500)
assert said[ICMPv6NDOptMTU].mtu == 1400
prefix = said[ICMPv6NDOptPrefixInfo]
assert (prefix.prefix, prefix.prefixlen, prefix.L, prefix.A) == ("2001:db8:1::", 64, 1, int(sys.argv[2]))
assert (prefix.validlifetime, prefix.preferredlifetime) == (7200, 3600)
dns = said[ICMPv6NDOptRDNSS]
assert (dns.dns, dns.lifetime, dns.len) == (["2001:db8::53", "2001:db8::54"], int(sys.argv[3]), 5), dns.show(dump=True)
domains = said[ICMPv6NDOptDNSSL]
assert domains.lifetime == int(sys.argv[3]) and [it.rstrip(b"." if isinstance(it, bytes) else ".") for it in domains.searchlist] in (
    ["lab.example", "example"], [b"lab.example", b"example"]), domains.show(dump=True)
PY
says() { /usr/bin/python3 "$work/bytes.py" "$work/heard.pcap" "$@" 2>"$work/scapy.txt"; }
until_true says 1 77
# Who is told that no addresses are to be made of a network takes none of a new one.
ctl router port set p1 ra autonomous off on_link off dns 2001:db8::53 2>"$work/said.txt" || fail "not taken"
quiet() { tshark -r "$work/heard.pcap" -Y 'icmpv6.opt.prefix.flag.a == 0 && icmpv6.opt.prefix.flag.l == 0' 2>/dev/null | has .; }
until_true quiet
# At last: neither router nor name servers.
ctl router port set p1 ra off
ended() { tshark -r "$work/heard.pcap" -Y 'icmpv6.nd.ra.router_lifetime == 0 && icmpv6.opt.rdnss.lifetime == 0' 2>/dev/null | has .; }
until_true ended
gone() { ! has_route via; }
until_true gone
echo "ok $name"
