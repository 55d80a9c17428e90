#!/usr/bin/env bash
# Stateful NAT64: a host that has IPv6 alone reaches one that has IPv4 alone, by ping, TCP both ways, UDP in one and in several pieces,
# over links that take less than usual on either side; traceroute sees the way, and all checksums are right. Hosts inside reach each other by an outer address.
#
#   host a (2001:db8:1::2) ── p1 │ volleyd │ p2 ── host b (10.0.2.2), which has no route to a
. "$(dirname "$0")/lib.sh"
for tool in socat traceroute iperf3 tcpdump tshark jq; do command -v $tool >/dev/null || skip "$tool is missing"; done
fail() { echo "$1"; ctl router show connections; ctl router show errors; exit 1; }
hosts
ip -n "$a" -4 addr flush dev eth0
ip -n "$a" addr add 2001:db8:1::2/64 dev eth0 nodad
ip -n "$a" -6 route add default via 2001:db8:1::1
ip -n "$b" route del default
on "$b" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1
cat >"$work/router.toml" <<'TOML'
[workers]
count = 1
[memory]
buffers = 8192
[port.p1]
kind = "af_packet"
device = "v1"
addresses = ["2001:db8:1::1/64"]
[port.p2]
kind = "af_packet"
device = "v2"
addresses = ["10.0.2.1/24"]
[nat.home]
outside = "p2"
inside = ["p1"]
nat64 = "64:ff9b::/96"
TOML
router router
server=64:ff9b::10.0.2.2
shown=64:ff9b::a00:202
pings6() { on "$a" ping -6 -q -c 1 -W 1 "$@" "$server" >/dev/null; }
until_true pings6
for link in v1 v2; do
    on "$r" tcpdump -U -ni $link -c 5000 -w "$work/$link-first.pcap" 2>/dev/null & daemons+=($!)
    on "$r" tcpdump -U -ni $link -w "$work/$link-icmp.pcap" 'icmp or icmp6' 2>/dev/null & daemons+=($!)
    until_true test -s "$work/$link-first.pcap" -a -s "$work/$link-icmp.pcap"
done
pings6 -c 3 -i 0.2 -s 1300 || fail "a long ping is lost"

# Who is spoken with sees the router's address; what is said arrives.
on "$b" socat TCP4-LISTEN:7000,fork,reuseaddr SYSTEM:'echo $SOCAT_PEERADDR' & daemons+=($!)
on "$b" socat UDP4-RECVFROM:7001,fork SYSTEM:'echo $SOCAT_PEERADDR\:$SOCAT_PEERPORT' & daemons+=($!)
on "$b" socat -b 65536 UDP4-RECVFROM:7003,fork EXEC:cat & daemons+=($!)
on "$b" iperf3 -4 -s >/dev/null 2>&1 & daemons+=($!)
tcp_hears() { on "$a" timeout 5 socat -T 2 - "TCP6:[$server]:7000" </dev/null 2>/dev/null | has -Fx 10.0.2.1; }
until_true tcp_hears
udp_hears() { echo who | on "$a" timeout 3 socat -t 1 - "UDP6:[$server]:7001,sourceport=4000" | has -Fx 10.0.2.1:4000; }
until_true udp_hears
has_line() { ctl router show connections --address "$1" | has -P "$2"; }
has_line 10.0.2.2 'home +tcp +\[2001:db8:1::2\]:\d+ +\[64:ff9b::a00:202\]:7000 +10\.0\.2\.1:\d+ +10\.0\.2\.2:7000 ' || fail "a connection is not shown"
has_line 2001:db8:1::2 'home +icmp6 +\[2001:db8:1::2\]:\d+ +64:ff9b::a00:202 +10\.0\.2\.1:\d+ +10\.0\.2\.2 ' || fail "an echo is not shown"

# Datagrams of several pieces: those of IPv4 are cut once more where they would not fit.
head -c 3000 /dev/urandom | base64 -w 0 >"$work/datagram"
in_pieces() {
    on "$a" timeout 5 socat -b 65536 -t 2 - "UDP6:[$server]:7003" <"$work/datagram" >"$work/echoed"
    cmp -s "$work/datagram" "$work/echoed"
}
until_true in_pieces || fail "a datagram in pieces is lost"

# A few megabytes each way.
head -c 4000000 /dev/urandom >"$work/data"
on "$b" socat -U TCP4-LISTEN:7010,fork,reuseaddr OPEN:"$work/data" & daemons+=($!)
on "$b" socat -u TCP4-LISTEN:7011,fork,reuseaddr OPEN:"$work/taken",creat,trunc & daemons+=($!)
fetched() { on "$a" timeout 20 socat -u "TCP6:[$server]:7010" - >"$work/fetched" 2>/dev/null && cmp -s "$work/data" "$work/fetched"; }
until_true fetched || fail "what a fetches is not what b has"
sent_whole() { cmp -s "$work/data" "$work/taken"; }
brought() { on "$a" timeout 20 socat -u OPEN:"$work/data" "TCP6:[$server]:7011" 2>/dev/null && until_true sent_whole; }
until_true brought || fail "what a brings is not what b gets"
until_true on "$a" iperf3 -c "$shown" -n 5M

# A link outside that takes less: a is told, in lengths of its own family; and one inside, of which b is told.
ctl router port set p2 mtu 1400 >/dev/null
rm "$work/taken"
until_true brought || fail "a link outside that takes less takes nothing"
ip -n "$a" -6 route get "$shown" | has 'mtu 1420' || fail "a was not told: $(ip -n "$a" -6 route get "$shown")"
ctl router port set p2 mtu 1500 >/dev/null
ctl router port set p1 mtu 1400 >/dev/null
until_true fetched || fail "a link inside that takes less takes nothing"
ip -n "$b" route get 10.0.2.1 | has 'mtu 1380' || fail "b was not told: $(ip -n "$b" route get 10.0.2.1)"
ctl router port set p1 mtu 1500 >/dev/null

traced() {
    on "$a" traceroute -6 -n -q 1 -w 1 -m 4 "$shown" >"$work/traced"
    has ' 1  2001:db8:1::1 ' "$work/traced" && has " 2  $shown " "$work/traced"
}
until_true traced || fail "$(cat "$work/traced")"

# What would become of a packet is told, and begins nothing.
would() {
    local wanted=$1
    shift
    ctl router explain "$@" --json | jq -r '[.walks[0].steps[].decisions[] | select(.what == "connection" or .what == "becomes").said] | join(": ")' >"$work/would"
    has -Fx "$wanted" "$work/would" || fail "of $*: $(cat "$work/would")"
}
would 'would begin a connection: 10.0.2.1:4999 > 10.0.2.2:53: translated where it came in: as it is' in p1 ip6 src 2001:db8:1::2 dst $shown / udp sport 4999 dport 53
would 'of a known connection: [64:ff9b::a00:202]:7001 > [2001:db8:1::2]:4000' in p2 ip src 10.0.2.2 dst 10.0.2.1 / udp sport 7001 dport 4000

# All that was seen on both links has the checksums that it should have.
sums=(-o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE -o udp.check_checksum:TRUE)
# Of what an error tells of the sum is not looked at: the packet is cut off.
bad='(!icmp && !icmpv6 && (tcp.checksum.status == 0 || udp.checksum.status == 0)) || ip.checksum.status == 0 || icmp.checksum.status == 0 || icmpv6.checksum.status == 0'
for seen in v1-first v1-icmp v2-first v2-icmp; do
    of=tcp
    case $seen in v1-icmp) of=icmpv6 ;; v2-icmp) of=icmp ;; esac
    [ "$(tshark -r "$work/$seen.pcap" "${sums[@]}" -Y "$of.checksum.status == 1" 2>/dev/null | wc -l)" -gt 5 ] || fail "$seen: nothing was seen"
    tshark -r "$work/$seen.pcap" "${sums[@]}" -Y "$bad" >"$work/bad" 2>/dev/null
    [ ! -s "$work/bad" ] || fail "$seen: $(cat "$work/bad")"
done
has_reason() { ctl router show errors | has "$1"; }
! has_reason nat64-input.unreadable || fail "packets of ours are not read"

# Who is inside reaches who else is by an outer address and port, where that has spoken with somebody; both see outer addresses.
outer=64:ff9b::10.0.2.1
ip -n "$a" addr add 2001:db8:1::3/64 dev eth0 nodad
speaks() { echo who | on "$a" timeout 3 socat -t 1 - "UDP6:[$server]:7001,bind=[2001:db8:1::3]:6000" | has -Fx 10.0.2.1:6000; }
until_true speaks || fail "another host inside is not answered"
on "$a" socat "UDP6-RECVFROM:6000,bind=[2001:db8:1::3],fork" SYSTEM:'echo $SOCAT_PEERADDR' & daemons+=($!)
turned() { echo who | on "$a" timeout 3 socat -t 1 - "UDP6:[$outer]:6000,bind=[2001:db8:1::2]:6001" | has -Fx '[0064:ff9b:0000:0000:0000:0000:0a00:0201]'; }
until_true turned || fail "one inside does not reach another by an outer address"
on "$a" ping -6 -q -c 1 -W 1 "$outer" >/dev/null || fail "who asks the outer address for its own identifier has no answer"
! has_reason hairpin || fail "what turned back was dropped"
echo who | on "$a" socat -u - "UDP6:[$outer]:9"
until_true has_reason hairpin
would 'of a known connection: [64:ff9b::a00:201]:6001 > [2001:db8:1::3]:6000' in p1 ip6 src 2001:db8:1::2 dst 64:ff9b::a00:201 / udp sport 6001 dport 6000
would 'would begin a connection: 10.0.2.1:6001 > 10.0.2.1:9' in p1 ip6 src 2001:db8:1::2 dst 64:ff9b::a00:201 / udp sport 6001 dport 9
ctl router nat del home >/dev/null
! pings6 || fail "it is translated still"
