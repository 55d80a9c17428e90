#!/usr/bin/env bash
# Two routers of ours over memif: what the hosts behind them send arrives.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/chain.bash"
hosts
link() { printf 'kind = "memif"\nsocket = "%s"\nrole = "%s"\n' "$work/memif" "$1"; }
link server | half left 1 2
link client | half right 2 1
router left
router right
carries memif
echo "ok $name"
