#!/usr/bin/env bash
# What RFC 2889 asks of a switch, as checks: addresses learned as fast as they are offered (5.8), as many as it says it
# holds and no more (5.7), broadcasts out of every port (5.6), and errored frames out of none (5.9).
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
bridged_hosts
on "$r" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
ip -n "$r" link set v1 mtu 1600
ip -n "$a" link set eth0 mtu 1600
{
    three_ports | sed 's/^device = "v1"/&\nmtu = 1600/'
    printf '[bridge.lan]\nports = ["p1", "p2", "p3"]\nmac_limit = 1001\n'
} >"$work/router.toml"
router router
cat >"$work/say.py" <<'PY'
# say.py DESTINATION SOURCE COUNT STEP OCTETS: frames; STEP says which address is one higher in each: d, s or none.
import socket, sys, time
destination, source = (int(word.replace(":", ""), 16) for word in sys.argv[1:3])
count, step, octets = int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
port.bind(("eth0", 0))
for number in range(count):
    addresses = (destination + number * (step == "d")).to_bytes(6, "big") + (source + number * (step == "s")).to_bytes(6, "big")
    port.send((addresses + b"\x88\xb5").ljust(octets, b"x"))
    if number % 100 == 99:
        time.sleep(0.002)
PY
say() { on "$1" /usr/bin/python3 "$work/say.py" "$2" "$3" "${4:-1}" "${5:-none}" "${6:-60}"; }
of_port() { json ".[].ports[] | select(.port == \"$1\") | .$2" router show bridge; }
stations() { json '.[].stations' router show bridge; }
heard() { on "$1" cat /sys/class/net/eth0/statistics/rx_packets; }
first=06:01:00:00:00:00 unknown=06:02:00:00:00:00 a_mac=06:00:00:00:00:01

# As many as it holds: none is asked for anywhere but where it is. What a queue lost is offered again.
is_known() { say "$a" 06:09:00:00:00:09 $a_mac && ctl router mac show | has $a_mac; }
until_true is_known
offered() { say "$b" $a_mac $first 1000 s && [ "$(stations)" = 1001 ]; }
until_true offered
[ "$(of_port p2 learned) $(of_port p2 not_learned)" = "1000 0" ]
at_b=$(heard "$b") at_c=$(heard "$c")
arrived() { say "$a" $first $a_mac 1000 d && [ $(($(heard "$b") - at_b)) -ge 1000 ]; }
until_true arrived
[ "$(heard "$c")" = "$at_c" ] || { echo "frames to known stations were flooded"; exit 1; }
# One more: it is not learned, but what is sent to it arrives.
refused() { say "$b" $a_mac $unknown && [ "$(of_port p2 not_learned)" -ge 1 ]; }
until_true refused
flooded() { say "$a" $unknown $a_mac && [ "$(heard "$c")" -gt "$at_c" ]; }
until_true flooded
[ "$(stations)" = 1001 ]

# Every broadcast that came in leaves by every other port.
packets() { json "[.[] | select(.name == \"$1\") | .$2.packets] | add" router show ports; }
before=$(packets p1 rx) to_b=$(packets p2 tx) to_c=$(packets p3 tx) at_b=$(heard "$b") at_c=$(heard "$c")
say "$a" ff:ff:ff:ff:ff:ff $a_mac 500
came() { [ $(($(packets p1 rx) - before)) -ge 500 ]; }
until_true came
all=$(($(packets p1 rx) - before))
left() { [ "$(($(packets p2 tx) - to_b)) $(($(packets p3 tx) - to_c))" = "$all $all" ]; }
until_true left
[ "$(($(heard "$b") - at_b)) $(($(heard "$c") - at_c))" = "$all $all" ] || { echo "broadcasts were lost"; exit 1; }

# Errored: from a group, from nobody, too long, and to an address that bridges keep to themselves.
at_b=$(heard "$b") at_c=$(heard "$c")
say "$a" ff:ff:ff:ff:ff:ff 01:00:5e:00:00:01
say "$a" ff:ff:ff:ff:ff:ff 00:00:00:00:00:00
say "$a" ff:ff:ff:ff:ff:ff $a_mac 1 none 1580
say "$a" 01:80:c2:00:00:01 $a_mac
counted() { for reason in "$@"; do ctl router show errors | has "$reason" || return 1; done; }
until_true counted bad-source reserved-address 'too-big\|oversize'
[ "$(heard "$b") $(heard "$c")" = "$at_b $at_c" ] || { echo "errored frames were forwarded"; exit 1; }
echo "ok $name"
