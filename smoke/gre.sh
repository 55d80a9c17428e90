#!/usr/bin/env bash
# A GRE tunnel with a key each way to host b, where scapy plays the other end (this kernel may have no gretap device):
# host a behind a bridge of ours answers through it.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import scapy' 2>/dev/null || skip "python3-scapy is missing"
hosts
{
    two_ports af_packet | grep -v '10.0.1.1'
    cat <<'TOML'
[port.far]
kind = "gre"
key = 9
key_in = 7
local = "10.0.2.1"
remote = "10.0.2.2"
[bridge.lan]
ports = ["p1", "far"]
TOML
} >"$work/router.toml"
router router
until_true pings "$b" 10.0.2.1
cat >"$work/far.py" <<'PY'
import sys
from scapy.all import ARP, GRE, ICMP, IP, Ether, conf, getmacbyip, sendp, sniff
conf.verb = 0
mac = "06:00:00:00:00:77"
link = Ether(dst=getmacbyip("10.0.2.1")) / IP(src="10.0.2.2", dst="10.0.2.1")

def ask(inside, wanted, key=7):
    for _ in range(10):
        seen = sniff(iface="eth0", count=1, timeout=2, lfilter=lambda it: GRE in it and it[IP].src == "10.0.2.1" and wanted(it[GRE]), started_callback=lambda: sendp(link / GRE(proto=0x6558, key_present=1, key=key) / Ether(src=mac, dst=to) / inside, iface="eth0"))
        if seen:
            assert seen[0][GRE].key == 9
            return seen[0][GRE]
    sys.exit("no answer to " + inside.summary())

to = "ff:ff:ff:ff:ff:ff"
answer = ask(ARP(op=1, hwsrc=mac, psrc="10.0.1.77", pdst="10.0.1.2"), lambda it: ARP in it and it[ARP].op == 2)
to = answer[ARP].hwsrc
echo = ask(IP(src="10.0.1.77", dst="10.0.1.2") / ICMP(id=7) / (b"x" * 1000), lambda it: ICMP in it and it[ICMP].type == 0)
assert len(echo[ICMP].payload) == 1000
sendp(link / GRE(proto=0x6558, key_present=1, key=8) / Ether(src=mac, dst=to) / IP(), iface="eth0")
PY
on "$b" timeout 50 /usr/bin/python3 "$work/far.py" || { ctl router show errors; ctl router mac show; exit 1; }
counted() { ctl router show errors | has unknown-tunnel; }
until_true counted
echo "ok $name"
