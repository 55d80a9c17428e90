#!/usr/bin/env bash
# Peers of memif ports that keep no rule, in either role, and without a copy: the router lives, other ports lose nothing, what was done is
# counted, and an honest peer that comes afterwards is served.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
is_down() { [ "$(json ".[] | select(.name == \"$1\").link_up" router show ports)" = false ]; }
is_up() { [ "$(json ".[] | select(.name == \"$1\").link_up" router show ports)" = true ]; }
hosts
two_ports af_packet >"$work/router.toml"
for port in "m0 server" "m1 client" "m2 client"; do
    set -- $port
    printf '[port.%s]\nkind = "memif"\nsocket = "%s"\nrole = "%s"\n' "$1" "$work/$1" "$2"
done >>"$work/router.toml"
echo 'zero_copy = true' >>"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
# Not through `on`: see router.
ip netns exec "$a" ping -i 0.01 -w 60 10.0.2.2 >"$work/pings" 2>&1 &
pinging=$!
for peer in "client m0" "server m1" "server m2"; do
    set -- $peer
    role=$1 port=$2
    timeout 60 python3 "$root/smoke/hostile_memif.py" $role "$work/$port" || fail "the hostile $role did not do its part"
    kill -0 "${daemons[0]}" 2>/dev/null || fail "the router died of a hostile $role"
    until_true is_down "$port"
    [ "$(json ".[] | select(.name == \"$port\").rx.errors" router show ports)" -gt 0 ] || fail "nothing counted at $port"
    echo "a hostile $role: $(json ".[] | select(.name == \"$port\").rx.errors" router show ports) packets that cannot be"
done
until_true pings "$a" 10.0.2.2
kill -INT $pinging; wait $pinging || true
all_answered "$work/pings" || { tail -n 3 "$work/pings"; fail "other ports lost packets"; }
[ "$(json '[.[] | select(.message | test("memif"))] | length' router events --last 512)" -gt 0 ] || fail "no event tells of it"
# Honest ones: a second router, at both.
for port in "m0 client" "m1 server" "m2 server"; do
    set -- $port
    printf '[port.%s]\nkind = "memif"\nsocket = "%s"\nrole = "%s"\n' "$1" "$work/$1" "$2"
done >"$work/honest.toml"
router honest
for port in m0 m1 m2; do until_true is_up "$port"; done
echo "ok $name"
