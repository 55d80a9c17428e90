#!/usr/bin/env bash
# ERSPAN of both types to Linux's own erspan devices, of a user-mode kernel: what comes out of them there is what host
# a said and heard.
. "$(dirname "$0")/lib.sh"
. "$root/smoke/uml.bash"
hosts
ip -n "$r" link del v2
uml_taps 1
{
    two_ports af_packet | sed 's/^device = "v2"/device = "ut0"/'
    cat <<'TOML'
[port.two]
kind = "erspan"
session = 5
index = 77
local = "10.0.2.1"
remote = "10.0.2.2"
[port.three]
kind = "erspan"
session = 6
version = "III"
index = 3
local = "10.0.2.1"
remote = "10.0.2.2"
[mirror.said]
destination = "two"
sources = [{ port = "p1", direction = "rx" }]
[mirror.heard]
destination = "three"
sources = [{ port = "p1", direction = "tx" }]
TOML
} >"$work/router.toml"
router router
uml 1 "ip_gre" <<'INIT'
ip link set vec0 up
ip addr add 10.0.2.2/24 dev vec0
ip link add two type erspan seq key 5 local 10.0.2.2 remote 10.0.2.1 erspan_ver 1 erspan 77
ip link add three type erspan seq key 6 local 10.0.2.2 remote 10.0.2.1 erspan_ver 2 erspan_dir egress erspan_hwid 3
for device in two three; do
    ip link set $device up
    tcpdump -n -l -i $device icmp >$work/$device.txt 2>$work/$device.log &
done
try 10.0.2.1 && echo underlay
for device in two three; do
    until grep -q listening $work/$device.log; do sleep 0.1; done
done
echo ready >$work/ready
INIT
until_true test -e "$work/ready" || uml_fails
until_true on "$a" ping -q -c 1 -W 1 10.0.1.1
on "$a" ping -q -c 3 -i 0.2 -W 2 10.0.1.1 >/dev/null
until_true has '10.0.1.2 > 10.0.1.1: ICMP echo request, id .*, seq 3' "$work/two.txt" || uml_fails
until_true has '10.0.1.1 > 10.0.1.2: ICMP echo reply, id .*, seq 3' "$work/three.txt" || uml_fails
! has reply "$work/two.txt" && ! has request "$work/three.txt" || uml_fails
uml_stop
echo "ok $name"
