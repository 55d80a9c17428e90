#!/usr/bin/env bash
# kill -9, and the next router has what was accepted: routes of a file and of zebra (stale until told again), neighbours,
# counters; packets go before its tables are full. A graceful end as well. State that is not to be believed costs itself.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; tail -n 20 "$work/router.log"; exit 1; }
hosts
k=vly-$$-k
ip netns add "$k"
ip -n "$k" link set lo up
{
    two_ports af_packet | sed "/^device/a twin = { netns = \"$k\" }"
    printf '[fpm]\nnetns = "%s"\nhold = "10s"\n' "$k"
} >"$work/router.toml"
ip -n "$b" route add local 172.16.0.0/12 dev lo
seq 0 19999 | awk '{ print "172." 16 + int($1 / 8192) "." int($1 / 32) % 256 "." $1 % 32 * 8 "/29 10.0.2.2" }' >"$work/table"
feed() {
    local link
    link=$(ip -n "$k" -j link show p2 | jq '.[0].ifindex')
    ip netns exec "$k" python3 "$root/smoke/fpm_feed.py" "$link" "$1" 10.0.2.2 stay &
    daemons+=($!)
}
fpm() { [ "$(json ".$1" router show fpm)" = "$2" ]; }
loaded() { [ "$(json .total router show routes --source dynamic --limit 1)" = "$1" ]; }
# Each router is the last of the daemons that are one.
end() { kill -s "$1" "$volleyd"; wait "$volleyd" 2>/dev/null || true; }
begin() { router router; volleyd=${daemons[-1]}; }
counters() { json '[.[] | .rx.packets, .tx.packets, .rx.bytes] | add' router show ports; }
state=$work/router.state

begin
ctl router route load "$work/table" >/dev/null
feed 10000
until_true fpm active 10000
until_true pings "$a" 172.16.31.1
counted=$(counters)
# A second and a half is what counters may lack: they are written once a second.
before=$(stat -c %Y.%y "$state/counters")
written() { [ "$(stat -c %Y.%y "$state/counters")" != "$before" ]; }
until_true written
end KILL
kill "${daemons[-1]}"
begin
pings "$a" 172.16.31.1 >/dev/null || fail "packets do not go"
loaded 30000 || fail "routes are gone: $(json .total router show routes --source dynamic --limit 1)"
fpm stale 10000 || fpm stale 0 || fail "zebra's routes are not stale"
[ "$(counters)" -ge "$counted" ] || fail "counters went back: $(counters) after $counted"
ctl router show neighbors | has '10.0.2.2 .*06\|10.0.2.2' || fail "a neighbour is forgotten"
has 'took over what a router before left' "$work/router.log" || fail "nothing is told"
# Zebra tells half of them: the others go when it had its time.
feed 5000
until_true fpm stale 5000
until_true loaded 25000
fpm stale 0 || fail "stale routes are left"
kill "${daemons[-1]}"

# SIGTERM leaves the same; what is damaged, or of another version, is refused alone.
end TERM
printf '\377' | dd of="$state/routes" bs=1 seek=8 conv=notrunc status=none
begin
has 'state-refused\|it has version' "$work/router.log" || fail "another version is not told"
loaded 0 || fail "routes of another version are believed"
[ "$(counters)" -ge "$counted" ] || fail "counters went with the routes"
ctl router route load "$work/table" >/dev/null
end KILL
# The last block is torn: what came before it is good.
size=$(stat -c %s "$state/routes")
truncate -s $((size - 3)) "$state/routes"
: >"$state/neighbors"
begin
left=$(json .total router show routes --source dynamic --limit 1)
{ [ "$left" -lt 20000 ] && [ "$left" -gt 0 ]; } || fail "$left of 20000 routes after a torn block"
has 'table=neighbors.*no state of a router' "$work/router.log" || fail "an empty file is not told"
end KILL
chmod 777 "$state"
begin
has 'others may write it' "$work/router.log" || fail "a folder that others may write is trusted"
loaded 0 || fail "what others may have written is believed"
echo "ok $name"
