#!/usr/bin/env bash
# Static routes whose next hop another route leads to: they follow it, onto another link, too.
#
#   host a ── p1 │ volleyd │ p2 ── host b (10.0.2.2, 10.0.3.2, 172.16.9.9, 10.9.0.1)
#                          │ p3 ──┘
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; ctl router show routes; ctl router show errors; exit 1; }
hosts
ip -n "$r" link add v3 type veth peer name eth1 netns "$b"
ip -n "$r" link set v3 up
ip -n "$b" addr add 10.0.3.2/24 dev eth1
ip -n "$b" link set eth1 up
on "$b" ethtool -K eth1 tx off gso off tso off gro off >/dev/null
on "$b" sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth0.rp_filter=0 net.ipv4.conf.eth1.rp_filter=0
for address in 172.16.9.9 10.9.0.1; do ip -n "$b" addr add "$address/32" dev lo; done
{
    two_ports af_packet
    cat <<'TOML'
[port.p3]
kind = "af_packet"
device = "v3"
addresses = ["10.0.3.1/24"]
[[route]]
prefix = "10.9.0.0/16"
via = "172.16.9.9"
[[route]]
prefix = "172.16.0.0/16"
via = "10.0.2.2"
TOML
} >"$work/router.toml"
router router
until_true pings "$a" 10.9.0.1

sent() { json ".[] | select(.name == \"$1\") | .tx.packets" router show ports; }
# goes_by PORT: the pings to the far address leave by it.
goes_by() {
    local before after
    before=$(sent "$1")
    on "$a" ping -q -c 20 -i 0.01 -W 2 10.9.0.1 >/dev/null || return 1
    after=$(sent "$1")
    [ $((after - before)) -ge 20 ]
}
until_true goes_by p2
ctl router route replace 172.16.0.0/16 via 10.0.3.2 >/dev/null
until_true goes_by p3
! goes_by p2 || fail "some go the old way"

# What it stands on is not taken from under it.
ends 1 ctl router route del 172.16.0.0/16 2>"$work/said.txt"
has 'no port has a network that 172.16.9.9 is in' "$work/said.txt" || { cat "$work/said.txt"; fail "nobody says why"; }
has 'another route' "$work/said.txt" || { cat "$work/said.txt"; fail "nobody says what would do"; }
until_true goes_by p3

# A more specific one that leads nowhere takes it along, at once and while it is there.
ctl router route add 172.16.9.0/24 via 10.0.2.9 >/dev/null
unanswered() { ! on "$a" ping -q -c 2 -i 0.1 -W 1 10.9.0.1 >/dev/null; }
until_true unanswered
ctl router route del 172.16.9.0/24 >/dev/null
until_true goes_by p3
echo "ok $name"
