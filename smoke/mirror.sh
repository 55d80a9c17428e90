#!/usr/bin/env bash
# Local port mirroring: what a says to the router, and what the router answers, is seen by c, who is part of
# nothing; and so is what passes a bridge. Without the mirror c sees nothing.
. "$(dirname "$0")/lib.sh"
hosts
c=vly-$$-c
ip netns add "$c"
ip -n "$r" link add v3 type veth peer name eth0 netns "$c"
ip -n "$r" link set v3 up
ip -n "$c" link set eth0 up
{
    two_ports af_packet
    printf '[port.p3]\nkind = "af_packet"\ndevice = "v3"\n[mirror.spy]\ndestination = "p3"\nsources = ["p1"]\n'
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.1.1

# watch FILE FILTER: what c sees of it, until `seen` has enough.
watch() {
    ip netns exec "$c" tcpdump -n -U -i eth0 -w "$work/$1.pcap" "$2" 2>"$work/$1.txt" &
    daemons+=($!)
    until_true has listening "$work/$1.txt"
}
seen() { tshark -r "$work/$1.pcap" -Y "$2" 2>/dev/null | has .; }
watch routed icmp
pings "$a" 10.0.2.2 >/dev/null
until_true seen routed 'icmp.type == 8 && ip.src == 10.0.1.2 && ip.ttl == 64'
until_true seen routed 'icmp.type == 0 && ip.src == 10.0.2.2 && ip.ttl == 63'
json '.[] | select(.name == "spy") | .sources[0] | select(.received > 0 and .sent > 0 and .lost == 0)' router show mirror | has received
ctl router show mirror | has 'spy  *p3  *p1  *both'

# Loops are refused, and nothing of the change is made.
! ctl router mirror add back to p1 from p3 >/dev/null 2>&1 || { echo "a loop of mirrors was made"; exit 1; }
ctl router mirror del spy >/dev/null
watch nothing icmp
pings "$a" 10.0.2.2 >/dev/null

# A bridge of the two: of p2 alone what it sends.
{
    two_ports af_packet | grep -v addresses
    printf '[port.p3]\nkind = "af_packet"\ndevice = "v3"\n[bridge.lan]\nports = ["p1", "p2"]\n'
    printf '[mirror.spy]\ndestination = "p3"\nsources = [{ port = "p2", direction = "tx" }]\n'
} >"$work/bridge.toml"
ctl router config apply "$work/bridge.toml" >/dev/null
ip -n "$a" addr add 10.0.9.1/24 dev eth0
ip -n "$b" addr add 10.0.9.2/24 dev eth0
watch bridged icmp
until_true pings "$a" 10.0.9.2
until_true seen bridged 'icmp.type == 8 && ip.src == 10.0.9.1'
! seen bridged 'icmp.type == 0' || { echo "what p2 received was copied"; exit 1; }
! seen nothing 'ip.addr == 10.0.2.2' || { echo "the mirror was gone, its copies were not"; exit 1; }
echo "ok $name"
