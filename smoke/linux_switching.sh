#!/usr/bin/env bash
# What this kernel may lack, of one that has it: user-mode Linux behind a trunk of ours. Its bridge filters
# VLANs, its gretap and gre devices are the other ends of our GRE tunnels of frames and of packets: over IPv4, and
# over IPv6 in a VRF of their own.
. "$(dirname "$0")/lib.sh"
kernel=/usr/bin/linux.uml
modules=/usr/lib/uml/modules
[ -x $kernel ] && [ -d $modules ] || skip "user-mode-linux is missing"
! has -w amx_tile /proc/cpuinfo || cannot "user-mode Linux 6.1 does not run on processors with AMX"
hosts
ip -n "$r" link del v2
on "$r" ip tuntap add ut0 mode tap || skip "no tap devices"
on "$r" sysctl -qw net.ipv6.conf.ut0.disable_ipv6=1
ip -n "$r" link set ut0 mtu 1600 up
{
    two_ports af_packet | grep -v '10.0.1.1' | sed 's/^device = "v2"/device = "ut0"\nmtu = 1600/'
    cat <<'TOML'
[port."p2.100"]
kind = "vlan"
parent = "p2"
vlan = 100
[port."p2.300"]
kind = "vlan"
parent = "p2"
vlan = 300
addresses = ["10.0.33.1/24"]
[port.far]
kind = "gre"
key = 7
local = "10.0.2.1"
remote = "10.0.2.2"
[port.link]
kind = "gre"
key = 8
payload = "packets"
local = "10.0.2.1"
remote = "10.0.2.2"
addresses = ["10.8.0.1/30"]
[vrf.blue]
[port."p2.200"]
kind = "vlan"
parent = "p2"
vlan = 200
vrf = "blue"
mtu = 1600
addresses = ["fd00:2::1/64"]
[port.far6]
kind = "gre"
local = "fd00:2::1"
remote = "fd00:2::2"
underlay_vrf = "blue"
[port.link6]
kind = "gre"
key = 9
payload = "packets"
local = "fd00:2::1"
remote = "fd00:2::2"
underlay_vrf = "blue"
addresses = ["10.8.6.1/30", "fd00:8::1/64"]
[port.own6]
kind = "bvi"
addresses = ["10.0.6.254/24"]
[bridge.six]
ports = ["far6", "own6"]
[port.own]
kind = "bvi"
addresses = ["10.0.7.254/24"]
[bridge.lan]
ports = ["p1", "p2.100", "far", "own"]
TOML
} >"$work/router.toml"
ip -n "$a" addr flush dev eth0
ip -n "$a" addr add 10.0.9.1/24 dev eth0
ip -n "$a" addr add 10.0.7.1/24 dev eth0
ip -n "$a" route add default via 10.0.7.254

# The user-mode kernel's first process. VLAN 1 is the trunk's untagged one; 300 is not let in.
mkdir "$work/lib"
ln -s $modules "$work/lib/modules"
cat >"$work/init.sh" <<INIT
#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sys /sys
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
for module in bridge 8021q ip_gre ip6_gre; do modprobe -d "$work" \$module; done
sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip link set lo up
ethtool -K vec0 tx off sg off tso off gso off gro off
ip link set vec0 mtu 1600 up
ip link add br0 type bridge vlan_filtering 1 mcast_snooping 0
ip link set vec0 master br0
ip link set br0 mtu 1600 up
for vid in 100 200; do bridge vlan add dev vec0 vid \$vid; done
for vid in 100 200 300; do
    bridge vlan add dev br0 vid \$vid self
    ip link add link br0 name br0.\$vid type vlan id \$vid
done
ip addr add 10.0.2.2/24 dev br0
ip addr add 10.0.9.2/24 dev br0.100
ip addr add 10.0.33.2/24 dev br0.300
ip link add g0 type gretap key 7 local 10.0.2.2 remote 10.0.2.1
ip addr add 10.0.7.3/24 dev g0
ip link add g1 type gre key 8 local 10.0.2.2 remote 10.0.2.1
ip addr add 10.8.0.2/30 dev g1
six() { echo 0 >/proc/sys/net/ipv6/conf/\$1/disable_ipv6; ip addr add \$2 dev \$1 nodad; }
six br0.200 fd00:2::2/64
# The one with the option that limits how deep tunnels are put into each other, as it is by default.
ip link add g2 type ip6gretap local fd00:2::2 remote fd00:2::1
ip addr add 10.0.6.3/24 dev g2
ip link add g3 type ip6gre key 9 encaplimit none local fd00:2::2 remote fd00:2::1
ip addr add 10.8.6.2/30 dev g3
six g3 fd00:8::2/64
for device in br0.100 br0.200 br0.300 g0 g1 g2 g3; do ip link set \$device up; done
for device in g0 g2; do ip link set \$device mtu 1500; done
echo ready >"$work/ready"
# From here to there, both ways of each tunnel and VLAN, with full packets.
try() { for turn in 1 2 3 4 5 6 7 8; do ping -q -c 2 -i 0.2 -W 1 "\$@" && return 0; done; return 1; }
{
    try 10.0.2.1 && echo underlay
    try -M do -s 1472 10.0.9.1 && echo vlan100
    try -M do -s 1472 10.0.7.1 && echo gretap
    try -M do -s 1444 10.8.0.1 && echo gre
    try fd00:2::1 && echo underlay6
    try -M do -s 1472 10.0.6.254 && echo ip6gretap
    try -M do -s 1424 10.8.6.1 && echo ip6gre
    try fd00:8::1 && echo inside6
    ping -q -c 2 -i 0.2 -W 1 10.0.33.1 || echo vlan300 filtered
} >"$work/uml.txt" 2>&1
echo done >"$work/done"
while [ ! -e "$work/stop" ]; do sleep 0.2; done
echo o >/proc/sysrq-trigger
sleep 10
INIT
chmod 755 "$work/init.sh"
router router
ip netns exec "$r" $kernel rootfstype=hostfs rootflags=/ rw mem=192M con=null con0=fd:0,fd:1 \
    "init=$work/init.sh" vec0:transport=tap,ifname=ut0,depth=64,mtu=1600 </dev/null >"$work/console.log" 2>&1 &
daemons+=($!)
until_true test -e "$work/ready"
fails() { cat "$work/uml.txt" "$work/console.log"; ctl router show errors; ctl router show ports; ctl router mac show; exit 1; }
until_true test -e "$work/done" || fails
for word in underlay vlan100 gretap gre underlay6 ip6gretap ip6gre inside6 'vlan300 filtered'; do
    has -x "$word" "$work/uml.txt" || fails
done
pings "$a" 10.0.9.2 >/dev/null && on "$a" ping -q -c 2 -i 0.2 -W 2 -M do -s 1472 10.0.9.2 >/dev/null || fails
pings "$a" 10.0.7.3 >/dev/null && on "$a" ping -q -c 2 -i 0.2 -W 2 -M do -s 1472 10.0.7.3 >/dev/null || fails
for port in p2.100 far far6; do ctl router mac show | has " $port " || fails; done
touch "$work/stop"
echo "ok $name"
