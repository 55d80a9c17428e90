#!/usr/bin/env bash
# The twin of a bridge's own station, in a VRF: TCP to its address meets a listener, the kernel reaches hosts of the
# bridge by it; and routes of a kernel table that FPM tells are those of the VRF, and of no other.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
k=vly-$$-k
ip netns add "$k"
ip -n "$k" link set lo up
cat >"$work/router.toml" <<TOML
[workers]
count = 1
[memory]
buffers = 8192
[vrf.red]
[port.p1]
kind = "af_packet"
device = "v1"
vrf = "red"
addresses = ["10.0.1.1/24"]
[port.p2]
kind = "af_packet"
device = "v2"
[port.own]
kind = "bvi"
vrf = "red"
addresses = ["10.0.2.1/24"]
twin = { netns = "$k" }
[bridge.lan]
ports = ["p2", "own"]
[fpm]
netns = "$k"
vrfs = ["red=1001"]
TOML
router router
until_true pings "$a" 10.0.2.2
until_true ip -n "$k" link show own
until_true pings "$k" 10.0.2.2
ip netns exec "$k" socat TCP-LISTEN:7777,fork,reuseaddr EXEC:cat 2>/dev/null &
daemons+=($!)
echoes() { [ "$(echo hello | on "$1" socat -t 5 - "TCP:10.0.2.1:7777,connect-timeout=5")" = hello ]; }
until_true echoes "$b"

link=$(ip -n "$k" -j link show own | jq '.[0].ifindex')
ip netns exec "$k" python3 "$root/smoke/fpm_feed.py" "$link" 100 10.0.2.2 stay 1001 &
daemons+=($!)
are_active() { [ "$(json .active router show fpm)" = 100 ]; }
until_true are_active
ctl router lookup 20.0.7.7 --vrf red | has 10.0.2.2 || fail "the VRF has no route"
! ctl router lookup 20.0.7.7 | has 10.0.2.2 || fail "the route is in another VRF, too"
ip -n "$b" addr add 20.0.7.7/32 dev lo
until_true pings "$a" 20.0.7.7
echo "ok $name"
