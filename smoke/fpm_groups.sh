#!/usr/bin/env bash
# Next-hop groups by FPM in orders that FRR does not make: a group turns all its routes at once, groups of groups,
# deletes before what they were for, numbers that nobody explained, hops that lead nowhere, VRFs, IPv4 by IPv6.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; ctl router show fpm; ctl router show routes --source dynamic --limit 9; exit 1; }
hosts
k=vly-$$-k
ip netns add "$k"
ip -n "$k" link set lo up
ip -n "$r" link add v3 type veth peer name eth1 netns "$b"
ip -n "$r" link set v3 up
ip -n "$b" addr add 10.0.3.2/24 dev eth1
ip -n "$b" link set eth1 up
for last in 7 8; do ip -n "$b" addr add "10.0.2.$last/24" dev eth0; done
{
    two_ports af_packet | sed "/^device/a twin = { netns = \"$k\" }"
    printf '[vrf.red]\n[port.p3]\nkind = "af_packet"\ndevice = "v3"\nvrf = "red"\naddresses = ["10.0.3.1/24"]\ntwin = { netns = "%s" }\n' "$k"
    printf '[fpm]\nnetns = "%s"\nhold = "5s"\nvrfs = ["red=1001"]\n' "$k"
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
link() { ip -n "$k" -j link show "$1" | jq '.[0].ifindex'; }
p2=$(link p2) p3=$(link p3)
mkfifo "$work/zebra"
ip netns exec "$k" python3 -u "$root/smoke/fpm_say.py" <"$work/zebra" 2>"$work/say.log" &
daemons+=($!)
exec 7>"$work/zebra"
say() { printf '%s\n' "$@" >&7; }
goes() { ctl router lookup "$1" | has -- "$2"; }
fpm() { [ "$(json ".$1" router show fpm)" = "$2" ]; }

# Routes come before what they lead to: they wait, and are not lost.
say 'route 20.0.0.0/24 9 20000'
until_true fpm waiting 20000
fpm active 0 || fail "routes without a next hop forward"
ctl router show routes --source dynamic --limit 1 | has 'waits for its next hop' || fail "nobody says that it waits"
say "hop 1 10.0.2.7 $p2" "hop 2 10.0.2.8 $p2" 'group 9 1 2:3'
until_true fpm active 20000
fpm waiting 0 || fail "routes are said to wait"
ctl router lookup 20.0.7.7 | has -P '10.0.2.7.*10.0.2.8.*weight 3' || fail "the group's members and weights are others"
# One message turns all of them, and they are the same routes: none was told again.
say "hop 3 10.0.2.2 $p2" 'group 9 3 1'
for far in 20.0.0.7 20.0.78.7 20.78.31.7; do until_true goes $far 'via 10.0.2.7 port p2, via 10.0.2.2\|via 10.0.2.2 port p2, via 10.0.2.7'; done
! goes 20.0.7.7 10.0.2.8 || fail "an old member is left"
say 'group 9 3'
until_true goes 20.78.31.7 'fpm 20.78.31.0/24, via 10.0.2.2 port p2$\|via 10.0.2.2'
! goes 20.78.31.7 10.0.2.7 || fail "a member that left is there"
say 'group 9 1 2' 'group 8 3' 'group 9 8 1'
until_true goes 20.0.7.7 '10.0.2.2.*10.0.2.7\|10.0.2.7.*10.0.2.2'
fpm active 20000 || fail "routes went"

# A member goes: the group goes on without it. The group goes, too, then comes its successor.
say 'gone 1'
gone() { ! goes 20.0.7.7 10.0.2.7; }
until_true gone
goes 20.0.7.7 10.0.2.2 || fail "the other member went as well"
say 'gone 9' 'gone 8'
until_true fpm waiting 20000
say 'group 9 3'
until_true fpm waiting 0
goes 20.0.7.7 10.0.2.2 || fail "routes do not come back with their group"
before=$(json .refused router show fpm)
say together 'gone 9' 'hop 4 10.0.2.8 '"$p2" 'route 20.0.0.0/24 4 20000' 'gone 3' now
until_true goes 20.78.31.7 10.0.2.8
until_true fpm waiting 0
fpm groups 1 || fail "a group is left that nobody needs"

# Nowhere; another VRF; a router of IPv6; a link that is none of ours.
say 'nowhere 5' 'route 21.0.0.0/24 5'
until_true goes 21.0.0.7 'blackhole\|drop'
say "hop 6 10.0.3.2 $p3" 'route 22.0.0.0/24 6 1 1001'
in_red() { ctl router lookup 22.0.0.7 --vrf red | has 10.0.3.2; }
until_true in_red
say "hop 10 fe80::9 $p2" "hop 11 10.0.2.7 $p2" 'group 12 10 11' 'route 23.0.0.0/24 12'
until_true goes 23.0.0.7 'fe80::9.*10.0.2.7\|10.0.2.7.*fe80::9'
fpm refused "$before" || fail "something was refused"
say 'hop 13 10.9.9.9 9999' 'route 24.0.0.0/24 13'
until_true fpm refused $((before + 1))
has 'over no port of ours' <(ctl router show fpm) || fail "nobody says why"

# The session ends, and nobody comes: all goes.
exec 7>&-
until_true fpm routes 0
fpm groups 0 || fail "groups are left"
echo "ok $name"
