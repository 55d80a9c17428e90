#!/usr/bin/env bash
# A Geneve tunnel to the kernel's geneve device: host a behind a bridge of ours, host b behind its own device.
. "$(dirname "$0")/lib.sh"
kind=geneve says=
. "$(dirname "$0")/udp_tunnel.bash"
echo "ok $name"
