#!/usr/bin/env bash
# Links that are taps, telemetry, and Open vSwitch on DPDK. However busy the machine, every packet of every trial is
# accounted for, or none too many where DPDK has the kernel's sockets.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
cat >"$work/smoke.toml" <<'END'
name = "smoke"
title = "Smoke"
about = "As little as will do."
[[function]]
kind = "cross-connect"
[measure]
search = "max-rate"
trial_s = 0.02
repetitions = 3
latency_at_percent = [10]
telemetry = true
[campaign]
restarts = 1
END
lab() { "$bin/volley-lab" run "$work/smoke.toml" "$@" >>"$work/told.txt" 2>>"$work/progress.log"; }
of() { jq -s -e "$2" "$work/$1/raw.jsonl" >/dev/null || { echo "not so of $1: $2"; jq -c ".failure // (.trial | select(. != null) | [.subject.device, .purpose, .accounts, .device])" "$work/$1/raw.jsonl"; exit 1; }; }

lab --devices volley,linux-bridge --link tap --out "$work/tap"
of tap '[.[] | .answer // empty] | length == 2'
adds_up='[.[] | .trial // empty | .accounts | .sent - .received - .dropped - .in_flight] | length > 0 and all(. == 0)'
of tap "$adds_up"
of tap '[.[] | .telemetry // empty | select(.subject.device == "volley") | .nodes | map(.node)] | length == 1 and (.[0] | index("port-rx"))'
# Instructions by valgrind, where the processor hides its own counts.
of tap '[.[] | .telemetry.refused // empty | select(. != null)] as $hidden | [.[] | .modelled // empty] |
    if ($hidden | length) == 0 then length == 0
    else length == 1 and (.[0].nodes | map(select(.node == "l2-xconnect")) | .[0] | .packets > 1000 and .instructions > 5) end'
of tap '[.[] | .failure // empty] | length == 0'
if [ -x /usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk ]; then
    lab --devices ovs-dpdk --out "$work/dpdk"
    of dpdk '[.[] | .answer // empty] | length == 1'
    # What the kernel drops in front of DPDK's sockets nobody counts.
    of dpdk "${adds_up/. == 0/. >= 0}"
else
    echo "ovs-dpdk: SKIPPED, openvswitch-switch-dpdk is not installed"
    [ -z "${CI:-}" ]
fi
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name"
