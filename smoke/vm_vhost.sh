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
meet
[ "$(counter g1 rx_large_frames)" -gt 0 ] && [ "$(counter g2 tx_large_frames)" -gt 0 ]
echo "ping and TCP, in large frames"

router_dies
guest_dies
boots 2 $how
meet
echo "a guest was killed, and is on the bridge again"
[ "$(json '[.[] | select(.link_up)] | length' router show ports)" = 2 ]
echo "ok $name"
