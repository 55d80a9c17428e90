#!/usr/bin/env bash
# Policers between Linux hosts: what is above the agreement is dropped or marked, ports mark by themselves, on what they
# receive and on what they send, in both families; counted by colour, changed while packets flow.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
two_ports af_packet | sed -e 's,10.0.1.1/24",&\, "2001:db8:1::1/64",' -e 's,10.0.2.1/24",&\, "2001:db8:2::1/64",' >"$work/router.toml"
cat >>"$work/router.toml" <<END
[policer.few]
rate = "800bit"
burst = 1000
excess_burst = 500
exceed = "dscp af12"
END
router router
for host in "$a:1" "$b:2"; do
    ip -n "${host%:*}" addr add "2001:db8:${host##*:}::2/64" dev eth0 nodad
    ip -n "${host%:*}" -6 route add default via "2001:db8:${host##*:}::1"
done
until_true pings "$a" 10.0.2.2
until_true pings "$a" 2001:db8:2::2

# A port marks what it receives: b sees it, and its checksums are right, for b's kernel answers.
listen() { rm -f "$work/heard" "$work/tcpdump.err"; on "$b" timeout 20 tcpdump -lnvi eth0 -c "$1" "$2" >"$work/heard" 2>"$work/tcpdump.err" & until_true grep -q listening "$work/tcpdump.err"; }
ctl router port set p1 mark_dscp ef
listen 1 'icmp[0] == 8'
on "$a" ping -c 1 -W 5 10.0.2.2 >/dev/null || fail "a marked packet is not answered"
until_true grep -q 'tos 0xb8' "$work/heard"
listen 1 'icmp6 and ip6[40] == 128'
on "$a" ping -c 1 -W 5 2001:db8:2::2 >/dev/null || fail "a marked packet of IPv6 is not answered"
until_true grep -q 'class 0xb8' "$work/heard"
ctl router port set p1 mark_dscp off

# Pings of 142 bytes: seven fit 1000 bytes, three more the excess; the rest goes, but one in a second or two.
colour() { json ".[] | select(.name == \"few\").colours[] | select(.colour == \"$1\").$2" router show policers; }
ctl router port set p2 police_out few
on "$a" ping -q -f -c 30 -W 1 -s 100 10.0.2.2 >"$work/ping" || true
[ "$(colour green packets)" -ge 7 ] && [ "$(colour yellow packets)" -ge 3 ] && [ "$(colour red packets)" -ge 5 ] ||
    { ctl router show policers; fail "not all colours were met"; }
received=$(sed -n 's/.* \([0-9]*\) received.*/\1/p' "$work/ping")
[ "$received" -lt 30 ] && [ "$received" -ge 10 ] || { cat "$work/ping"; fail "$received of 30 were answered"; }
[ "$(($(colour green packets) + $(colour yellow packets) + $(colour red packets)))" -ge 30 ] || fail "not all were counted"
drops=$(json '[.[] | select(.node == "policer-output") .packets] | add' router show errors)
[ "$drops" -ge "$(colour red packets)" ] || fail "$drops drops"
curl -s --unix-socket "$work/router.sock" http://volley/metrics | has 'volley_policer_packets_total{policer="few",colour="red"}' ||
    fail "no metrics"
# In use it cannot go; changed it counts anew.
ctl router policer del few 2>/dev/null && fail "a policer in use was removed"
counted=$(colour green packets)
ctl router policer add few rate 1gbit burst 1mb
# An answer may come late.
[ "$(colour green packets)" -lt "$counted" ] || fail "a new agreement, and old counts"
on "$a" ping -q -f -c 30 -W 5 -s 100 10.0.2.2 | has ' 0% packet loss' || fail "loss within the agreement"

# TCP through 20 Mbit/s comes close to it and not above.
ctl router policer add few rate 20mbit burst 128kb
ctl router port set p2 police_out off
ctl router port set p1 police_in few
on "$b" iperf3 -s -D --logfile "$work/iperf.log"
slow() { measure tcp -t 3 && jq -e '.end.sum_received.bits_per_second | . > 2e6 and . < 21e6' "$work/tcp.json"; }
until_true slow || { jq .end.sum_received "$work/tcp.json"; fail "TCP is not held to the rate"; }

# Packets, whatever their length: ten at once, then one a second.
ctl router policer add few packet_rate 1 packet_burst 10
on "$a" python3 -c "import socket
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('eth0', 0))
for number in range(50):
    link.send(bytes.fromhex('ffffffffffff02000000000188b5').ljust(60 + 20 * number, b'\0'))"
all_counted() { [ "$(($(colour green packets) + $(colour red packets)))" -ge 50 ]; }
until_true all_counted || fail "not all packets were counted"
passed=$(colour green packets)
[ "$passed" -ge 10 ] && [ "$passed" -le 13 ] || { ctl router show policers; fail "$passed packets passed"; }
ctl router show policers | has '1/s 10 packets' || fail "the limit of packets is not shown"
ctl router port set p1 police_in off
ctl router policer del few
[ "$(json length router show policers)" = 0 ] || fail "a policer is left"
echo "ok $name"
