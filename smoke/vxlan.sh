#!/usr/bin/env bash
# A VXLAN tunnel to the kernel's vxlan device: host a behind a bridge of ours, host b behind its own device.
. "$(dirname "$0")/lib.sh"
kind=vxlan says="dstport 4789 local 10.0.2.2"
. "$(dirname "$0")/udp_tunnel.bash"
echo "ok $name"
