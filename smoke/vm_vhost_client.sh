#!/usr/bin/env bash
# As vm_vhost, but the machines make the sockets, and the router connects to them: when they come after it, and when either side is
# started anew.
#
#   guest 1, virtio-net ═ vhost-user, server ═ volleyd, bridge ═ vhost-user, server ═ virtio-net, guest 2
# Two: two emulated machines beside the router leave little of two cores for others.
. "$(dirname "$0")/lib.sh"
. "$root/smoke/machines.bash"
how=server=on,wait=off
fail() { echo "$1"; ctl router show ports; exit 1; }
# problem NUMBER: what the router says of a guest's port; nothing when all is well.
problem() { json ".[] | select(.name == \"g$1\").problem // \"\"" router show ports; }

ip netns add "$r"
guests_router 'role = "client"' >"$work/router.toml"
router router
away() { problem "$1" | has "g$1.sock cannot be connected to, and is tried again: $2"; }
until_true away 1 'No such file' || fail "nobody is told to be away"
boots 1 $how
boots 2 $how
meet
[ -z "$(problem 1)$(problem 2)" ] || fail "there is a problem where there is none"
[ -z "$(compgen -G "$work/*.dpdk")$(compgen -G "/tmp/volley-vhost-*")" ] || fail "a socket of the router's own is left where others see it"
echo "ping and TCP"

router_dies
guest_dies
# QEMU leaves its socket, at which nobody listens.
until_true away 2 'Connection refused' || fail "a machine that is gone is not told of"
boots 2 $how
meet
echo "a guest was killed, and is on the bridge again"
[ "$(json '[.[] | select(.link_up)] | length' router show ports)" = 2 ]

# A port that is taken away leaves the machine's socket, and comes again.
ctl router bridge leave lan g2
ctl router port del g2
test -S "$work/g2.sock" || fail "the machine's socket is gone with the port"
ctl router port add g2 vhost socket "$work/g2.sock" role client
ctl router bridge join lan g2
until_true reaches 1 2
echo "a port was taken away and added"
echo "ok $name"
