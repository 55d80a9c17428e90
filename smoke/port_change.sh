#!/usr/bin/env bash
# A change of a port that its device refuses leaves the port as it was, and what runs is what is configured.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
port_is() { [ "$(json ".[] | select(.name == \"p1\") | $1" router show ports)" = "$2" ]; }
hosts
two_ports af_xdp >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
own=$(json '.[] | select(.name == "p1").mac' router show ports)

# The driver of af_xdp sets no MAC address, and a veth with a program takes no frames of 9,000 octets.
for round in 1 2 3; do
    for change in "mac 02:00:00:00:00:77" "mtu 9000"; do
        ctl router port set p1 $change >"$work/said" 2>&1 && fail "$change was taken"
        port_is .link_up true || port_is .link_up false || fail "p1 is not listed"
        until_true port_is .link_up true
        port_is .mac "$own" || fail "p1 has another MAC address after $change"
        port_is .mtu 1500 || fail "p1 has another MTU after $change"
        until_true pings "$a" 10.0.2.2
    done
done
grep -q 'port.p1' "$work/said" || { cat "$work/said"; fail "it is not said which port refused"; }
ctl router config apply "$work/router.toml" | has -i 'nothing' || fail "what runs is not what is configured"

# A refused MAC address costs not one packet: nothing was closed.
on "$a" ping -q -i 0.02 -c 100 10.0.2.2 >"$work/pings" &
pinger=$!
for round in 1 2 3; do
    ctl router port set p1 mac 02:00:00:00:00:77 >/dev/null 2>&1 && fail "the MAC address was taken"
done
wait $pinger || true
has ' 0% packet loss' <"$work/pings" || { cat "$work/pings"; fail "refused changes cost packets"; }

# Without its device it is down, says why, and is back with it.
ip -n "$r" link del v1
until_true port_is '.problem != null' true
ctl router port set p1 mtu 1400 >/dev/null 2>&1 && fail "a port without a device took an MTU"
port_is .link_up false || fail "p1 is up without a device"
port_is .mtu 1500 || fail "p1 has an MTU that it could not be given"
ctl router show ports | has problem || fail "nobody says why p1 is down"
ip -n "$r" link add v1 type veth peer name eth0 netns "$a"
ip -n "$a" addr add 10.0.1.2/24 dev eth0
ip -n "$a" link set eth0 up
ip -n "$a" route add default via 10.0.1.1
on "$a" ethtool -K eth0 tx off gso off tso off gro off >/dev/null
ip -n "$r" link set v1 up
until_true port_is .link_up true
port_is .problem null || fail "p1 is up, and still says that something is wrong"
until_true pings "$a" 10.0.2.2
kill "${daemons[-1]}"; wait "${daemons[-1]}" || fail "volleyd did not end well"

# A port of packet sockets has another MAC address at once, and hosts hear of it.
two_ports af_packet >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
ctl router port set p1 mac 02:00:00:00:00:77
port_is .mac 02:00:00:00:00:77 || fail "p1 has not the MAC address that it was given"
until_true pings "$a" 10.0.2.2
ip -n "$a" neigh show 10.0.1.1 dev eth0 | has 02:00:00:00:00:77 || fail "the host has not heard of it"
echo "ok $name"
