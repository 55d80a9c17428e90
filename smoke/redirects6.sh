#!/usr/bin/env bash
# Redirects of IPv6 (RFC 4861 section 8): host a sends by us what its neighbour fe80::9 would take at once, and what its neighbour
# 2001:db8:1::7 is itself. It is told where that is wanted, in the bytes that the RFC has, and Linux goes the better way from then on.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import scapy' 2>/dev/null || skip "python3-scapy is missing"
fail() { echo "$1"; ctl router show errors; cat "$work"/*.txt; exit 1; }
hosts
on "$a" sysctl -qw net.ipv6.conf.all.accept_redirects=1 net.ipv6.conf.eth0.accept_redirects=1 net.ipv6.conf.eth0.forwarding=0
ip -n "$a" addr add 2001:db8:1::2/128 dev eth0 nodad
ip -n "$b" addr add 2001:db8:2::2/64 dev eth0 nodad
ip -n "$b" -6 route add default via 2001:db8:2::1
{
    two_ports af_packet | sed 's,"10.0.\(.\).1/24",&\, "2001:db8:\1::1/64"\, "fe80::1/64",'
    printf '[[route]]\nprefix = "2001:db8:9::/48"\nvia = { address = "fe80::9", port = "p1" }\n'
    printf '[[neighbor]]\naddress = "%s"\nport = "p1"\nmac = "02:00:00:00:00:09"\n' fe80::9 2001:db8:1::7
} >"$work/router.toml"
sed -i 's/, "fe80::1\/64"//2' "$work/router.toml"
"$bin/volley" config check "$work/router.toml" >"$work/check.txt" 2>&1 || { cat "$work/check.txt"; exit 1; }
router router
ip -n "$a" -6 route add default via fe80::1 dev eth0
# Nobody needs to be there: who is asked about is the way that a goes.
for to in fe80::9 2001:db8:1::7; do ip -n "$a" neigh add $to lladdr 02:00:00:00:00:09 dev eth0 nud permanent; done
on "$a" tcpdump -U -ni eth0 -w "$work/heard.pcap" 'icmp6 and ip6[40] == 137' 2>"$work/tcpdump.txt" &
daemons+=($!)
until_true grep -q listening "$work/tcpdump.txt"
until_true on "$a" ping -6 -q -c 1 -W 2 2001:db8:1::1

way() { ip -n "$a" -6 route get "$1"; }
sends() { on "$a" ping -6 -c 1 -W 1 "$1" >/dev/null; way "$1" | has "$2"; }
for _ in 1 2 3; do sends 2001:db8:9::1 'via fe80::1 ' || fail "it was told, and nobody wanted that: $(way 2001:db8:9::1)"; done
ctl router port set p1 redirects on
until_true sends 2001:db8:9::1 'via fe80::9 '
until_true sends 2001:db8:1::7 '2001:db8:1::7 from :: dev eth0\|2001:db8:1::7 dev eth0'
# What goes on to b has no better way.
until_true on "$a" ping -6 -q -c 1 -W 2 2001:db8:2::2
way 2001:db8:2::2 | has "via fe80::1" || fail "a goes another way to b: $(way 2001:db8:2::2)"

cat >"$work/bytes.py" <<'PY'
import sys
from scapy.all import Ether, ICMPv6ND_Redirect, IPv6, raw, rdpcap
told = {str(it[ICMPv6ND_Redirect].dst): it for it in rdpcap(sys.argv[1]) if ICMPv6ND_Redirect in it}
for destination, target in ("2001:db8:9::1", "fe80::9"), ("2001:db8:1::7", "2001:db8:1::7"):
    it = told[destination]
    assert (it[IPv6].src, it[IPv6].dst, it[IPv6].hlim) == ("fe80::1", "2001:db8:1::2", 255), it.show(dump=True)
    assert it[ICMPv6ND_Redirect].tgt == target
    options = raw(it)[14 + 40 + 40:]
    assert options[:8] == bytes([2, 1, 2, 0, 0, 0, 0, 9]), options[:8]
    quoted = options[16:]
    assert options[8] == 4 and options[9] * 8 == 8 + len(quoted) and options[10:16] == bytes(6)
    assert IPv6(quoted).dst == destination and IPv6(quoted).src == "2001:db8:1::2" and len(raw(it)) <= 14 + 1280
    sum_ = it[ICMPv6ND_Redirect].cksum
    del it[ICMPv6ND_Redirect].cksum
    assert Ether(raw(it))[ICMPv6ND_Redirect].cksum == sum_
PY
seen() { /usr/bin/python3 "$work/bytes.py" "$work/heard.pcap" 2>"$work/scapy.txt"; }
until_true seen

# No more are told than errors may be sent.
ctl router icmp set errors_pps 0
before=$(tcpdump -nr "$work/heard.pcap" 2>/dev/null | wc -l)
on "$a" ip -6 route flush cache
for n in 2 3 4; do on "$a" ping -6 -c 1 -W 1 2001:db8:9::$n >/dev/null || true; done
[ "$(tcpdump -nr "$work/heard.pcap" 2>/dev/null | wc -l)" = "$before" ] || fail "told in spite of the limit"
echo "ok $name"
