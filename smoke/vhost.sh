#!/usr/bin/env bash
# Two routers of ours over vhost and virtio_user: what the hosts behind them send arrives.
# Two: of UDP at a rate a host that gets no processor loses what its socket cannot hold.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/chain.bash"
hosts
link() { printf 'kind = "%s"\nsocket = "%s"\n' "$1" "$work/vhost"; }
link vhost | half left 1 2
link virtio_user | half right 2 1
router left
router right
carries vhost
echo "ok $name"
