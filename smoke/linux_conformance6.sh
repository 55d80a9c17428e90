#!/usr/bin/env bash
# The same for IPv6: hundreds of good and bad packets through a Linux router, then through ours. The
# differences that are meant stand in linux_explained6.py.
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
    ip -n "$r" link set "v$number" down address "02:00:00:00:0$number:01"
done
ip -n "$r" link set v2 mtu 1400

# Checksums are made in software, so that what comes out is what would be on a wire.
for number in 1 2; do on "$r" ethtool -K "v$number" tx off >/dev/null; done
# A Linux router without its limits on ICMP; IPv4 is for the packets that mark the end of a case.
in_router net.ipv6.icmp.ratelimit=0 net.ipv6.auto_flowlabels=0 net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1
for number in 1 2; do
    in_router "net.ipv6.conf.v$number.accept_dad=0" "net.ipv6.conf.v$number.accept_ra=0" "net.ipv6.conf.v$number.addr_gen_mode=0"
    ip -n "$r" link set "v$number" up
    ip -n "$r" addr add "10.0.$number.1/24" dev "v$number"
    ip -n "$r" addr add "2001:db8:$number::1/64" dev "v$number" nodad
    for host in "10.0.$number.2" "2001:db8:$number::2" "fe80::ff:fe00:${number}02"; do
        ip -n "$r" neigh replace "$host" lladdr "02:00:00:00:0$number:02" dev "v$number" nud permanent
    done
done
ip -n "$r" -6 route add 2001:db8:b::/48 via 2001:db8:2::2
ip -n "$r" -6 route add blackhole 2001:db8:dead::/64
ip -n "$r" -6 route add unreachable 2001:db8:dead:1::/64
ip -n "$r" -6 route add prohibit 2001:db8:dead:2::/64
until_true has fe80::ff:fe00:201/64 < <(ip -n "$r" addr show dev v2)
"$python" "$here/linux_conformance.py" send linux_cases6 "$a" "$b" "$work/linux.json"

# Ours in its place; the kernel beside it has no address either.
in_router net.ipv4.ip_forward=0 net.ipv6.conf.v1.disable_ipv6=1 net.ipv6.conf.v2.disable_ipv6=1
for number in 1 2; do ip -n "$r" addr flush dev "v$number"; done
{
    two_ports af_xdp | sed -e 's,10.0.1.1/24",&\, "2001:db8:1::1/64",' -e 's,10.0.2.1/24",&\, "2001:db8:2::1/64",'
    echo 'mtu = 1400'
    cat "$here/linux_conformance6.toml"
} >"$work/ours.toml"
router ours
is_ours() { ctl ours lookup "$1" | has 'our own'; }
until_true is_ours 2001:db8:1::1
until_true is_ours 2001:db8:2::1
"$python" "$here/linux_conformance.py" send linux_cases6 "$a" "$b" "$work/ours.json"
"$python" "$here/linux_conformance.py" compare linux_explained6 "$work/linux.json" "$work/ours.json"
echo "ok $name"
