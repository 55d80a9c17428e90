#!/usr/bin/env bash
# The kernel's own bridge at the other end of two wires, which speaks the old protocol alone: we speak it there, one wire stands by at
# either end's choice, and takes over when the other is cut.
. "$(dirname "$0")/lib.sh"
command -v bridge >/dev/null || skip "no bridge"
# Host a at our bridge; the kernel's bridge, in b's namespace, is a host itself.
for space in "$r" "$a" "$b"; do
    ip netns add "$space"
    on "$space" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
    ip -n "$space" link set lo up
done
ip -n "$r" link add v3 type veth peer name eth0 netns "$a"
ip -n "$r" link set v3 up
for number in 1 2; do
    ip -n "$r" link add "v$number" type veth peer name "k$number" netns "$b"
    ip -n "$r" link set "v$number" up
    ip -n "$b" link set "k$number" up
done
ip -n "$b" link add br0 address 06:00:00:00:00:22 type bridge stp_state 1 forward_delay 400 max_age 600 2>/dev/null || skip "no bridge with STP"
for number in 1 2; do ip -n "$b" link set "k$number" master br0; done
ip -n "$b" addr add 10.0.9.9/24 dev br0
ip -n "$b" link set br0 up
ip -n "$a" addr add 10.0.9.1/24 dev eth0
ip -n "$a" link set eth0 up
on "$a" ethtool -K eth0 tx off gso off tso off gro off >/dev/null
on "$b" ethtool -K br0 tx off >/dev/null
{
    three_ports
    printf '[bridge.lan]\nports = ["p1", "p2", "p3"]\nrstp = { priority = 4096, forward_delay = "4s", max_age = "6s", address = "02:00:00:00:00:01" }\n'
} >"$work/router.toml"
router router

fails() { ctl router show spanning-tree; bridge -n "$b" link show; ctl router show errors; exit 1; }
port() { json ".[0].ports[] | select(.port == \"$1\") | .role + \" \" + .state + \" \" + .speaks" router show spanning-tree | has -x "$2"; }
kernel() { bridge -n "$b" link show dev "$1" | has "state $2 "; }

# We are the root: the kernel chooses which of its ports stands by.
until_true port p1 'designated forwarding stp' || fails
until_true port p2 'designated forwarding stp' || fails
until_true port p3 'designated forwarding rstp' || fails
until_true kernel k1 forwarding && kernel k2 blocking || fails
until_true pings "$a" 10.0.9.9 || fails
ip -n "$r" link set v1 down
until_true kernel k2 forwarding || fails
until_true pings "$a" 10.0.9.9 || fails
ip -n "$r" link set v1 up
until_true kernel k2 blocking || fails

# The kernel is the root: we choose.
ip -n "$b" link set br0 type bridge priority 0
until_true port p1 'root forwarding stp' || fails
until_true port p2 'alternate discarding stp' || fails
[ "$(json '.[0].root_id' router show spanning-tree)" = 0.000.060000000022 ] || fails
until_true pings "$a" 10.0.9.9 || fails
ip -n "$b" link set k1 down
until_true port p2 'root forwarding stp' || fails
until_true pings "$a" 10.0.9.9 || fails

# We speak the old protocol alone.
ctl router bridge set lan rstp on version stp >/dev/null
[ "$(json '.[0].version' router show spanning-tree)" = stp ] || fails
until_true port p2 'root forwarding stp' || fails
until_true pings "$a" 10.0.9.9 || fails
echo "ok $name"
