#!/usr/bin/env bash
# Policy routing: what a port's list says leads packets to a next hop or a VRF, IPv4 and IPv6, on a port and a VLAN; back
# to ordinary routing, or dropped, while that is not to be had; at run time.
#
#   host a ── p1 │ volleyd │ p2 ── eth0 ─┬ host b: 192.0.2.1, 2001:db8::1
#     └ vlan 7 ──┘         │ p3 ── eth1 ─┘          10.0.2.2 │ 10.0.3.2
# This kernel may have no VLAN devices, so scapy makes the tags of host a.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import scapy' 2>/dev/null || skip "python3-scapy is missing"
fail() { echo "$1"; ctl router show acl; ctl router show neighbors; ctl router show errors; exit 1; }
hosts
ip -n "$r" link add v3 type veth peer name eth1 netns "$b"
ip -n "$r" link set v3 up
ip -n "$b" link set eth1 up
for at in 2:eth0 3:eth1; do
    ip -n "$b" addr add "10.0.${at%:*}.2/24" dev "${at#*:}" 2>/dev/null || true
    ip -n "$b" addr add "fd00:${at%:*}::2/64" dev "${at#*:}" nodad
done
ip -n "$b" addr add 192.0.2.1/32 dev lo
ip -n "$b" addr add 2001:db8::1/128 dev lo nodad
ip -n "$b" -6 route add default via fd00:2::1
on "$b" sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth0.rp_filter=0 net.ipv4.conf.eth1.rp_filter=0
ip -n "$a" addr add fd00:1::2/64 dev eth0 nodad
ip -n "$a" -6 route add default via fd00:1::1
{
    two_ports af_packet | sed -e 's|"10.0.1.1/24"|&, "fd00:1::1/64"|' -e 's|"10.0.2.1/24"|&, "fd00:2::1/64"|'
    cat <<'TOML'
[vrf.red]
[port.p3]
kind = "af_packet"
device = "v3"
addresses = ["10.0.3.1/24", "fd00:3::1/64"]
[port.p1-7]
kind = "vlan"
parent = "p1"
vlan = 7
addresses = ["10.0.7.1/24"]
[[route]]
prefix = "192.0.2.0/24"
via = "10.0.2.2"
[[route]]
prefix = "2001:db8::/32"
via = "fd00:2::2"
[[route]]
vrf = "red"
prefix = "192.0.2.0/24"
via = { address = "10.0.3.2", port = "p3" }
[acl.ways]
default = "permit"
[[acl.ways.rule]]
action = "route"
protocol = "icmp"
via = "10.0.3.2"
port = "p3"
[[acl.ways.rule]]
action = "route"
protocol = "icmp6"
via = "fd00:3::2"
port = "p3"
[arp]
retry = "100ms"
TOML
} >"$work/router.toml"
router router
until_true pings "$a" 192.0.2.1
until_true pings "$a" 2001:db8::1
sent() { json ".[] | select(.name == \"$1\") | .tx.packets" router show ports; }
# goes_by PORT ADDRESS [OPTION…]: pings leave by a port, and are answered.
goes_by() {
    local before
    before=$(sent "$1")
    on "$a" ping -q -c 20 -i 0.01 -W 2 "${@:3}" "$2" >/dev/null && [ $(($(sent "$1") - before)) -ge 20 ]
}
# tagged_by PORT: packets of VLAN 7 leave by a port.
tagged_by() {
    local before
    before=$(sent "$1")
    on "$a" /usr/bin/python3 - <<'PY'
from scapy.all import ICMP, IP, Dot1Q, Ether, conf, getmacbyip, sendp
conf.verb = 0
sendp([Ether(dst=getmacbyip("10.0.1.1")) / Dot1Q(vlan=7) / IP(src="10.0.7.2", dst="192.0.2.1") / ICMP(id=n) for n in range(20)], iface="eth0")
PY
    left() { [ $(($(sent "$1") - before)) -ge 20 ]; }
    until_true left "$1" >/dev/null
}
until_true goes_by p2 192.0.2.1
ctl router port set p1 policy ways >/dev/null
for far in 192.0.2.1 2001:db8::1; do until_true goes_by p3 $far; done
tagged_by p2 || fail "a VLAN without a policy has one"
counted() { ctl router show acl | has -P "ways +$1 .* [1-9][0-9]* +[1-9]"; }
counted 0 && counted 1 || fail "rules do not count"
pings "$a" 10.0.1.1 >/dev/null || fail "what is for us is led elsewhere"
ctl router port set p1-7 policy ways >/dev/null
tagged_by p3 || fail "a VLAN's policy does nothing"

# The next hop does not answer any more, then its port is down: as usual, unless the rule says to drop.
ip -n "$b" addr del 10.0.3.2/24 dev eth1
ctl router neighbor flush >/dev/null 2>&1 || true
ctl router port set p3 up off >/dev/null
until_true goes_by p2 192.0.2.1
ctl router acl replace ways 0 route protocol icmp via 10.0.3.2 port p3 fallback drop >/dev/null
unanswered() { ! on "$a" ping -q -c 2 -i 0.1 -W 1 192.0.2.1 >/dev/null; }
until_true unanswered
ctl router show errors | has -P 'ip4-policy +no-way' || fail "nobody says why"
ip -n "$b" addr add 10.0.3.2/24 dev eth1
ctl router port set p3 up on >/dev/null
until_true goes_by p3 192.0.2.1

# Another VRF's routes; where it has none, as usual.
ctl router acl replace ways 0 route protocol icmp vrf red >/dev/null
until_true goes_by p3 192.0.2.1
ctl router route del 192.0.2.0/24 vrf red >/dev/null
until_true goes_by p2 192.0.2.1

# What cannot work is refused, and what it stands on stays.
ends 1 ctl router acl append ways route via 10.0.3.2 2>"$work/said.txt"
has 'behind which port' "$work/said.txt" || fail "a next hop of no port is taken"
ends 1 ctl router port set p2 acl_in ways 2>"$work/said.txt"
has '`policy`' "$work/said.txt" || fail "a list that routes is taken for a filter"
ends 1 ctl router port del p3 2>"$work/said.txt"
ctl router port set p1 policy off >/dev/null
ctl router port set p1-7 policy off >/dev/null
until_true goes_by p2 2001:db8::1
echo "ok $name"
