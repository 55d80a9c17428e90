#!/usr/bin/env bash
# Access lists for what leaves, the router's own packets included, and those of VLANs, against the Linux stack.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import scapy' 2>/dev/null || skip "python3-scapy is missing"
hosts
{
    two_ports af_packet | sed 's/^device = "v2"/&\nacl_out = "to_b"/'
    for vlan in 100 200; do
        printf '[port."p1.%s"]\nkind = "vlan"\nparent = "p1"\nvlan = %s\n' $vlan $vlan
        printf 'addresses = ["10.0.%s.1/24"]\nacl_in = "vlan_100"\nacl_out = "vlan_100"\n' $vlan
    done
    for inner in 7 8; do
        printf '[port."p1.300.%s"]\nkind = "vlan"\nparent = "p1"\nvlan = 300\ninner = %s\n' $inner $inner
        printf 'addresses = ["10.0.%s.1/24"]\nacl_in = "inner_7"\nacl_out = "inner_7"\n' $inner
    done
    cat <<'TOML'
[acl.inner_7]
[[acl.inner_7.rule]]
action = "permit"
vlan = 300
inner_vlan = 7
[acl.to_b]
default = "permit"
[[acl.to_b.rule]]
action = "deny"
protocol = "udp"
destination_port = 7005
[[acl.to_b.rule]]
action = "deny"
protocol = "icmp"
icmp_type = 0
source = "10.0.2.1/32"
[acl.vlan_100]
[[acl.vlan_100.rule]]
action = "permit"
vlan = 100
TOML
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2

# heard PORT TIMES: whether host b hears what a says over UDP, so many times at most.
heard() {
    ip netns exec "$b" socat -u "UDP-RECV:$1" "OPEN:$work/heard-$1,creat" 2>/dev/null &
    daemons+=($!)
    for _ in $(seq "$2"); do
        on "$a" socat - "UDP:10.0.2.2:$1" <<<hello
        sleep 0.1
        [ ! -s "$work/heard-$1" ] || return 0
    done
    return 1
}
heard 7010 100 || { echo "what the list permits did not arrive"; exit 1; }
! heard 7005 15 || { echo "what the list denies left"; exit 1; }
counted() { json '.[] | select(.name == "to_b") | .'"$1" router show acl | has "$2"; }
counted 'rules[0] | select(.packets >= 10) | .packets' .
counted 'ports_out[0]' p2

# Our own answers to b are held to it, too, until the port has no list any more.
! pings "$b" 10.0.2.1 || { echo "an answer of our own left"; exit 1; }
counted 'rules[1] | select(.packets >= 1) | .packets' .
ctl router show errors | has 'acl-output'
ctl router port set p2 acl_out none
until_true pings "$b" 10.0.2.1
ctl router port set p2 acl_out to_b
! pings "$b" 10.0.2.1 || { echo "the list does not stand again"; exit 1; }

# Lists that ask for a VLAN, or for the one behind it, at sub-interfaces, whose frames have no tags in the router.
cat >"$work/vlans.py" <<'PY'
import sys
from scapy.all import ARP, ICMP, IP, Dot1AD, Dot1Q, Ether, conf, get_if_hwaddr, srp1
conf.verb = 0
mac = get_if_hwaddr("eth0")

def ask(tags, packet, to="ff:ff:ff:ff:ff:ff", tries=10):
    for _ in range(tries):
        answer = srp1(Ether(src=mac, dst=to) / tags / packet, iface="eth0", timeout=1)
        if answer is not None:
            return answer

# The last tag is the network's number.
both = lambda inner: Dot1AD(vlan=300) / Dot1Q(vlan=inner)
for tags, tries, answers in [(Dot1Q(vlan=100), 10, True), (Dot1Q(vlan=200), 3, False), (both(7), 10, True), (both(8), 3, False)]:
    net = tags.lastlayer().vlan
    arp = ask(tags, ARP(op=1, hwsrc=mac, psrc=f"10.0.{net}.9", pdst=f"10.0.{net}.1"))
    ping = IP(src=f"10.0.{net}.9", dst=f"10.0.{net}.1") / ICMP(id=net)
    echo = ask(tags, ping, arp[ARP].hwsrc, tries)
    if (echo is not None and ICMP in echo) != answers:
        sys.exit(f"VLAN {net}: {echo}")
PY
on "$a" timeout 50 /usr/bin/python3 "$work/vlans.py" || { ctl router show acl; exit 1; }
for list in vlan_100 inner_7; do
    json ".[] | select(.name == \"$list\") | select(.rules[0].packets >= 2 and .other_packets >= 1) | .name" router show acl | has $list ||
        { ctl router show acl; exit 1; }
done
echo "ok $name"
