#!/usr/bin/env bash
# What comes out of our router is what comes out of a Linux router in its place: hundreds of good and
# bad packets, field by field. The differences that are meant stand in linux_explained.py.
. "$(dirname "$0")/lib.sh"
python=/usr/bin/python3
"$python" -c 'import scapy' 2>/dev/null || skip "no scapy: apt-get install python3-scapy"
here=$(dirname "$0")
hosts
in_router() { on "$r" sysctl -qw "$@"; }
# The hosts are played by the script: their kernels have no address and stay silent.
for host in "$a:1" "$b:2"; do
    number=${host##*:} host=${host%:*}
    on "$host" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
    ip -n "$host" addr flush dev eth0
    ip -n "$host" link set eth0 mtu 2000 address "02:00:00:00:0$number:02"
    ip -n "$r" link set "v$number" address "02:00:00:00:0$number:01"
done
in_router net.ipv6.conf.all.disable_ipv6=1
ip -n "$r" link set v2 mtu 1400

# A Linux router without its limits on ICMP, redirects and its wait for missing fragments.
in_router net.ipv4.ip_forward=1 net.ipv4.icmp_ratelimit=0 net.ipv4.ipfrag_time=600
# These limits are the whole machine's: they come back when the test ends.
limits=$(sysctl net.ipv4.route.error_cost net.ipv4.icmp_msgs_per_sec net.ipv4.icmp_msgs_burst 2>/dev/null | tr -d ' ')
trap 'outcome=$?; sysctl -qw $limits || true; clean_up $outcome' EXIT
sysctl -qw net.ipv4.route.error_cost=0 net.ipv4.icmp_msgs_per_sec=100000 net.ipv4.icmp_msgs_burst=100000
in_router net.ipv4.icmp_msgs_per_sec=100000 net.ipv4.icmp_msgs_burst=100000 2>/dev/null || true
for device in all default v1 v2; do
    in_router "net.ipv4.conf.$device.rp_filter=0" "net.ipv4.conf.$device.send_redirects=0"
done
for number in 1 2; do
    ip -n "$r" addr add "10.0.$number.1/24" dev "v$number"
    for host in 0 2 255; do
        ip -n "$r" neigh replace "10.0.$number.$host" lladdr "02:00:00:00:0$number:02" dev "v$number" nud permanent
    done
done
ip -n "$r" route add 198.51.100.0/24 via 10.0.2.2
ip -n "$r" route add blackhole 203.0.113.0/28
ip -n "$r" route add unreachable 203.0.113.16/28
ip -n "$r" route add prohibit 203.0.113.32/28
"$python" "$here/linux_conformance.py" send linux_cases "$a" "$b" "$work/linux.json"

# Ours in its place; the kernel beside it has no address either.
in_router net.ipv4.ip_forward=0
for number in 1 2; do ip -n "$r" addr flush dev "v$number"; done
{
    # Not af_packet: there the kernel puts fragments together before we see them.
    two_ports af_xdp
    echo 'mtu = 1400'
    cat "$here/linux_conformance.toml"
} >"$work/ours.toml"
router ours
"$python" "$here/linux_conformance.py" send linux_cases "$a" "$b" "$work/ours.json"
"$python" "$here/linux_conformance.py" compare linux_explained "$work/linux.json" "$work/ours.json"
echo "ok $name"
