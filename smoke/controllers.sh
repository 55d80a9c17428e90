#!/usr/bin/env bash
# Controllers that a bridge of flows connects to: Open vSwitch's own learning one makes pings pass; without any the bridge fails as
# it is told, at once where that is changed.
. "$(dirname "$0")/lib.sh"
command -v ovs-testcontroller >/dev/null || skip "needs ovs-testcontroller (openvswitch-testcontroller)"
bridged_hosts
ip -n "$r" link set lo up
{
    three_ports
    printf '[bridge.br0]\nmode = "flow"\nmanagement = "%s/br0.mgmt"\nports = ["p1", "p2", "p3"]\n' "$work"
    printf 'controllers = [{ target = "tcp:127.0.0.1:6653", probe = "1s", max_backoff = "1s" }]\n'
} >"$work/router.toml"
router router
of=unix:$work/br0.mgmt
says() { json '.[0].'"$1" router show controllers | has -x "$2"; }
fails() { ! pings "$a" 10.0.9.2 >/dev/null; }

# Nobody is there: it waits for three probes, and is an ordinary bridge then.
[ -z "$(ovs-ofctl --no-stats dump-flows "$of" | grep actions)" ]
until_true says fails_open true
until_true pings "$a" 10.0.9.2
says problem 'Connection refused.*'
# Secure is nothing, now and at once, and back.
ctl router bridge set br0 fail_mode secure >/dev/null
fails
ctl router bridge set br0 fail_mode standalone >/dev/null
until_true pings "$a" 10.0.9.2

# The real one puts flows in, by packets that no other matches.
ip netns exec "$r" ovs-testcontroller ptcp:6653 --unixctl="$work/tc.ctl" 2>"$work/tc.log" &
daemons+=($!)
until_true says connected 1
until_true says fails_open false
until_true pings "$a" 10.0.9.2
until_true pings "$c" 10.0.9.1
ovs-ofctl dump-flows "$of" | has 'idle_timeout=60.*icmp.*actions=output:2'
kill "${daemons[-1]}"
until_true says fails_open true
until_true pings "$a" 10.0.9.3
echo "ok $name"
