#!/usr/bin/env bash
# A Geneve tunnel to the kernel's geneve device: host a behind a bridge of ours, host b behind its own device.
# Frames of 1500 bytes inside pass both ways where the path between carries them.
. "$(dirname "$0")/lib.sh"
ip netns add vly-$$-probe
ip -n vly-$$-probe link add gn type geneve id 5 remote 192.0.2.1 2>/dev/null || skip "no geneve device in this kernel"
hosts
ip -n "$r" link set v2 mtu 1600
ip -n "$b" link set eth0 mtu 1600
{
    two_ports af_packet | grep -v '10.0.1.1'
    cat <<'TOML'
[port.gn0]
kind = "geneve"
vni = 42
local = "10.0.2.1"
remote = "10.0.2.2"
[bridge.lan]
ports = ["p1", "gn0"]
TOML
} | sed 's/^device = "v2"/&\nmtu = 1600/' >"$work/router.toml"
ip -n "$b" link add gn0 type geneve id 42 remote 10.0.2.1
ip -n "$b" addr add 10.0.9.2/24 dev gn0
ip -n "$b" link set gn0 mtu 1500 up
on "$b" ethtool -K gn0 tx off gso off tso off gro off >/dev/null
ip -n "$a" addr add 10.0.9.1/24 dev eth0
router router
until_true pings "$a" 10.0.9.2
for size in 0 1000 1472; do
    on "$a" ping -q -c 2 -i 0.1 -W 2 -M do -s "$size" 10.0.9.2 >/dev/null || { echo "ping of $size failed"; ctl router show errors; exit 1; }
    on "$b" ping -q -c 2 -i 0.1 -W 2 -M do -s "$size" 10.0.9.1 >/dev/null || { echo "ping of $size back failed"; ctl router show errors; exit 1; }
done
ctl router mac show | has 'gn0'
# Another network identifier is another network: counted, not heard.
ip -n "$b" link add gn1 type geneve id 43 remote 10.0.2.1
ip -n "$b" link set gn1 up
ip -n "$b" addr add 10.0.8.2/24 dev gn1
shout() {
    on "$b" ping -q -c 1 -W 1 10.0.8.9 >/dev/null || true
    ctl router show errors | has unknown-tunnel
}
until_true shout
echo "ok $name"
