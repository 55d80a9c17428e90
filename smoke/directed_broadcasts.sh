#!/usr/bin/env bash
# Directed broadcasts (RFC 2644): dropped and counted, unless a port is told to let them; then they leave as broadcasts of the link.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; ctl router show errors; exit 1; }
hosts
two_ports af_packet >"$work/router.toml"
router router
on "$b" tcpdump -U -eni eth0 -w "$work/heard.pcap" 'udp port 9' 2>"$work/tcpdump.txt" &
daemons+=($!)
until_true grep -q listening "$work/tcpdump.txt"
until_true pings "$a" 10.0.2.2
drops() { json '[.[] | select(.reason == "directed-broadcast") | .packets] | add // 0' router show errors; }
sends() { printf 'wake up' | on "$a" timeout 2 nc -u -w 1 -b "$1" 9 2>/dev/null || on "$a" /usr/bin/python3 -c "
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
s.sendto(b'wake up', ('$1', 9))"; }
heard() { tcpdump -ner "$work/heard.pcap" 2>/dev/null | grep -c "> ff:ff:ff:ff:ff:ff.*10.0.1.2.* > $1.9" || true; }
dropped() { sends 10.0.2.255; [ "$(drops)" -ge 1 ]; }
until_true dropped
[ "$(heard 10.0.2.255)" = 0 ] || fail "it was let, and nobody said so"

ctl router port set p2 directed_broadcasts on
arrives() { sends 10.0.2.255; [ "$(heard 10.0.2.255)" -ge 1 ]; }
until_true arrives
tshark -r "$work/heard.pcap" -Y 'ip.dst == 10.0.2.255 && ip.ttl == 63 && ip.checksum.status != 0' -o ip.check_checksum:TRUE 2>/dev/null | has . || fail "not one hop less"
# The network's own address is none of all hosts; what b says to its own link is b's.
before=$(drops)
for n in 1 2 3; do sends 10.0.2.0; done
more() { [ "$(drops)" -gt "$before" ]; }
until_true more
[ "$(heard 10.0.2.0)" = 0 ] || fail "the network's address is a broadcast"
# Nobody has us answer all hosts: a request in the name of the broadcast address gets no reply there.
ctl router port set p2 directed_broadcasts off
before=$(drops)
back() { sends 10.0.2.255; [ "$(drops)" -gt "$before" ]; }
until_true back
ends 1 ctl router port set p2 addresses off directed_broadcasts on 2>"$work/said.txt"
has 'no IPv4 address' "$work/said.txt" || fail "nobody says why"
echo "ok $name"
