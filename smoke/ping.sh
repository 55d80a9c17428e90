#!/usr/bin/env bash
# Ping and traceroute from the router itself: over Linux routers, in a VRF, to link-local addresses, and where it goes nowhere.
#
#   host a (10.0.1.2) ── p1 │ volleyd │ p2 ── b (10.0.2.2), a router ── MTU 1300 ── c (10.0.3.2), a router ── d (10.0.4.2)
#   host e (10.0.9.2) ── p3 │ VRF red │
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; cat "$work"/said.txt; ctl router show errors; exit 1; }
c=vly-$$-c d=vly-$$-d e=vly-$$-e
hosts
for space in "$c" "$d" "$e"; do ip netns add "$space"; ip -n "$space" link set lo up; done
# wire SPACE DEVICE ADDRESSES SPACE DEVICE ADDRESSES: a link of two namespaces, with an address of each family at either end.
wire() {
    ip -n "$1" link add "$2" type veth peer name "$5" netns "$4"
    for end in "$1 $2 $3" "$4 $5 $6"; do
        read -r space device four six <<<"${end/,/ }"
        ip -n "$space" addr add "$four/24" dev "$device"
        ip -n "$space" addr add "$six/64" dev "$device" nodad
        ip -n "$space" link set "$device" up
        on "$space" ethtool -K "$device" tx off gso off tso off gro off >/dev/null
    done
}
wire "$b" eth1 10.0.3.1,2001:db8:3::1 "$c" eth0 10.0.3.2,2001:db8:3::2
wire "$c" eth1 10.0.4.1,2001:db8:4::1 "$d" eth0 10.0.4.2,2001:db8:4::2
wire "$r" v3 10.99.0.1,2001:db8:99::1 "$e" eth0 10.0.9.2,2001:db8:9::2
ip -n "$r" addr flush dev v3
for host in "$a 1" "$b 2"; do ip -n "${host% *}" addr add "2001:db8:${host#* }::2/64" dev eth0 nodad; done
for space in "$b" "$c"; do on "$space" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1; done
ip -n "$b" link set eth1 mtu 1300
ip -n "$c" link set eth0 mtu 1300
for way in "$b 10.0.4.0/24 10.0.3.2" "$c default 10.0.3.1" "$d default 10.0.4.1"; do read -r s p v <<<"$way"; ip -n "$s" route replace "$p" via "$v"; done
for way in "$a default 1::1" "$b 2001:db8:4::/64 3::2" "$c default 3::1" "$d default 4::1"; do read -r s p v <<<"$way"; ip -n "$s" -6 route replace "$p" via "2001:db8:$v"; done
{
    two_ports af_packet | sed 's,"10.0.\(.\).1/24",&\, "2001:db8:\1::1/64",'
    printf '[vrf.red]\n[port.p3]\nkind = "af_packet"\ndevice = "v3"\nvrf = "red"\naddresses = ["10.0.9.1/24", "2001:db8:9::1/64"]\n'
    printf '[[route]]\nprefix = "%s"\nvia = "%s"\n' 10.0.0.0/16 10.0.2.2 2001:db8:4::/64 2001:db8:2::2 2001:db8:3::/64 2001:db8:2::2
} >"$work/router.toml"
router router
# Until its own link is up, the route to all of them leads there.
leads_to_p1() { ctl router lookup 10.0.1.2 | has -w p1; }
until_true leads_to_p1
on "$a" tcpdump -U -ni eth0 -w "$work/seen.pcap" icmp 2>"$work/tcpdump.log" &
daemons+=($!)
until_true grep -q listening "$work/tcpdump.log"
# asks CODE PATTERN COMMAND…: whether a command of the router ends so, and says so.
asks() {
    ends "$1" ctl router "${@:3}" >"$work/said.txt" 2>&1 || fail "${*:3}"
    has -E "$2" "$work/said.txt" || fail "${*:3}: no $2"
}
# The first request is not lost while its neighbour is asked for its MAC.
asks 0 '^3 packets transmitted, 3 received, 0% packet loss' ping 10.0.1.2 --count 3 --interval 0.05 --timeout 10
has -E '^64 bytes from 10.0.1.2: icmp_seq=1 ttl=64 time=[0-9.]+ ms$' "$work/said.txt" || fail "the first answer"
has -E '^rtt min/avg/max/mdev = [0-9./]+ ms$' "$work/said.txt" || fail "times"
seen() { /usr/bin/python3 - "$work/seen.pcap" 2>"$work/scapy.log" <<'PY'
import sys
from scapy.all import ICMP, IP, Raw, rdpcap
asked = [it[IP] for it in rdpcap(sys.argv[1]) if ICMP in it and it[ICMP].type == 8]
assert [it[ICMP].seq for it in asked] == [1, 2, 3] and len({it[ICMP].id for it in asked}) == 1 and len({it.id for it in asked}) == 3
for it in asked:
    built = IP(src="10.0.1.1", dst="10.0.1.2", ttl=64, id=it.id) / ICMP(id=it[ICMP].id, seq=it[ICMP].seq) / Raw(bytes(range(56)))
    assert bytes(built) == bytes(it)[:84], it.show(dump=True)
PY
}
until_true seen
asks 0 '2 received' ping 2001:db8:1::2 --count 2 --interval 50ms --timeout 10
asks 0 '1 received' ping 10.0.4.2 --count 1 --timeout 10 --source 10.0.1.1
asks 0 '1 received' ping 2001:db8:4::2 --count 1 --timeout 10
asks 0 '1 received' ping 10.0.2.1 --count 1 --timeout 10

# In a VRF, and to link-local addresses.
asks 0 '1 received' ping 10.0.9.2 --vrf red --count 1 --timeout 10
asks 0 '1 received' ping 2001:db8:9::2 --vrf red --count 1 --timeout 10
near=$(ip -n "$a" -j addr show eth0 | jq -r '.[0].addr_info[] | select(.scope == "link").local')
asks 0 "from $near: icmp_seq=1 ttl=64" ping "$near" port p1 --count 1 --timeout 10
asks 0 "^PING $near%p1 from fe80::" ping "$near%p1" --count 1 --timeout 10

# Where it goes nowhere: whoever says so is named.
asks 1 '^icmp_seq=1 destination unreachable \(host\) from 10.0.1.1$' ping 10.0.1.9 --count 1 --timeout 20
asks 1 '^icmp_seq=1 destination unreachable \(host\) from 2001:db8:1::1$' ping 2001:db8:1::99 --count 1 --timeout 20
asks 1 '^icmp_seq=1 time exceeded from 10.0.2.2$' ping 10.0.4.2 --ttl 1 --count 1 --timeout 10
asks 1 '^icmp_seq=1 time exceeded from 2001:db8:3::2$' ping 2001:db8:4::2 --ttl 2 --count 1 --timeout 10
asks 1 '^icmp_seq=1 frag needed, mtu 1300 from 10.0.2.2$' ping 10.0.4.2 --size 1400 --df --count 1 --timeout 10
asks 1 '^icmp_seq=1 frag needed, mtu 1300 from 2001:db8:2::2$' ping 2001:db8:4::2 --size 1400 --df --count 1 --timeout 10
asks 1 '^icmp_seq=1 frag needed, mtu 1500 from 10.0.2.1$' ping 10.0.4.2 --size 1500 --df --count 1 --timeout 10
asks 0 '^4008 bytes from 10.0.4.2' ping 10.0.4.2 --size 4000 --count 1 --timeout 10
asks 0 '^4008 bytes from 2001:db8:4::2' ping 2001:db8:4::2 --size 4000 --count 3 --timeout 10
asks 1 '^icmp_seq=1 no answer$' ping 10.0.4.77 --count 1 --timeout 10ms
asks 2 'no route to 192.0.2.9 in VRF default' ping 192.0.2.9
asks 2 'there is no vrf `blue`' ping 192.0.2.9 --vrf blue
asks 2 'can be on any link' ping fe80::1
asks 2 'is no address of this router' ping 10.0.1.2 --source 10.0.1.77

# Who is on a way.
hops() { sed -nE 's/^ *([0-9]+)  ([^ ]+).*/\1 \2/p' "$work/said.txt" | paste -sd,; }
asks 0 ' ms' traceroute 10.0.4.2 --timeout 10
[ "$(hops)" = "1 10.0.2.2,2 10.0.3.2,3 10.0.4.2" ] || fail "hops: $(hops)"
asks 0 ' ms' traceroute 2001:db8:4::2 --timeout 10
[ "$(hops)" = "1 2001:db8:2::2,2 2001:db8:3::2,3 2001:db8:4::2" ] || fail "hops: $(hops)"
asks 1 '^ 2  10.0.3.2' traceroute 10.0.4.2 --max-hops 2 --timeout 10

# Without an end: interrupted, it sums up. So many at once, and no more; what programs read.
"$bin/volley" --socket "$work/router.sock" ping 10.0.1.2 --interval 50ms >"$work/said.txt" &
pinging=$!
until_true has icmp_seq=3 "$work/said.txt"
kill -INT $pinging
wait $pinging || fail "interrupted"
has '0% packet loss' "$work/said.txt" || fail "no summary"
[ "$(json 'select(.event == "done").received' router ping 10.0.1.2 --count 2 --interval 50ms)" = 2 ] || fail "JSON"
one_more() { ctl router ping 10.0.1.2 >/dev/null & daemons+=($!); }
for n in $(seq 15); do one_more; done
refused() { ! ctl router ping 10.0.1.2 --count 1 >/dev/null 2>"$work/said.txt" && has '15 pings' "$work/said.txt"; }
# One of them was refused where a ping before them was not over yet.
many() { refused || { one_more; false; }; }
until_true many
echo "ok $name"
