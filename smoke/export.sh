#!/usr/bin/env bash
# Flow export: collectors are told, by IPFIX, NetFlow 9 and 5, of exactly the packets and octets that were sent, of
# IPv4, IPv6 and a VLAN, received and sent; by sFlow of one in ten; and one that is away is told of, and costs no packet.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c "import scapy" 2>/dev/null || skip "python3-scapy is missing"
hosts
{
    two_ports af_packet
    for it in ipfix:4739 netflow-9:9995 netflow-5:9996; do
        printf '[export.%s]\nprotocol = "%s"\ncollectors = ["127.0.0.1:%s"]\nidle = "1s"\ndomain = 7\n' \
            "${it%:*}" "${it%:*}" "${it#*:}"
    done
    printf '[export.sflow]\nprotocol = "sflow-5"\ncollectors = ["127.0.0.1:6343"]\nsample = 10\nheader = 64\ncounters = "1s"\n'
    printf '[export.away]\ncollectors = ["127.0.0.1:9999"]\nidle = "1s"\n'
} | awk '
    { print }
    /device = "v1"/ { print "mac = \"02:00:00:00:00:01\"\nexport_in = [\"ipfix\", \"netflow-9\", \"netflow-5\", \"sflow\", \"away\"]" }
    /device = "v2"/ { print "export_out = [\"ipfix\"]" }' >"$work/router.toml"
"$bin/volley" config check "$work/router.toml" >/dev/null
sed 's/9996/0/' "$work/router.toml" >"$work/wrong.toml"
! "$bin/volley" config check "$work/wrong.toml" >"$work/wrong.txt" 2>&1 || exit 1
has 'export.netflow-5.collectors\[0\]' "$work/wrong.txt" && has '127.0.0.1:0 has no port' "$work/wrong.txt"

# Collectors: who is at these ports, and what comes to all of them.
on "$r" python3 -c 'import socket, signal
all = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(4)]
for one, port in zip(all, (4739, 9995, 9996, 6343)): one.bind(("127.0.0.1", port))
signal.pause()' &
daemons+=($!)
on "$r" tcpdump -n -U -i lo -w "$work/told.pcap" udp 2>"$work/tcpdump.txt" &
daemons+=($!)
until_true has listening "$work/tcpdump.txt"
router router
until_true pings "$a" 10.0.2.2

on "$a" /usr/bin/python3 "$root/smoke/export_send.py" eth0 1000
# Numbers of interfaces are those that are shown.
value() { json ".[] | select(.name == \"$1\") | $2" router show export; }
number() { value ipfix ".ports[] | select(.port == \"$1\") | .number"; }
in="in $(number p1) out 0" out="in $(number p1) out $(number p2)"
# Seven packets of 100 octets, five of 120, three of 100 behind a tag, a thousand of 100; what left p2 came by p1.
cat >"$work/wanted" <<END
v10 0 10.0.1.2 10.0.2.2 1111 $in: 7 700
v10 0 10.0.1.2 10.0.2.2 1111 $out: 7 700
v10 0 2001:db8::2 2001:db8:9::9 2222 $in: 5 600
v10 7 10.0.1.2 10.0.2.2 3333 $in: 3 300
v10 0 10.0.1.2 10.0.2.2 4444 $in: 1000 100000
v10 0 10.0.1.2 10.0.2.2 4444 $out: 1000 100000
v9 0 10.0.1.2 10.0.2.2 1111 $in: 7 700
v9 0 2001:db8::2 2001:db8:9::9 2222 $in: 5 600
v9 7 10.0.1.2 10.0.2.2 3333 $in: 3 300
v9 0 10.0.1.2 10.0.2.2 4444 $in: 1000 100000
v5 - 10.0.1.2 10.0.2.2 1111 $in: 7 700
v5 - 10.0.1.2 10.0.2.2 3333 $in: 3 300
v5 - 10.0.1.2 10.0.2.2 4444 $in: 1000 100000
END
told() {
    python3 "$root/smoke/export_told.py" "$work/told.pcap" 4739 9995 9996 6343 >"$work/told"
    [ "$(grep -cxFf "$work/wanted" "$work/told")" = "$(wc -l <"$work/wanted")" ] && has '^counters: ' "$work/told"
}
over() { [ "$(value netflow-9 .flows)" = 0 ] && [ "$(value netflow-9 .told)" -gt 3 ]; }
until_true over
until_true told || { diff "$work/wanted" "$work/told"; exit 1; }
! has '^v5 .*2001:' "$work/told" || { echo "NetFlow 5 told of IPv6"; exit 1; }
[ "$(value netflow-5 .left_out)" -gt 0 ] && [ "$(value ipfix '.missed + .early + .collectors[0].lost')" = 0 ]
# sFlow: one in ten on an average.
samples=$(sed -n 's/^samples of one in 10: //p' "$work/told")
[ "$samples" -ge 60 ] && [ "$samples" -le 160 ] || { echo "$samples samples of some 1020 packets"; exit 1; }

# Nobody is at the last one: an event, a problem, lost datagrams; packets go their way.
until_true has 'nobody listens at 127.0.0.1:9999' "$work/router.log"
ctl router show export | has 'away .*nobody listens at 127.0.0.1:9999'
[ "$(value away '.collectors[0].lost')" -gt 0 ]
on "$r" python3 -c 'import socket, signal
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); one.bind(("127.0.0.1", 9999)); signal.pause()' &
daemons+=($!)
is_back() { pings "$a" 10.0.2.2 && [ "$(value away '.collectors[0].problem')" = null ]; }
until_true is_back
has 'takes datagrams again' "$work/router.log"
on "$r" curl -s --unix-socket "$work/router.sock" http://volley/metrics | has '^volley_export_told_total{export="ipfix"} [1-9]'
echo "ok $name"
