#!/usr/bin/env bash
# A port without addresses routes nothing, until it is told to; one with addresses does, until it is told not to.
#
#   host a (10.0.1.2, behind p1, which has no address) ── volleyd ── host b (10.0.2.2)
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; ctl router show errors; exit 1; }
hosts
two_ports af_packet | sed '/10.0.1.1/d' >"$work/router.toml"
router router
# a knows the router by its MAC alone, as a stray neighbour might.
mac=$(json '.[] | select(.name == "p1") | .mac' router show ports | tr -d '"')
ip -n "$a" neigh replace 10.0.1.1 lladdr "$mac" dev eth0 nud permanent
ip -n "$a" -6 addr add 2001:db8:1::2/64 dev eth0 nodad
ip -n "$a" -6 neigh replace 2001:db8:1::1 lladdr "$mac" dev eth0 nud permanent
ip -n "$a" -6 route add default via 2001:db8:1::1

drops() { json '[.[] | select(.reason == "not-routed") | .packets] | add // 0' router show errors; }
sends() { on "$a" ping -q -c 5 -i 0.02 -W 1 10.0.2.2 >/dev/null || true; }
at_least() { [ "$(drops)" -ge "$1" ]; }
sends
on "$a" ping -6 -q -c 5 -i 0.02 -W 1 2001:db8:9::9 >/dev/null || true
until_true at_least 10
ctl router show errors | has 'routing = true' || fail "nobody says what to do"

# Told to route, it does: what b hears is a's.
ctl router port set p1 routing on
is_heard() { sends & has '10.0.1.2 > 10.0.2.2: ICMP echo request' < <(on "$b" timeout 2 tcpdump -n -l -i eth0 -c 1 icmp 2>/dev/null); }
until_true is_heard
ctl router port set p1 routing default
before=$(drops)
sends
until_true at_least $((before + 5))

# With an address it routes by default, and not where it is told not to.
ctl router port set p1 addresses 10.0.1.1/24
until_true pings "$a" 10.0.2.2
ctl router port set p1 routing off
before=$(drops)
sends
until_true at_least $((before + 5))
ctl router port set p1 routing default
until_true pings "$a" 10.0.2.2

# A member of a bridge is not told to route.
ctl router port set p1 addresses off routing on
ctl router bridge add lan
ends 1 ctl router bridge join lan p1 2>"$work/said.txt"
has 'is told to route and is in a bridge' "$work/said.txt" || { cat "$work/said.txt"; fail "a member of a bridge routes"; }
echo "ok $name"
