#!/usr/bin/env bash
# The lab sends a capture as it is: tcpdump at the far end sees the same octets in the same order, round after
# round, none is lost, and it takes the time that the capture did.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import scapy' 2>/dev/null || skip "python3-scapy is missing"
ip netns add "$r"
lab_link

# Frames of all sorts and sizes, 5 ms apart, one of them twice; two are shorter than a wire's.
/usr/bin/python3 - "$work" <<'END'
import random, sys
from scapy.all import ARP, Dot1Q, Ether, IP, IPv6, Raw, TCP, UDP, wrpcap
random.seed(1)
front = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
some = lambda length: Raw(random.randbytes(length))
frames = [front / ARP(pdst="10.0.0.1"), front / IP(dst="10.0.0.1") / TCP(flags="S")]
frames += [front / IP(dst="10.0.0.1") / UDP(dport=4789) / some(length) for length in range(0, 1400, 50)]
frames += [front / IPv6(dst="2001:db8::1") / UDP() / some(300), front / Dot1Q(vlan=7) / IP() / some(90)]
frames += [Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02", type=0x88b5) / some(46), frames[5]]
for index, frame in enumerate(frames):
    frame.time = 1000 + index * 0.005
wrpcap(f"{sys.argv[1]}/sent.pcap", frames)
END
octets() { /usr/bin/python3 -c 'import sys; from scapy.utils import RawPcapReader
for octets, _ in RawPcapReader(sys.argv[1]): print(octets.hex())' "$1"; }
octets "$work/sent.pcap" >"$work/sent"
count=$(wc -l <"$work/sent")
times=5

# Not tshark, which says that it captures before it does, and waits for ever for what came in between.
on "$r" timeout 60 tcpdump -U -i g1 -c $((count * times)) -w "$work/came.pcap" 2>"$work/tcpdump.txt" &
until_true has 'listening on' "$work/tcpdump.txt"
replay() { on "$r" "$bin/volley-lab" traffic af_packet:g0 af_packet:g1 --replay "$@"; }
replay "$work/sent.pcap" --times $times --out "$work/result.json" >"$work/told.txt" || { cat "$work/told.txt"; exit 1; }
wait $! || { cat "$work/tcpdump.txt" "$work/told.txt"; echo "not all of it came"; exit 1; }
octets "$work/came.pcap" >"$work/came"
for _ in $(seq $times); do cat "$work/sent"; done | diff - "$work/came" >/dev/null || { echo "other octets came"; diff <(cut -c 1-100 "$work/sent") <(cut -c 1-100 "$work/came") | head; exit 1; }
jq -e --argjson sent $((count * times)) '.streams[0] | .offered == $sent and .sequence.unique == $sent and .sequence.lost == 0
    and .sequence.reordered == 0 and .latency != null' "$work/result.json" >/dev/null || { cat "$work/told.txt"; exit 1; }
# Not longer than the capture, a machine that is busy apart; never shorter.
jq -e --argjson ns $(((count * times - times) * 5000000)) '.duration_ns | . >= $ns and . < 3 * $ns' "$work/result.json" >/dev/null

# At a rate, it takes the time that the rate asks for.
replay "$work/sent.pcap" --times 20 --rate 2kpps --out "$work/fast.json" >/dev/null
jq -e --argjson sent $((count * 20)) '.streams[0].sequence.unique == $sent and .duration_ns >= ($sent - 1) * 500000' "$work/fast.json" >/dev/null

# What cannot be sent is refused by its packet.
refused() { ! replay "$@" >/dev/null 2>"$work/why.txt" && has "$why" "$work/why.txt" || { echo "not refused: $why"; cat "$work/why.txt"; exit 1; }; }
tshark -r "$work/sent.pcap" -w "$work/next.pcapng" 2>/dev/null
why='not pcapng' refused "$work/next.pcapng"
head -c 3000 "$work/sent.pcap" >"$work/cut.pcap"
why='cut.pcap: packet [0-9]*: pcap record' refused "$work/cut.pcap"
why='cannot be used with .--flows' refused "$work/sent.pcap" --flows 7
echo "ok $name: $((count * times)) frames"
