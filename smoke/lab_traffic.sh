#!/usr/bin/env bash
# The lab's generator against tools that know nothing of it: tshark sees the sizes, fields and sequence
# that were asked for; the rate is the one that iperf3 and nuttcp keep, as the kernel counts all three.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
command -v iperf3 nuttcp tshark >/dev/null || skip "iperf3, nuttcp or tshark is missing"
hosts
lab_link
traffic() { on "$r" "$bin/volley-lab" traffic af_packet:g0 af_packet:g1 "$@"; }

# tshark says that it captures before it does.
on "$r" timeout 60 tcpdump -U -i g1 -c 2000 -w "$work/sent.pcap" 'udp port 5001' 2>"$work/tcpdump.txt" &
until_true has 'listening on' "$work/tcpdump.txt"
traffic --rate 4kpps --packets 2000 --seconds 1 --frame-bytes 64,512 --flows 1000 --order permutation --out "$work/result.json" >"$work/told.txt"
wait $! || { cat "$work/tcpdump.txt"; exit 1; }
fields() { tshark -r "$work/sent.pcap" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -T fields "${@/#/-e}" 2>/dev/null; }
fields frame.len | sort -n | uniq -c | awk '{ print $1, $2 }' >"$work/sizes"
# Without the checksum, which no capture has.
diff "$work/sizes" - <<<$'1000 60\n1000 508'
[ "$(fields ip.dst | sort -u | wc -l)" = 1000 ] || { echo "not 1000 flows"; exit 1; }
[ "$(fields ip.checksum.status udp.checksum.status | sort -u)" = $'1\t1' ] || { echo "bad checksums"; exit 1; }
# The last 18 octets: eight of sequence, ten of time.
fields udp.payload | awk '{ print substr($1, length($1) - 35, 16) }' >"$work/sequence"
seq 0 1999 | xargs printf '%016x\n' | diff "$work/sequence" -
jq -e '.streams[0] | .offered == 2000 and .sequence.unique == 2000 and .sequence.lost == 0' "$work/result.json"

# 20 Mbit/s of frames with 1000 octets of UDP payload, by each, over links of the same kind.
on "$b" iperf3 -s -D -I "$work/iperf.pid" --logfile "$work/iperf.log"
ip netns exec "$b" nuttcp -S --nofork >"$work/nuttcp.log" 2>&1 &
daemons+=($!)
octets() { ip -s -j -n "$1" link show "$2" | jq '.[0].stats64.rx.bytes'; }
{ two_ports af_packet | grep -v addresses; printf '[[xconnect]]\nports = ["p1", "p2"]\n'; } >"$work/router.toml"
router router
number=0
for host in "$a" "$b"; do
    number=$((number + 1))
    ip -n "$host" addr add "10.0.9.$number/24" dev eth0
done
until_true pings "$a" 10.0.9.2
# A tool that is kept waiting sends late; each gets a few attempts to keep its rate.
near() { awk -v got="$1" -v want="$2" 'BEGIN { exit !(got > 0.97 * want && got < 1.03 * want) }'; }
# The kernel counts 14 + 20 + 8 octets of headers with the 1000 of payload.
wanted=$((20000000 / 8 * 1042 / 1000))
# counted COMMAND…: octets a second that the router's end of a's wire took in meanwhile.
counted() {
    local before
    before=$(octets "$r" v1)
    on "$a" "$@" >/dev/null || return 1
    counted=$((($(octets "$r" v1) - before) / 2))
    near "$counted" $wanted
}
iperf3_keeps_it() { counted iperf3 -c 10.0.9.2 -u -l 1000 -b 20M -t 2 && iperf3=$counted; }
nuttcp_keeps_it() { counted nuttcp -u -l1000 -R20m -T2 10.0.9.2 && nuttcp=$counted; }
ours() {
    local before
    before=$(octets "$r" g1)
    traffic --rate 2500pps --frame-bytes 1046 --seconds 2 >/dev/null
    ours=$((($(octets "$r" g1) - before) / 2))
    near "$ours" $wanted
}
until_true iperf3_keeps_it
until_true nuttcp_keeps_it
until_true ours
near "$ours" "$iperf3"
near "$ours" "$nuttcp"
echo "ok $name: iperf3 $iperf3 octets/s, nuttcp $nuttcp, ours $ours"
