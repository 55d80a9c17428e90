#!/usr/bin/env bash
# Three hosts on a bridge: flooding until a station is known, then none; ageing, moves, isolation.
. "$(dirname "$0")/lib.sh"
bridged_hosts
{
    three_ports
    printf '[bridge.lan]\nports = ["p1", "p2", "p3"]\nageing = "4s"\n'
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.9.2
until_true pings "$c" 10.0.9.1
place() { json ".stations[] | select(.mac == \"$1\") | .port" router mac show; }
is_at() { [ "$(place "$1")" = "$2" ]; }
is_at 06:00:00:00:00:01 p1 && is_at 06:00:00:00:00:02 p2 || { ctl router mac show; exit 1; }

# send NAMESPACE DEVICE HEX: a frame of the experimental ethertype.
send() { on "$1" /usr/bin/python3 -c "
import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(('$2', 0))
s.send(bytes.fromhex('$3'[:24] + '88b5' + '$3'[24:] * 46))"; }

# What the kernel sends by a port's device is not taken for what comes from the wire.
send "$r" v1 06000000000106000000000f00
pings "$a" 10.0.9.2 >/dev/null
[ -z "$(place 06:00:00:00:00:0f)" ] || { echo "the kernel's own frame was received"; exit 1; }

# What a says to b is seen by c while b is unknown, and not when it is known.
say() { send "$a" eth0 "${1}060000000001$2"; }
on "$c" timeout 40 tcpdump -n -i eth0 -c 2 -w "$work/c.pcap" 'ether proto 0x88b5' 2>"$work/dump.txt" &
dump=$!
until_true has listening "$work/dump.txt"
ctl router mac flush >/dev/null
say 060000000002 11
pings "$b" 10.0.9.1 >/dev/null
is_at 06:00:00:00:00:02 p2
say 060000000002 22
say ffffffffffff 33
wait $dump
tshark -r "$work/c.pcap" -x 2>/dev/null >"$work/seen.txt"
has ' 11 11' "$work/seen.txt" && has ' 33 33' "$work/seen.txt" || { cat "$work/seen.txt"; exit 1; }
! has ' 22 22' "$work/seen.txt" || { echo "a known station's frame was flooded"; exit 1; }

# Who is silent is forgotten; who moves is found where it is; who is fixed stays.
gone() { [ -z "$(place 06:00:00:00:00:02)" ]; }
until_true gone
ip -n "$b" link set eth0 down
ip -n "$c" link set eth0 address 06:00:00:00:00:02
until_true pings "$c" 10.0.9.1
is_at 06:00:00:00:00:02 p3
ip -n "$c" link set eth0 address 06:00:00:00:00:03
ip -n "$b" link set eth0 up
ctl router mac add lan 06:00:00:00:00:03 port p2 >/dev/null
! pings "$c" 10.0.9.1 >/dev/null || { echo "a fixed station moved"; exit 1; }
ctl router mac del lan 06:00:00:00:00:03 >/dev/null
until_true pings "$c" 10.0.9.1

# Isolated ports reach the others alone.
ctl router bridge join lan p2 isolated true >/dev/null
ctl router bridge join lan p3 isolated true >/dev/null
until_true pings "$b" 10.0.9.1
until_true pings "$c" 10.0.9.1
! on "$b" ping -q -c 2 -i 0.2 -W 1 10.0.9.3 >/dev/null || { echo "isolated ports reach each other"; exit 1; }
ctl router show bridge | has 'p3 .* yes '
ctl router mac fill lan p1 1000 --first 06:00:00:01:00:00 | has '1000 stations added'
[ "$(json .total router mac show --bridge lan --port p1 --limit 5)" -ge 1000 ]

# The router's own station answers as long as its bridge is there: its MAC goes with the bridge, and is nobody's in the next one.
ctl router port add own bvi addresses 10.0.9.9/24 >/dev/null
ctl router bridge join lan own >/dev/null
until_true pings "$c" 10.0.9.9
own=$(json '.[] | select(.name == "own").mac' router show ports)
is_at "$own" own || { ctl router mac show; echo "the bridge's own station is not told"; exit 1; }
ip -n "$c" neigh replace 10.0.9.9 lladdr "$own" dev eth0 nud permanent
silent() { ! on "$c" ping -q -c 2 -i 0.2 -W 1 10.0.9.9 >/dev/null || { echo "the own station of a bridge that is gone answers"; exit 1; }; }
ctl router bridge del lan >/dev/null
[ "$(json '.stations | length' router mac show)" = 0 ] || { ctl router mac show; echo "a station outlived its bridge"; exit 1; }
silent
ctl router bridge add other ports p1 ports p2 ports p3 >/dev/null
until_true pings "$c" 10.0.9.1
[ -z "$(place "$own")" ] || { ctl router mac show; echo "the next bridge has the station of the one before"; exit 1; }
on "$a" timeout 40 tcpdump -n -p -i eth0 -c 1 "ether dst $own and icmp" >/dev/null 2>"$work/dump.txt" &
dump=$!
until_true has listening "$work/dump.txt"
silent
wait $dump || { echo "frames to nobody's MAC are not flooded"; exit 1; }
ctl router bridge join other own >/dev/null
until_true pings "$c" 10.0.9.9
ctl router config show >"$work/saved.toml"
"$bin/volley" config check "$work/saved.toml" >/dev/null
echo "ok $name"
