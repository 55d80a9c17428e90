#!/usr/bin/env bash
# A whole table by FPM, 255 000 routes of shared next hops: all arrive while packets flow and none is lost;
# a session that ends in nonsense leaves them; a group that changes turns all its routes; what the next
# session does not tell goes. Who is not zebra's user is turned away, and so is who comes during a session.
# Two: it counts packets lost while the machine is busy with a table.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
k=vly-$$-k
ip netns add "$k"
ip -n "$k" link set lo up
{
    two_ports af_packet | sed "/^device/a twin = { netns = \"$k\" }"
    printf '[fpm]\nnetns = "%s"\nhold = "10s"\n' "$k"
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
link=$(ip -n "$k" -j link show p2 | jq '.[0].ifindex')
feed() { ip netns exec "$k" python3 "$root/smoke/fpm_feed.py" "$link" "$@"; }
active() { json .active router show fpm; }
is_active() { [ "$(active)" = "$1" ]; }

ip netns exec "$a" ping -q -i 0.02 -W 5 10.0.2.2 >"$work/pings" &
pinging=$!
feed 255000 10.0.2.7 nonsense
until_true is_active 255000
has 'the FPM session ended .*the version' "$work/router.log" || fail "nonsense is not told"
ctl router lookup 20.0.7.7 | has 10.0.2.7 || fail "a route leads elsewhere"

# Another session: half of them, over another next hop; the rest goes after the hold time.
ip netns exec "$k" python3 "$root/smoke/fpm_feed.py" "$link" 127500 10.0.2.8 stay &
daemons+=($!)
until_true is_active 127500
ctl router lookup 20.0.7.7 | has 10.0.2.8 || fail "a route was not replaced"

# turned_away WHY COMMAND...: what it runs takes no route away, and the log says why.
turned_away() {
    local why=$1
    shift
    "$@" 2>/dev/null || true
    until_true has "an FPM session was refused .*$why" "$work/router.log"
    is_active 127500 || fail "routes are gone: $why"
    [ "$(json .sessions router show fpm)" = 2 ] || fail "a session began: $why"
}
turned_away "there is a session" feed 10 10.0.2.9 nonsense
kill "${daemons[-1]}"
is_alone() { [ "$(json .peer router show fpm)" = null ]; }
until_true is_alone
turned_away "user 65534 is not one of those that may" \
    ip netns exec "$k" setpriv --reuid 65534 --clear-groups bash -c 'exec 3<>/dev/tcp/127.0.0.1/2620; read -r -u 3 _'
kill -INT $pinging
wait $pinging || true
lost=$(awk '/packets transmitted/ { print $1 - $4 }' "$work/pings")
[ "$lost" -le 1 ] || { cat "$work/pings"; fail "$lost pings were lost"; }
echo "ok $name"
