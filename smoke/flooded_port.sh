#!/usr/bin/env bash
# A shaped port that is flooded, with a queue that no pool could fill, takes nobody else's buffers: a third port
# loses nothing, what finds no room is dropped and counted, and the check has said that it would be.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
c=vly-$$-c
ip netns add "$c"
ip -n "$c" link set lo up
ip -n "$r" link add v3 type veth peer name eth0 netns "$c"
ip -n "$c" addr add 10.0.3.2/24 dev eth0
ip -n "$c" link set eth0 up
ip -n "$r" link set v3 up
{
    two_ports af_packet
    printf '[port.p2.qos]\nkind = "htb"\ndefault = "1:10"\n[[port.p2.qos.class]]\nid = "1:10"\nrate = "8kbit"\n'
    printf 'leaf = { kind = "pfifo", limit = 100000 }\n'
    printf '[port.p3]\nkind = "af_packet"\ndevice = "v3"\naddresses = ["10.0.3.1/24"]\n'
} >"$work/router.toml"
"$bin/volley" config check "$work/router.toml" >"$work/checked" 2>&1 || { cat "$work/checked"; fail "refused"; }
has "a queue of 100000 packets, and of 8192 buffers .* may wait" "$work/checked" || { cat "$work/checked"; fail "not warned of"; }
router router
until_true pings "$a" 10.0.2.2
until_true pings "$c" 10.0.3.1

on "$a" python3 "$root/smoke/flood.py" 10.0.2.2 9 &
daemons+=($!)
dropped() { ctl router show errors --json | jq -e '[.[] | select(.reason == "no-buffers") | .packets] | add > 1000' >/dev/null; }
until_true dropped
used=$(json '.parts[] | select(.name == "packet buffers") | .used' router show memory)
[ "$used" -lt 6500 ] || fail "$used of 8192 buffers are in use: nothing is left to receive with"
lost=$(on "$c" ping -q -c 10 -i 0.1 -W 2 10.0.3.1 | awk '/packets transmitted/ { print $1 - $4 }')
[ "$lost" = 0 ] || fail "a port that is neither shaped nor loaded lost $lost of 10 pings"
echo "ok $name"
