#!/usr/bin/env bash
# A Geneve tunnel to the kernel's geneve device: host a behind a bridge of ours, host b behind its own device.
. "$(dirname "$0")/lib.sh"
# Kernels are built without it often; flow_tunnels.sh has Open vSwitch at the other end.
kind=geneve says= lacking=cannot
. "$(dirname "$0")/udp_tunnel.bash"
echo "ok $name"
