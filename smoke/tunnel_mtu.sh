#!/usr/bin/env bash
# A tunnel with the usual MTU over a way with the usual one, nothing set: senders are told what the way leaves
# them, over IPv4 and IPv6, bridged and routed, and TCP passes.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; ctl router show errors; exit 1; }
ip netns add vly-$$-probe
ip -n vly-$$-probe link add vx type vxlan id 5 dstport 4789 remote 192.0.2.1 2>/dev/null || skip "no vxlan device in this kernel"
hosts
c=vly-$$-c
ip netns add "$c"
ip -n "$r" link add v3 type veth peer name eth0 netns "$c"
ip -n "$r" link set v3 up
ip -n "$c" link set lo up
ip -n "$c" addr add 10.0.3.2/24 dev eth0
ip -n "$c" link set eth0 up
ip -n "$c" route add default via 10.0.3.1
on "$c" ethtool -K eth0 tx off gso off tso off gro off >/dev/null
{
    two_ports af_packet | grep -v '10.0.1.1'
    cat <<'TOML'
[port.p3]
kind = "af_packet"
device = "v3"
addresses = ["10.0.3.1/24"]
[port.vx0]
kind = "vxlan"
vni = 42
local = "10.0.2.1"
remote = "10.0.2.2"
[bridge.lan]
ports = ["p1", "vx0"]
[port.vx1]
kind = "vxlan"
vni = 43
local = "10.0.2.1"
remote = "10.0.2.2"
addresses = ["10.0.8.1/24"]
TOML
} >"$work/router.toml"
for number in 0 1; do
    ip -n "$b" link add "vx$number" type vxlan id $((42 + number)) dstport 4789 local 10.0.2.2 remote 10.0.2.1
    ip -n "$b" addr add "10.0.$((9 - number)).2/24" dev "vx$number"
    ip -n "$b" link set "vx$number" mtu 1500 up
    on "$b" ethtool -K "vx$number" tx off gso off tso off gro off >/dev/null
done
ip -n "$b" addr add fd00::2/64 dev vx0 nodad
ip -n "$b" route add 10.0.3.0/24 via 10.0.8.1
ip -n "$a" addr add 10.0.9.1/24 dev eth0
ip -n "$a" addr add fd00::1/64 dev eth0 nodad
router router
until_true pings "$a" 10.0.9.2
until_true pings "$a" fd00::2
until_true pings "$c" 10.0.8.2

# The operator is told, too: by the check with the numbers, and by an event; again of a route that makes it so.
"$bin/volley" config check "$work/router.toml" >"$work/check.txt" 2>&1
has 'port.vx0.mtu' <"$work/check.txt" && has '1550' <"$work/check.txt" || { cat "$work/check.txt"; fail "the check says nothing"; }
events() { ctl router events --last 200 | grep -c "fault=tunnel-mtu.*$1"; }
told_of() { [ "$(events "$1")" -ge "$2" ]; }
until_true told_of port=vx0 1
ctl router events --last 200 | has 'left=1450 mtu=1500 port=vx0' || fail "the event lacks numbers"
ctl router port set vx1 mtu 1450
fits() { ctl router events --last 200 | has 'packets fit the way.*port=vx1'; }
until_true fits
ctl router port set vx1 mtu 1500
until_true told_of port=vx1 2

# told HOST MTU TARGET: that its packets of 1500 octets are too long, and how long they may be; those fit.
told() {
    on "$1" ping -c 2 -i 0.2 -W 2 -M do -s "$4" "$3" >"$work/told.txt" 2>&1 || true
    grep -Eq "(mtu ?= ?|mtu=)$2" "$work/told.txt" || { cat "$work/told.txt"; fail "$1 was not told of $2 octets towards $3"; }
    on "$1" ping -q -c 2 -i 0.2 -W 2 -M do -s $((1450 - 1500 + $4)) "$3" >/dev/null || fail "$2 octets do not reach $3"
}
told "$a" 1450 10.0.9.2 1472
told "$a" 1450 fd00::2 1452
told "$c" 1450 10.0.8.2 1472

# What does not fit is not counted as sent: three packets of 1500 octets that the sender was told of nothing of.
sent() { ctl router show ports --json | jq -e --arg port "$1" '[.. | objects | select(.name? == $port and has("tx"))][0].tx.bytes'; }
for host in "$a:10.0.9.2:vx0" "$c:10.0.8.2:vx1"; do
    IFS=: read -r host target port <<<"$host"
    before=$(sent "$port")
    for _ in 1 2 3; do
        ip -n "$host" route flush cache
        on "$host" ping -c 1 -W 5 -M do -s 1472 "$target" >"$work/told.txt" 2>&1 || true
        has -E 'mtu ?= ?1450' "$work/told.txt" || fail "$host was not told again"
    done
    more=$(($(sent "$port") - before))
    [ "$more" -lt 1400 ] || fail "$port counts $more octets as sent of 4500 that do not fit"
done

# As a stranger meets it: TCP by hosts that were told nothing yet.
for host in "$a:10.0.9.2" "$a:fd00::2" "$c:10.0.8.2"; do
    target=${host#*:} host=${host%%:*}
    ip -n "$host" route flush cache
    ip -n "$host" -6 route flush cache
    ip netns exec "$b" iperf3 -s -1 -B "$target" >/dev/null 2>&1 &
    daemons+=($!)
    listening() { on "$b" ss -ltn | has ':5201 '; }
    until_true listening
    on "$host" timeout 30 iperf3 -c "$target" -t 1 -J >"$work/tcp.json" || fail "TCP to $target stands still"
    jq -e '.end.sum_received.bytes > 1000000' "$work/tcp.json" >/dev/null || { jq -c .end.sum_sent,.end.sum_received "$work/tcp.json"; fail "TCP to $target brought too little"; }
done
echo "ok $name"
