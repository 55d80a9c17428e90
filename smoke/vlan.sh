#!/usr/bin/env bash
# VLANs of a trunk: one routed, one in a bridge with an untagged port and the router's own station. This
# kernel may have no VLAN devices, so scapy makes and reads the tags of host a.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import scapy' 2>/dev/null || skip "python3-scapy is missing"
hosts
{
    two_ports af_packet | grep -v addresses
    cat <<'TOML'
[port."p1.100"]
kind = "vlan"
parent = "p1"
vlan = 100
addresses = ["10.0.100.1/24"]
[port."p1.200"]
kind = "vlan"
parent = "p1"
vlan = 200
[port.own]
kind = "bvi"
addresses = ["10.0.2.1/24"]
[bridge.lan]
ports = ["p1.200", "p2", "own"]
TOML
} >"$work/router.toml"
router router
on "$b" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
# The own station of the bridge is the gateway of b.
until_true pings "$b" 10.0.2.1

cat >"$work/trunk.py" <<'PY'
import sys
from scapy.all import ARP, ICMP, IP, UDP, Dot1Q, Ether, conf, get_if_hwaddr, sendp, srp1
conf.verb = 0
mac = get_if_hwaddr("eth0")

def ask(vlan, packet, to="ff:ff:ff:ff:ff:ff"):
    for attempt in range(10):
        if attempt and IP in packet:
            # Who asked is probed soon, answers nobody here, and is forgotten: on a busy machine before it is heard.
            known = ARP(op=1, hwsrc=mac, psrc=packet[IP].src, pdst=packet[IP].dst)
            sendp(Ether(src=mac, dst="ff:ff:ff:ff:ff:ff") / Dot1Q(vlan=vlan) / known, iface="eth0")
        answer = srp1(Ether(src=mac, dst=to) / Dot1Q(vlan=vlan, prio=3) / packet, iface="eth0", timeout=2)
        if answer is not None:
            assert answer[Dot1Q].vlan == vlan, answer.summary()
            return answer
    sys.exit(f"nobody answered in VLAN {vlan}: {packet.summary()}")

# Routed: the gateway of VLAN 100 answers, and leads to b over the bridge's own station.
gateway = ask(100, ARP(op=1, hwsrc=mac, psrc="10.0.100.9", pdst="10.0.100.1"))[ARP].hwsrc
ping = IP(src="10.0.100.9", dst="10.0.100.1") / ICMP(id=7)
ask(100, ping, gateway)
# The first one may have waited for our MAC address, and then has no priority any more.
echo = ask(100, ping, gateway)
assert echo[ICMP].type == 0 and echo[Dot1Q].prio == 3, echo.summary()
# Bridged: b is in VLAN 200 here and untagged there.
b = ask(200, ARP(op=1, hwsrc=mac, psrc="10.0.2.9", pdst="10.0.2.2"))[ARP].hwsrc
echo = ask(200, IP(src="10.0.2.9", dst="10.0.2.2") / ICMP(id=8) / (b"x" * 1400), b)
assert echo[ICMP].type == 0 and len(echo[IP]) == 1428, echo.summary()
own = ask(200, ARP(op=1, hwsrc=mac, psrc="10.0.2.9", pdst="10.0.2.1"))[ARP].hwsrc
print(own)
PY
on "$a" timeout 50 /usr/bin/python3 "$work/trunk.py" >"$work/own.txt" || { ctl router show errors; ctl router mac show; exit 1; }
ctl router mac show | has 'p1.200'
ctl router show ports --json | jq -e '.[] | select(.name == "p1.100") | .rx.packets > 0 and .tx.packets > 0' >/dev/null
ctl router vlan add p1 300 inner any >/dev/null
ctl router config show | has 'inner *= "any"'
ctl router vlan del p1 300 inner any >/dev/null

# A tag of services is not one of customers: each reaches its own sub-interface, and no other.
ctl router vlan add p1 500 protocol 802.1ad >/dev/null
ctl router address add 10.0.50.1/24 port p1.500 >/dev/null
# Nor is one of VLAN 0, which tells a priority alone: the port itself hears it.
ctl router address add 10.0.1.1/24 port p1 >/dev/null
cat >"$work/service.py" <<'PY'
import sys
from scapy.all import ARP, ICMP, IP, AsyncSniffer, Dot1AD, Dot1Q, Ether, conf, get_if_hwaddr, sendp, srp1
conf.verb = 0
mac = get_if_hwaddr("eth0")
arp = ARP(op=1, hwsrc=mac, psrc="10.0.50.9", pdst="10.0.50.1")

def ask(tag, tries):
    for _ in range(tries):
        answer = srp1(Ether(src=mac, dst="ff:ff:ff:ff:ff:ff") / tag / arp, iface="eth0", timeout=1)
        if answer is not None:
            return answer

answer = ask(Dot1AD(vlan=500), 10)
assert answer is not None and answer.type == 0x88A8, "no answer in the VLAN of services"
assert ask(Dot1Q(vlan=500), 2) is None, "a customer's tag reached the services"


# What the port itself answers has no tag.
def hear(frame, wanted):
    for _ in range(10):
        sniffer = AsyncSniffer(iface="eth0", count=1, timeout=2, lfilter=wanted, started_callback=lambda: sendp(frame, iface="eth0"))
        sniffer.start()
        sniffer.join()
        if sniffer.results:
            return sniffer.results[0]
    sys.exit("no answer to " + frame.summary())

for number, tag in (7, Dot1Q(vlan=0, prio=5)), (8, Dot1AD(vlan=0, prio=5)):
    asks = Ether(src=mac, dst="ff:ff:ff:ff:ff:ff") / tag / ARP(op=1, hwsrc=mac, psrc="10.0.1.2", pdst="10.0.1.1")
    answer = hear(asks, lambda it: it.type == 0x0806 and it[ARP].op == 2 and it[ARP].psrc == "10.0.1.1")
    ping = Ether(src=mac, dst=answer[ARP].hwsrc) / tag / IP(src="10.0.1.2", dst="10.0.2.2") / ICMP(id=number)
    hear(ping, lambda it: ICMP in it and it[ICMP].type == 0 and it[ICMP].id == number)
PY
on "$a" timeout 50 /usr/bin/python3 "$work/service.py" || { ctl router show errors; exit 1; }
ctl router show errors | has unknown-vlan || { ctl router show errors; exit 1; }

# What leaves by a sub-interface leaves by its port, too, with its tag, and is counted there; p1 itself sends nothing. (VLANs that
# are gone have sent, too.)
ctl router show ports --json >"$work/ports.json"
jq -e '(.[] | select(.name == "p1").tx) as $trunk
    | [.[] | select(.name | startswith("p1.")).tx] | {packets: map(.packets) | add, bytes: map(.bytes) | add}
    | .packets > 3 and $trunk.packets >= .packets and $trunk.bytes >= .bytes + 4 * .packets' "$work/ports.json" >/dev/null ||
    { cat "$work/ports.json"; echo "p1 does not count what its VLANs send"; exit 1; }
echo "ok $name"
