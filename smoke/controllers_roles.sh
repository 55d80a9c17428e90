#!/usr/bin/env bash
# Two controllers of a bridge of flows that say what they hear: the last master of the newest generation is the only one, each hears what
# its role wants, who is silent is given up, and what cannot be is refused.
. "$(dirname "$0")/lib.sh"
command -v ovs-ofctl >/dev/null || skip "needs ovs-ofctl (openvswitch-switch)"
bridged_hosts
ip -n "$r" link set lo up
{
    three_ports
    printf '[bridge.br0]\nmode = "flow"\nmanagement = "%s/br0.mgmt"\nports = ["p1", "p2", "p3"]\n' "$work"
} >"$work/router.toml"
router router
of=unix:$work/br0.mgmt
fails() { ! pings "$a" 10.0.9.2 >/dev/null; }

peer() {
    mkfifo "$work/$1.in"
    ip netns exec "$r" "$root/smoke/openflow_controller.py" "$1" 5 <"$work/$1.in" >"$work/$1.txt" 2>"$work/$1.log" &
    daemons+=($!)
}
peer 7001
exec 7>"$work/7001.in"
peer 7002
exec 8>"$work/7002.in"
ctl router bridge set br0 controllers tcp:127.0.0.1:7001 probe 1s >/dev/null
ctl router bridge set br0 controllers tcp:127.0.0.1:7002 probe 1s >/dev/null
until_true has ^features "$work/7001.txt"
until_true has ^features "$work/7002.txt"
echo 24 00000002 00000000 0000000000000001 >&7
until_true has '^role 00000002' "$work/7001.txt"
echo 24 00000002 00000000 0000000000000002 >&8
until_true has '^role-status 00000003000000000000000000000002' "$work/7001.txt"
[ "$(json '[.[].role] | join(" ")' router show controllers)" = 'slave master' ]
echo 24 00000002 00000000 0000000000000001 >&7
until_true has '^error 000b0000' "$work/7001.txt"

# The master gets packets and flows that are gone, both hear of ports.
ovs-ofctl -O OpenFlow14 add-flow "$of" 'send_flow_rem,priority=0,actions=CONTROLLER:65535'
fails
until_true has ^packet-in "$work/7002.txt"
ovs-ofctl -O OpenFlow14 del-flows "$of"
until_true has ^flow-removed "$work/7002.txt"
ctl router port set p3 down >/dev/null
until_true has ^port-status "$work/7001.txt"
until_true has ^port-status "$work/7002.txt"
! grep -E '^(packet-in|flow-removed)' "$work/7001.txt" || exit 1
kill -STOP "${daemons[-1]}"
silent() { json '.[1].problem' router show controllers | has 'said nothing for 1 s, twice'; }
until_true silent
kill -CONT "${daemons[-1]}"

# What cannot be is refused, and leaves what was.
! ctl router bridge set br0 controllers ssl:127.0.0.1 2>"$work/told" || exit 1
has 'is over TLS and has no `private_key`' "$work/told"
! ctl router bridge set br0 controllers ptcp:6640:192.0.2.77 2>"$work/told" || exit 1
has 'ptcp:6640:192.0.2.77 cannot be' "$work/told"
ctl router bridge set br0 controllers ptcp:6640:127.0.0.1 >/dev/null
on "$r" ovs-ofctl show tcp:127.0.0.1:6640 | has '1(p1)'

# Versions that the bridge does not agree to are refused, and end where that is changed.
json '.[0].connected' router show controllers | has 1
ctl router bridge set br0 protocols OpenFlow10,OpenFlow13 >/dev/null
until_true has 'the switch went' "$work/7001.log"
ovs-ofctl -O OpenFlow13 show "$of" | has 'OFPT_FEATURES_REPLY (OF1.3)'
ovs-ofctl show "$of" | has 'OFPT_FEATURES_REPLY (xid'
ends 1 ovs-ofctl -O OpenFlow14 show "$of" 2>"$work/told"
has 'version negotiation failed (we support version 0x05, peer supports versions 0x01, 0x04)' "$work/told"
ctl router bridge set br0 protocols none >/dev/null
ovs-ofctl -O OpenFlow14 show "$of" | has '(OF1.4)'
echo "ok $name"
