#!/usr/bin/env bash
# Hostile peers at a `ptcp:` port of a bridge of flows: silent ones, halves, rubbish, lengths that lie, readers that do not read, a crowd
# (CROWD=10000). Others get through meanwhile, by TCP and by the Unix socket; frames pass, memory stays.
. "$(dirname "$0")/lib.sh"
command -v ovs-ofctl >/dev/null || skip "needs ovs-ofctl (openvswitch-switch)"
fail() { echo "$1"; exit 1; }
bridged_hosts
ip -n "$r" link set lo up
{
    three_ports
    printf '[bridge.br0]\nmode = "flow"\nmanagement = "%s/br0.mgmt"\nports = ["p1", "p2", "p3"]\ncontrollers = ["ptcp:6640:127.0.0.1"]\n' "$work"
} >"$work/router.toml"
router router
volleyd=${daemons[-1]}
local=unix:$work/br0.mgmt far=tcp:127.0.0.1:6640
ovs-ofctl add-flow "$local" 'priority=0,actions=NORMAL'
seq 1 5000 | awk '{ print "priority=5,in_port=3,dl_type=0x800,nw_dst=10.1." int($1 / 256) "." $1 % 256 ",actions=drop" }' >"$work/flows"
ovs-ofctl add-flows "$local" "$work/flows"
until_true pings "$a" 10.0.9.2
rss() { awk '/VmRSS/ { print $2 }' "/proc/$volleyd/status"; }
served() { on "$r" timeout 10 ovs-ofctl show "$1" | has '1(p1)'; }
[ "$(json '.[0].target' router show controllers)" = ptcp:6640:127.0.0.1 ]
before=$(rss)
ip netns exec "$a" ping -q -i 0.1 -W 5 10.0.9.2 >"$work/ping" &
pinging=$!
for kind in ${KINDS:-silent half rubbish long deaf crowd}; do
    mkfifo "$work/$kind"
    ip netns exec "$r" python3 "$root/smoke/hostile_controllers.py" 127.0.0.1 6640 $kind "${CROWD:-2000}" <"$work/$kind" >"$work/$kind.txt" 2>&1 &
    thrower=$!
    exec 9>"$work/$kind"
    # While it is thrown, and when all of it is there.
    served "$local" || fail "$kind: nobody is served by the Unix socket"
    thrown() { has thrown "$work/$kind.txt"; }
    until_true thrown || until_true thrown || until_true thrown || { cat "$work/$kind.txt"; fail "$kind: it was not thrown"; }
    served "$local" || fail "$kind: nobody is served by the Unix socket any more"
    until_true served "$far" || fail "$kind: nobody is served by TCP"
    exec 9>&-
    wait $thrower || { cat "$work/$kind.txt"; fail "$kind: the thrower failed"; }
done
kill -INT $pinging
wait $pinging || true
has ' 0% packet loss' "$work/ping" || { cat "$work/ping"; fail "frames were lost"; }
grown=$(($(rss) - before))
[ $grown -lt 131072 ] || fail "memory grew by $grown KiB"
few() { [ "$(find "/proc/$volleyd/task" -mindepth 1 -maxdepth 1 | wc -l)" -lt 40 ]; }
until_true few || fail "threads are left"
echo "ok $name"
