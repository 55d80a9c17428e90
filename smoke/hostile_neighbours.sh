#!/usr/bin/env bash
# Hostile neighbours: a /64 and a /16 are scanned, answers and questions of random senders come by the thousand,
# and hosts of another port that nobody knew are found, in both families, and lose nothing once they are. What was
# known before is known after. SECONDS_EACH=600 throws each for longer and keeps on pinging.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
for host in "$a 1" "$b 2"; do
    on "${host% *}" sysctl -qw net.ipv6.conf.all.accept_dad=0
    ip -n "${host% *}" addr add "2001:db8:${host#* }::2/64" dev eth0 nodad
    ip -n "${host% *}" route add default via "2001:db8:${host#* }::1"
done
# The hosts behind p2 come up one after the other; those behind p1 are scanned for, through p2 as well.
{
    printf '[workers]\ncount = 1\n[memory]\nbuffers = 8192\n'
    for number in 1 2; do
        printf '[port.p%s]\nkind = "af_packet"\ndevice = "v%s"\n' $number $number
        printf 'addresses = ["10.0.%s.1/24", "10.%s.0.1/16", "2001:db8:%s::1/64"]\n' $number $((number + 100)) $number
    done
} >"$work/router.toml"
router router
ours() { json ".[] | select(.name == \"$1\").mac" router show ports; }
share() { json ".[] | select(.port == \"$1\" and .family == \"$2\").$3" router show neighbor-shares; }
neighbor() { json "map(select(.address == \"$1\"))[0].$2" router show neighbors; }
state_is() { [ "$(neighbor "$1" state)" = "$2" ]; }
# One that is known before all of it.
until_true pings "$a" 10.0.2.2
until_true on "$a" ping -q -c 1 -W 1 2001:db8:2::2
until_true pings "$a" 10.0.1.1

throwers=()
throw() {
    local space=$1
    shift
    ip netns exec "$space" python3 "$root/smoke/scan.py" eth0 "$@" &
    throwers+=($!) daemons+=($!)
}
stop() {
    kill "${throwers[@]}"
    wait "${throwers[@]}" 2>/dev/null || true
    throwers=()
}
# A host behind p2 that was never heard of: asked for now, and no ping is lost from its first answer on.
number=10
newcomer() {
    local to
    number=$((number + 1))
    ip -n "$b" addr add "10.0.2.$number/24" dev eth0
    ip -n "$b" addr add "2001:db8:2::$number/64" dev eth0 nodad
    for to in 10.0.2.$number 2001:db8:2::$number; do
        until_true on "$a" ping -q -c 1 -W 1 "$to"
        on "$a" ping -q -i 0.05 -c $((20 * ${SECONDS_EACH:-1})) -W 2 "$to" >"$work/ping" || true
        has ' 0% packet loss' "$work/ping" || { cat "$work/ping"; fail "$1: packets to $to were lost"; }
    done
    for to in 10.0.2.2 2001:db8:2::2; do
        on "$a" ping -q -c 3 -i 0.05 -W 2 "$to" | has ' 0% packet loss' || fail "$1: $to was known, and is lost"
    done
    printf '%-66s lost 0 of %s\n' "$1" $((46 * ${SECONDS_EACH:-1}))
}
met() { json "map(select(.name == \"$1\"))[0].packets" router show nodes; }
# Whether so many more than before went through two nodes.
meets() { [ "$(met "$1")" -gt $(($3 + 2000)) ] && [ "$(met "$2")" -gt $(($4 + 2000)) ]; }
evicts() { [ "$(share "$1" "$2" evicted)" -gt 100 ]; }

# Host a's own packets go to p1; what it throws comes from there as well, and scans the link of p1 itself.
throw "$a" 4000 "$(ours p1)" scan 2001:db8:1::2 2001:db8:1::1 2001:db8:1::/64
until_true evicts p1 ip6
newcomer "a scan of a /64 behind another port, 4,000 packets a second"
stop
throw "$a" 4000 "$(ours p1)" scan 10.0.1.2 10.101.0.1 10.101.0.0/16
until_true evicts p1 ip4
newcomer "a scan of a /16 behind another port, 4,000 packets a second"
stop
# Senders that nobody asked: p1 hears them, and learns those that ask.
arp=$(met arp-input) nd=$(met nd-input)
throw "$a" 4000 "$(ours p1)" answers - 10.101.0.1 10.101.0.0/16
throw "$a" 4000 "$(ours p1)" answers - 2001:db8:1::1 2001:db8:1::/64
until_true meets arp-input nd-input "$arp" "$nd"
newcomer "ARP replies and advertisements of random senders, 8,000 a second"
stop
arp=$(met arp-input) nd=$(met nd-input)
throw "$a" 4000 "$(ours p1)" questions - 10.101.0.1 10.101.0.0/16
throw "$a" 4000 "$(ours p1)" questions - 2001:db8:1::1 2001:db8:1::/64
until_true meets arp-input nd-input "$arp" "$nd"
newcomer "ARP requests and solicitations of random senders, 8,000 a second"
stop

for family in ip4 ip6; do
    [ "$(share p1 $family neighbors)" -gt 1000 ] || fail "p1 has not heard of those who asked"
    [ "$(share p2 $family evicted)" = 0 ] || fail "a neighbour behind p2 gave way"
    [ "$(share p1 $family unresolved)" -le "$(share p1 $family most_unresolved)" ] || fail "more than p1 may have"
done
told() { json 'map(select(.fields.fault == "neighbors-crowded" and .fields.port == "p1")) | length' router events | has -v '^0$'; }
until_true told
echo "ok $name"
