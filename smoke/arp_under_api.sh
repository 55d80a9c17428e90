#!/usr/bin/env bash
# While the API is asked for everything it has, of a router with many rows, the control thread looks
# after what waits every ten milliseconds, and ARP is answered. One thread does all there: what
# forwards stands still while the control thread does.
#
#   usage: smoke/arp_under_api.sh [TABLE]      TABLE: where the longest turn of each call is written
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
table=${1:-$work/table}
ip netns add "$r"
ip netns add "$a"
ip -n "$r" link set lo up
ip -n "$r" link add v1 type veth peer name eth0 netns "$a"
ip -n "$r" link add v2 type veth peer name v3
ip -n "$r" link add v9 type veth peer name v10
for end in v1 v2 v3 v9 v10; do ip -n "$r" link set "$end" up; done
ip -n "$a" addr add 10.0.1.2/24 dev eth0
ip -n "$a" link set eth0 up
for space in "$a" "$r"; do on "$space" sysctl -qw net.ipv6.conf.all.disable_ipv6=1; done
/usr/bin/python3 "$root/smoke/arp_under_api.py" configuration >"$work/router.toml"
router router
links_up() { json 'map(select(.name == "p1")) | all(.link_up)' router show ports | has true; }
until_true links_up
on "$a" /usr/bin/python3 "$root/smoke/arp_under_api.py" walk "$work/router.sock" eth0 10.0.1.2 10.0.1.1 >"$table" ||
    { cat "$table"; fail "the control thread was away"; }
cat "$table"
echo "ok $name"
