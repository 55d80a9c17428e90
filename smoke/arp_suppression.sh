#!/usr/bin/env bash
# A bridge that answers ARP: once it has heard b, a's question for b is answered and c does not see it; a
# binding that is configured is answered at once, whether its station was heard or not; without the flag all is flooded.
. "$(dirname "$0")/lib.sh"
bridged_hosts
{
    three_ports
    printf '[bridge.lan]\nports = ["p1", "p2", "p3"]\nanswer_arp = true\n'
    printf 'bindings = [{ address = "10.0.9.50", mac = "06:00:00:00:00:02" }, { address = "10.0.9.51", mac = "06:00:00:00:00:51" }]\n'
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.9.2
knows() { ctl router show bridge | has "answers ARP for $1"; }
until_true knows 4

# What c sees of ARP: c itself says nothing meanwhile.
ip netns exec "$c" tcpdump -n -U -i eth0 -w "$work/c.pcap" arp 2>"$work/dump.txt" &
daemons+=($!)
until_true has listening "$work/dump.txt"
asks() {
    ip -n "$a" neigh flush dev eth0
    on "$a" ping -q -c 1 -W 2 "$1" >/dev/null || true
    ip -n "$a" neigh show "$1" | has "${2:-06:00:00:00:00:02}"
}
until_true asks 10.0.9.2
until_true asks 10.0.9.50
asks 10.0.9.51 06:00:00:00:00:51 || { echo "a binding of a station that never spoke is not answered"; exit 1; }
on "$a" ping -q -c 1 -W 1 10.0.9.99 >/dev/null || true
seen() { tshark -r "$work/c.pcap" -Y "arp.opcode == 1 && arp.dst.proto_ipv4 == $1" 2>/dev/null | has .; }
until_true seen 10.0.9.99
! seen 10.0.9.2 && ! seen 10.0.9.50 && ! seen 10.0.9.51 || { echo "a known station's question was flooded"; exit 1; }
ctl router bridge set lan answer_arp false >/dev/null
flooded() { asks 10.0.9.2 && seen 10.0.9.2; }
until_true flooded
echo "ok $name"
