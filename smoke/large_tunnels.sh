#!/usr/bin/env bash
# Frames of up to 64 KiB into and out of a VXLAN tunnel, whose other end is the kernel's: those for it are cut with the
# headers around them, of those that the kernel left uncut what is inside goes on whole; every checksum is right.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
ip netns add vly-$$-probe
ip -n vly-$$-probe link add vx type vxlan id 5 dstport 4789 remote 192.0.2.1 2>/dev/null || skip "no vxlan device in this kernel"
hosts
for host in "$a" "$b"; do on "$host" ethtool -K eth0 tx on tso on gso on >/dev/null; done
ip -n "$r" link set v2 mtu 1600
ip -n "$b" link set eth0 mtu 1600
{
    two_ports af_packet | grep -v '10.0.1.1'
    cat <<'TOML'
[port.vx0]
kind = "vxlan"
vni = 42
local = "10.0.2.1"
remote = "10.0.2.2"
[bridge.lan]
ports = ["p1", "vx0"]
TOML
} | sed 's/^device = "v2"/&\nmtu = 1600/' >"$work/router.toml"
ip -n "$b" link add vx0 type vxlan id 42 dstport 4789 local 10.0.2.2 remote 10.0.2.1
ip -n "$b" addr add 10.0.9.2/24 dev vx0
ip -n "$b" addr add 2001:db8:9::2/64 dev vx0 nodad
ip -n "$b" link set vx0 mtu 1500 up
ip -n "$a" addr add 10.0.9.1/24 dev eth0
ip -n "$a" addr add 2001:db8:9::1/64 dev eth0 nodad
router router
has_listener() { on "$1" ss -ltn | has :7000; }
# passes FROM TO ADDRESS: bulk data arrives as it was sent, and every checksum is right.
passes() {
    local from=$1 to=$2 address=$3 wrong
    until_true on "$from" ping -c 1 -W 1 "$address"
    on "$to" bash -c "exec /usr/bin/python3 $root/smoke/bulk.py serve $address" >"$work/came" &
    until_true has_listener "$to"
    on "$from" timeout 60 /usr/bin/python3 "$root/smoke/bulk.py" send "$address" 10000000 >"$work/sent" || fail "to $address"
    wait $!
    cmp "$work/sent" "$work/came" || fail "something else came at $address"
    wrong=$(on "$to" nstat -asz TcpInCsumErrors UdpInCsumErrors Udp6InCsumErrors | awk '/Csum/ { n += $2 } END { print n }')
    [ "$wrong" = 0 ] || fail "$wrong wrong checksums at $address"
}
# Longer than any that is cut.
mean() { json ".[] | select(.name == \"$1\") | .$2.bytes / .$2.packets | floor" router show ports; }
passes "$a" "$b" 10.0.9.2
passes "$a" "$b" 2001:db8:9::2
[ "$(mean p1 rx)" -gt 1514 ] || fail "frames are cut as they come: $(mean p1 rx) octets on average"
passes "$b" "$a" 10.0.9.1
passes "$b" "$a" 2001:db8:9::1
[ "$(mean p1 tx)" -gt 1514 ] || fail "frames out of the tunnel are cut: $(mean p1 tx) octets on average"
echo "ok $name"
