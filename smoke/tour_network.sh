#!/usr/bin/env bash
# What docs/tasks says of networks, typed: routes, VLANs, VXLAN, BGP with FRR.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tour.bash"
. "$(dirname "$0")/frr.bash"
frr_is_there
command -v gobgpd >/dev/null || skip "gobgpd is missing"
tour route vlans vxlan bgp
echo "ok $name"
