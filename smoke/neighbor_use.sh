#!/usr/bin/env bash
# Neighbours in use: Linux is asked by unicast before its lifetime ends, loses no packet and hears no
# broadcast after the first, by ARP and by neighbour discovery; when it dies, that is found out.
# Timers change while packets flow.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
for host in "$a 1" "$b 2"; do
    on "${host% *}" sysctl -qw net.ipv6.conf.all.accept_dad=0
    ip -n "${host% *}" addr add "2001:db8:${host#* }::2/64" dev eth0 nodad
    ip -n "${host% *}" route add default via "2001:db8:${host#* }::1"
done
{
    two_ports af_packet | sed -E 's|addresses = \["10.0.([12]).1/24"\]|addresses = ["10.0.\1.1/24", "2001:db8:\1::1/64"]|'
    printf '[arp]\nretry = "200ms"\n'
} >"$work/router.toml"
grep -q 2001 "$work/router.toml" || fail "the ports have no IPv6 addresses"
router router
neighbor() { json "map(select(.address == \"$1\"))[0].$2" router show neighbors; }
state_is() { [ "$(neighbor "$1" state)" = "$2" ]; }
until_true pings "$a" 10.0.2.2
until_true on "$a" ping -q -c 1 -W 1 2001:db8:2::2

# Lifetimes of two seconds, from now on and without a restart.
sed 's/^retry.*/&\nlifetime = "2s"/' "$work/router.toml" >"$work/quick.toml"
ctl router config apply "$work/quick.toml" >"$work/applied" || { cat "$work/applied"; fail "not applied"; }
grep -qi restart "$work/applied" && { cat "$work/applied"; fail "timers need a restart"; }
# What was learned under the old ones goes with the link.
ip -n "$r" link set v2 down
link_is() { json '.[] | select(.name == "p2").link_up' router show ports | has "$1"; }
until_true link_is false
ip -n "$r" link set v2 up
until_true link_is true
until_true pings "$a" 10.0.2.2
until_true on "$a" ping -q -c 1 -W 1 2001:db8:2::2

# Several lifetimes of packets: each is answered. The kernel counts what it was asked by broadcast.
ip netns exec "$b" tcpdump -n -U -i eth0 -w "$work/asked.pcap" 'arp or icmp6' 2>"$work/dump.txt" &
dump=$!
until_true grep -q listening "$work/dump.txt"
on "$a" ping -q -i 0.02 -c 500 -W 2 10.0.2.2 >"$work/ping4" &
four=$!
on "$a" ping -q -i 0.02 -c 500 -W 2 2001:db8:2::2 >"$work/ping6" || true
wait $four || true
for family in 4 6; do
    grep -q ' 0% packet loss' "$work/ping$family" || { cat "$work/ping$family"; fail "packets were lost"; }
done
kill $dump
wait $dump || true
asked() { tshark -r "$work/asked.pcap" -Y "$1" -T fields -e frame.number 2>/dev/null | wc -l; }
ours=$(json '.[] | select(.name == "p2").mac' router show ports)
[ "$(asked "arp.opcode == 1 && eth.src == $ours && eth.dst != ff:ff:ff:ff:ff:ff")" -ge 3 ] || fail "no probes by ARP"
[ "$(asked "icmpv6.type == 135 && eth.src == $ours && !(eth.dst[0] & 1)")" -ge 3 ] || fail "no probes by neighbour discovery"
# The first lifetime was the old one, and what it left was asked again once at most.
[ "$(asked "arp.opcode == 1 && eth.src == $ours && eth.dst == ff:ff:ff:ff:ff:ff")" -le 1 ] || fail "broadcasts for a neighbour in use"
[ "$(asked "icmpv6.type == 135 && eth.src == $ours && eth.dst[0] & 1")" -le 1 ] || fail "groups asked for a neighbour in use"

# Nobody sends to it any more. By default it is forgotten; with `keep` it is asked on, by unicast, and stays known.
forgotten() { [ -z "$(neighbor "$1" state | grep reachable)" ]; }
until_true forgotten 10.0.2.2
until_true forgotten 2001:db8:2::2
sed 's/^lifetime.*/&\nkeep = true/' "$work/quick.toml" >"$work/keep.toml"
ctl router config apply "$work/keep.toml" >"$work/applied" || { cat "$work/applied"; fail "not applied"; }
until_true pings "$a" 10.0.2.2
until_true on "$a" ping -q -c 1 -W 1 2001:db8:2::2
ip netns exec "$b" tcpdump -n -e -l -i eth0 'arp or icmp6' >"$work/kept.txt" 2>"$work/kept.err" &
dump=$!
until_true grep -q listening "$work/kept.err"
asks() { [ "$(grep -cE "^[^ ]+ $ours > $1.*$2" "$work/kept.txt")" -ge "$3" ]; }
theirs=$(on "$b" cat /sys/class/net/eth0/address)
until_true asks "$theirs" 'who-has 10.0.2.2' 4
until_true asks "$theirs" 'who has 2001:db8:2::2' 4
state_is 10.0.2.2 reachable && state_is 2001:db8:2::2 reachable || fail "not kept"
! asks "(ff:ff|33:33)" 'who.has (10.0.2.2|2001:db8:2::2)' 1 || fail "others were asked for one that is kept"
kill $dump
wait $dump || true

# It dies: its addresses go, its link stays. Packets for it, and its MAC is believed no longer.
ip -n "$b" addr flush dev eth0
on "$b" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1
on "$a" ping -q -i 0.1 -c 300 10.0.2.2 >/dev/null 2>&1 &
on "$a" ping -q -i 0.1 -c 300 2001:db8:2::2 >/dev/null 2>&1 &
for address in 10.0.2.2 2001:db8:2::2; do
    until_true state_is "$address" failed
done
echo "ok $name"
