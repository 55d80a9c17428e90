#!/usr/bin/env bash
# Two hosts of one network on cross-connected ports: everything passes both ways, IPv6 and VLAN tags too.
. "$(dirname "$0")/lib.sh"
hosts
{
    two_ports af_packet | grep -v addresses | sed 's/device = "v2"/&\npeer_offloads = false/'
    printf '[[xconnect]]\nports = ["p1", "p2"]\n'
} >"$work/router.toml"
router router
# Nobody's device gets a program that makes its far end cut frames.
! ip -n "$r" link show | has ' xdp ' || { echo "a program at a port"; exit 1; }
number=0
for host in "$a" "$b"; do
    number=$((number + 1))
    ip -n "$host" addr add "10.0.9.$number/24" dev eth0
    ip -n "$host" addr add "fd00:9::$number/64" dev eth0 nodad
done
until_true pings "$a" 10.0.9.2
for size in 0 100 1472; do
    on "$a" ping -q -c 2 -i 0.05 -W 2 -M do -s "$size" 10.0.9.2 >/dev/null || { echo "ping of $size failed"; exit 1; }
done
until_true on "$b" ping -6 -q -c 2 -i 0.05 -W 2 fd00:9::1
# A frame that no router would know comes out as it went in.
frame='0200000000020200000000018100002a88b500112233445566778899aabbccddeeff'
on "$b" timeout 20 tcpdump -n -i eth0 -c 1 -x -w "$work/tagged.pcap" 'ether dst 02:00:00:00:00:02' 2>"$work/dump.txt" &
until_true has listening "$work/dump.txt"
on "$a" /usr/bin/python3 -c "
import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(('eth0', 0))
s.send(bytes.fromhex('$frame' + '00' * 30))"
wait $!
tshark -r "$work/tagged.pcap" -x 2>/dev/null | awk '{ for (i = 2; i <= 17; i++) printf "%s", $i }' | has "^$frame" || { tshark -r "$work/tagged.pcap" -x; exit 1; }
[ "$(json "[.[] | .rx.drops + .tx.drops] | add" router show ports)" = 0 ] || { ctl router show ports --json; ctl router show errors; ctl router show nodes; exit 1; }
echo "ok $name"
