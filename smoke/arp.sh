#!/usr/bin/env bash
# Neighbours: the first packet waits for the answer, static ones are not asked for, announcements
# are believed, conflicts are told, and who does not answer is reported as unreachable.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
{
    two_ports af_packet
    printf '[arp]\nretry = "200ms"\n'
    printf '[[neighbor]]\naddress = "10.0.2.50"\nport = "p2"\nmac = "02:00:00:00:00:50"\n'
} >"$work/router.toml"
router router
neighbor() { json ".[] | select(.address == \"$1\").$2" router show neighbors; }
mac_of() { ip -n "$1" -j link show eth0 | jq -r '.[0].address'; }
mac_is() { [ "$(neighbor "$1" mac)" = "$2" ]; }

# Without a carrier there is no route: that would be another answer.
links_up() { json 'all(.link_up)' router show ports | has true; }
until_true links_up

# The very first packet finds nobody resolved, and is answered.
[ -z "$(neighbor 10.0.2.2 mac)" ] || fail "b is known already"
on "$a" ping -q -c 1 -W 10 10.0.2.2 >/dev/null || fail "the first packet was lost"
mac_is 10.0.2.2 "$(mac_of "$b")" || fail "b has another MAC address than we learnt"

# A static neighbour gets packets and no questions.
on "$b" timeout 20 tcpdump -n -i eth0 -c 1 -w "$work/static.pcap" 'arp host 10.0.2.50 or dst host 10.0.2.50' 2>"$work/dump.txt" &
until_true grep -q listening "$work/dump.txt"
on "$a" ping -q -c 1 -W 1 10.0.2.50 >/dev/null || true
wait $! || fail "nothing came for the static neighbour"
tshark -r "$work/static.pcap" -T fields -e eth.dst -e icmp.type 2>/dev/null | has -P '^02:00:00:00:00:50\t8$' || fail "the static MAC address was not used"

# An announcement after a change of MAC address is believed.
ip -n "$b" link set eth0 address 02:00:00:00:00:77
on "$b" /usr/bin/python3 "$(dirname "$0")/announce.py" 10.0.2.2
until_true mac_is 10.0.2.2 02:00:00:00:00:77
pings "$a" 10.0.2.2 >/dev/null || fail "not reached after its change"

# Whoever claims a neighbour's or our own address is told of.
on "$b" /usr/bin/python3 "$(dirname "$0")/announce.py" 10.0.2.1
until_true grep -q 'our own address is claimed .*address=10.0.2.1' "$work/router.log"
pings "$b" 10.0.2.1 >/dev/null || fail "our own address was given away"

# Nobody there: host unreachable, from our address.
on "$a" ping -c 1 -W 10 10.0.2.99 >"$work/nobody" || true
grep -q 'From 10.0.1.1 .*Destination Host Unreachable' "$work/nobody" || { cat "$work/nobody"; fail "no host unreachable"; }

# What was learned on a port goes with it: who gets its place finds nobody's neighbours.
ctl router neighbor del 10.0.2.50 port p2 >/dev/null
mac_is 10.0.2.2 02:00:00:00:00:77 || fail "b is not known any more"
ip -n "$b" link set eth0 down
ctl router port del p2 >/dev/null
ctl router port add p2 af_packet device v2 addresses 10.0.2.1/24 >/dev/null
[ -z "$(neighbor 10.0.2.2 mac)" ] || fail "a neighbour outlived its port"
echo "ok $name"
