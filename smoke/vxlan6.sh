#!/usr/bin/env bash
# VXLAN to the kernel's device over IPv6, with UDP checksums as the kernel wants them, and over a jumbo
# underlay frames of 8 KiB inside; and one tunnel of ours with two remotes, of which one is learned.
. "$(dirname "$0")/lib.sh"
ip netns add vly-$$-probe
ip -n vly-$$-probe link add vx type vxlan id 5 dstport 4789 remote 192.0.2.1 2>/dev/null || skip "no vxlan device in this kernel"
hosts
for device in v1 v2; do ip -n "$r" link set $device mtu 9000; done
for host in "$a" "$b"; do ip -n "$host" link set eth0 mtu 9000; done
{
    two_ports af_packet | sed 's/buffers = 8192/&\nframe_bytes = 9216/; s/^device.*/&\nmtu = 9000/' |
        sed 's/addresses = \["10.0.1.1.*/addresses = []/; s/"10.0.2.1\/24"/&, "2001:db8:2::1\/64"/'
    cat <<'TOML'
[port.vx6]
kind = "vxlan"
vni = 6
local = "2001:db8:2::1"
remote = "2001:db8:2::2"
mtu = 8500
[port.vx4]
kind = "vxlan"
vni = 4
local = "10.0.2.1"
remotes = ["10.0.2.77"]
learn_remotes = true
[bridge.lan]
ports = ["p1", "vx6"]
[bridge.other]
ports = ["vx4", "own"]
[port.own]
kind = "bvi"
addresses = ["10.0.8.1/24"]
TOML
} >"$work/router.toml"
ip -n "$b" addr add 2001:db8:2::2/64 dev eth0 nodad
ip -n "$b" link add vx6 type vxlan id 6 dstport 4789 local 2001:db8:2::2 remote 2001:db8:2::1
ip -n "$b" addr add 10.0.9.2/24 dev vx6
ip -n "$b" link set vx6 mtu 8500 up
ip -n "$b" link add vx4 type vxlan id 4 dstport 4789 local 10.0.2.2 remote 10.0.2.1
ip -n "$b" addr add 10.0.8.2/24 dev vx4
ip -n "$b" link set vx4 mtu 1500 up
for device in vx4 vx6; do on "$b" ethtool -K $device tx off gso off tso off gro off >/dev/null; done
ip -n "$a" addr add 10.0.9.1/24 dev eth0
router router
until_true pings "$a" 10.0.9.2
for size in 0 1472 8000; do
    until_true on "$a" ping -q -c 2 -i 0.1 -W 2 -M do -s "$size" 10.0.9.2
    until_true on "$b" ping -q -c 2 -i 0.1 -W 2 -M do -s "$size" 10.0.9.1
done
ctl router mac show | has 'vx6'

# b is not in the list of vx4's remotes: its first frame is counted, and then it is one.
until_true pings "$b" 10.0.8.1
ctl router show errors | has new-remote
ctl router mac show | has 'vx4 to 10.0.2.2'
# Its flooding goes to the listed remote alone, which is not there; a fixed station is behind b for sure.
ctl router mac add other 06:00:00:00:00:55 port vx4 remote 10.0.2.2 >/dev/null
ctl router mac show | has '06:00:00:00:00:55 *vx4 to 10.0.2.2 *static'

# A way too narrow for the tunnel's packets: who sends is told what it leaves; what may be cut is a counted drop.
ctl router port set vx6 mtu 9000 >/dev/null
ip -n "$a" link set eth0 mtu 9000
told() {
    on "$a" ping -c 1 -W 1 -M do -s 8950 10.0.9.2 >"$work/told.txt" 2>&1 || true
    grep -Eq 'mtu[ =:]+8930' "$work/told.txt"
}
until_true told
ip -n "$a" route flush cache
narrow() {
    on "$a" ping -q -c 1 -W 1 -M dont -s 8950 10.0.9.2 >/dev/null || true
    ctl router show errors | has 'tunnel-too-big *untellable'
}
until_true narrow
echo "ok $name"
