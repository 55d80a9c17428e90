#!/usr/bin/env bash
# kill -9, and the next router has what packets taught it and used up: a remote that a tunnel learned, with its station,
# before anybody speaks; policers go on where they were, without a burst more.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; tail -n 20 "$work/router.log"; exit 1; }
ip netns add vly-$$-probe
ip -n vly-$$-probe link add vx type vxlan id 5 dstport 4789 remote 192.0.2.1 2>/dev/null || skip "no vxlan device in this kernel"
hosts
{
    two_ports af_packet | sed '/10.0.2.1/a police_out = "few"'
    cat <<'TOML'
[policer.few]
rate = "800bit"
burst = 1000
[port.bv]
kind = "bvi"
addresses = ["10.0.9.3/24"]
[port.vx0]
kind = "vxlan"
vni = 42
local = "10.0.1.1"
remotes = []
learn_remotes = true
[bridge.lan]
ports = ["bv", "vx0"]
TOML
} >"$work/router.toml"
# Host a is a remote that nobody configured.
ip -n "$a" link add vx2 type vxlan id 42 dstport 4789 local 10.0.1.2 remote 10.0.1.1
ip -n "$a" link set vx2 address 06:00:00:00:00:02 mtu 1400 up
ip -n "$a" addr add 10.0.9.2/24 dev vx2
on "$a" ethtool -K vx2 tx off gso off tso off gro off >/dev/null
router router
volleyd=${daemons[-1]}
until_true pings "$a" 10.0.9.3
behind() { ctl router mac show | has "06:00:00:00:00:02.*vx0 to 10.0.1.2"; }
until_true behind

# Pings of 142 bytes: seven fit the burst, then one in a second and a half.
colour() { json ".[].colours[] | select(.colour == \"$1\").packets" router show policers; }
drain() { on "$a" ping -q -f -c 20 -W 1 -s 100 10.0.2.2 | sed -n 's/.* \([0-9]*\) received.*/\1/p'; }
until_true on "$b" ping -c 1 -W 1 10.0.2.1
drain >/dev/null || true
[ "$(colour red)" -ge 5 ] || fail "nothing is policed"
green=$(colour green)
written() { [ "$(stat -c %Y.%y "$work/router.state/$1")" != "$before" ]; }
for table in policers remotes; do
    before=$(stat -c %Y.%y "$work/router.state/$table")
    until_true written $table
done
ip -n "$a" link set eth0 down
kill -9 "$volleyd"
wait "$volleyd" 2>/dev/null || true
router router
behind || fail "a learned remote is forgotten: $(ctl router mac show)"
[ "$(colour green)" -ge "$green" ] || fail "policers count anew"
ip -n "$a" link set eth0 up
ip -n "$a" route replace default via 10.0.1.1
until_true on "$a" ping -c 1 -W 1 10.0.1.1
received=$(drain)
[ "$received" -le 4 ] || fail "a burst of $received after the restart"
until_true pings "$a" 10.0.9.3
echo "ok $name"
