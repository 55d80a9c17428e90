#!/usr/bin/env bash
# A bridge that answers neighbour solicitations: once b has advertised itself, a's question for it is answered and c
# does not see it; a binding that is configured is answered, as a router's; a probe for an address that is taken
# still reaches its owner; without the flag all is flooded.
. "$(dirname "$0")/lib.sh"
bridged_hosts
number=0
for host in "$a" "$b" "$c"; do
    number=$((number + 1))
    on "$host" sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.eth0.disable_ipv6=0
    ip -n "$host" addr add "fd00::$number/64" dev eth0 nodad
done
{
    three_ports
    printf '[bridge.lan]\nports = ["p1", "p2", "p3"]\nanswer_nd = true\n'
    printf 'bindings = [{ address = "fd00::50", mac = "06:00:00:00:00:02", router = true }, { address = "fd00::51", mac = "06:00:00:00:00:51" }]\n'
} >"$work/router.toml"
router router
until_true pings "$a" fd00::2
knows() { ctl router show bridge | has "answers ND for $1"; }
until_true knows '[3-9]'

# What c sees of questions that others ask.
ip netns exec "$c" tcpdump -n -U -i eth0 -w "$work/c.pcap" 'icmp6 and ip6[40] == 135' 2>"$work/dump.txt" &
daemons+=($!)
until_true has listening "$work/dump.txt"
asks() {
    ip -n "$a" neigh flush dev eth0
    on "$a" ping -q -c 1 -W 2 "$1" >/dev/null || true
    ip -n "$a" neigh show "$1" | has "${3:-06:00:00:00:00:02} ${2:-}"
}
until_true asks fd00::2 '\(REACH\|DELAY\|STALE\)'
until_true asks fd00::50 router
asks fd00::51 '' 06:00:00:00:00:51 || { echo "a binding of a station that never spoke is not answered"; exit 1; }
on "$a" ping -q -c 1 -W 1 fd00::99 >/dev/null || true
seen() { tshark -r "$work/c.pcap" -Y "icmpv6.nd.ns.target_address == $1 && ipv6.src == fd00::1" 2>/dev/null | has .; }
until_true seen fd00::99
! seen fd00::2 && ! seen fd00::50 && ! seen fd00::51 || { echo "a known station's question was flooded"; exit 1; }

# Duplicate address detection of c ends as it would on a wire.
ip -n "$c" addr add fd00::2/64 dev eth0
taken() { ip -n "$c" addr show dev eth0 dadfailed | has fd00::2; }
until_true taken
ip -n "$c" addr del fd00::2/64 dev eth0
ctl router bridge set lan answer_nd false >/dev/null
flooded() { asks fd00::2 && seen fd00::2; }
until_true flooded
echo "ok $name"
