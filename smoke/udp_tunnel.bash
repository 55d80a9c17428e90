# A tunnel over UDP to the kernel's own device: host a behind a bridge of ours, host b behind the kernel's. Sourced with $kind, as ours and the
# kernel's kinds are called, $says, what the kernel's device is told beside its number and the other end, and $lacking, which of lib.sh's ways to
# say that the kernel has no such device (skip).
# Frames of 1500 bytes inside pass both ways where the path between carries them.
ip netns add vly-$$-probe
# shellcheck disable=SC2086 # several words
ip -n vly-$$-probe link add t0 type "$kind" id 5 $says remote 192.0.2.1 2>/dev/null || ${lacking:-skip} "no $kind device in this kernel"
hosts
ip -n "$r" link set v2 mtu 1600
ip -n "$b" link set eth0 mtu 1600
{
    two_ports af_packet | grep -v '10.0.1.1'
    cat <<TOML
[port.t0]
kind = "$kind"
vni = 42
local = "10.0.2.1"
remote = "10.0.2.2"
[bridge.lan]
ports = ["p1", "t0"]
TOML
} | sed 's/^device = "v2"/&\nmtu = 1600/' >"$work/router.toml"
# theirs NAME NUMBER ADDRESS: the kernel's device of a network.
theirs() {
    # shellcheck disable=SC2086 # several words
    ip -n "$b" link add "$1" type "$kind" id "$2" $says remote 10.0.2.1
    ip -n "$b" addr add "$3/24" dev "$1"
}
theirs t0 42 10.0.9.2
ip -n "$b" link set t0 mtu 1500 up
on "$b" ethtool -K t0 tx off gso off tso off gro off >/dev/null
ip -n "$a" addr add 10.0.9.1/24 dev eth0
router router
until_true pings "$a" 10.0.9.2
for size in 0 1000 1472; do
    on "$a" ping -q -c 2 -i 0.1 -W 2 -M do -s "$size" 10.0.9.2 >/dev/null || { echo "ping of $size failed"; ctl router show errors; exit 1; }
    on "$b" ping -q -c 2 -i 0.1 -W 2 -M do -s "$size" 10.0.9.1 >/dev/null || { echo "ping of $size back failed"; ctl router show errors; exit 1; }
done
ctl router mac show | has 't0'
# Another network identifier is another network: counted, not heard.
theirs t1 43 10.0.8.2
ip -n "$b" link set t1 up
shout() {
    on "$b" ping -q -c 1 -W 1 10.0.8.9 >/dev/null || true
    ctl router show errors | has unknown-tunnel
}
until_true shout
