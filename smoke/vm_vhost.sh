#!/usr/bin/env bash
# Two virtual machines on a bridge of ours, each by virtio-net over vhost-user: ping and TCP between them, then either side is started
# anew, the router (killed) and a guest (killed).
#
#   guest 1, virtio-net ═ vhost-user ═ volleyd, bridge ═ vhost-user ═ virtio-net, guest 2
# Two: two emulated machines beside the router leave little of two cores for others.
. "$(dirname "$0")/lib.sh"
. "$root/smoke/machines.bash"
# It reconnects when the router comes back.
how=reconnect=1

ip netns add "$r"
guests_router '' >"$work/router.toml"
router router
boots 1 $how
boots 2 $how
until_true reaches 1 2
inside 2 "iperf3 -s >/tmp/server & busybox true"
until_true tcp
echo "ping and TCP"

kill -9 "${daemons[0]}"
wait "${daemons[0]}" 2>/dev/null || true
router router
until_true reaches 1 2
until_true reaches 2 1
until_true tcp
echo "the router was killed, and the guests are on its bridge again"

kill -9 "${machine[2]}"
wait "${machine[2]}" 2>/dev/null || true
boots 2 $how
until_true reaches 1 2
inside 2 "iperf3 -s >/tmp/server & busybox true"
until_true tcp
echo "a guest was killed, and is on the bridge again"
[ "$(json '[.[] | select(.link_up)] | length' router show ports)" = 2 ]
echo "ok $name"
