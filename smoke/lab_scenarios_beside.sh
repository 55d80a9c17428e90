#!/usr/bin/env bash
# The scenarios of scenarios/ of which no rate is held to another one, in short: what lab_scenarios.sh leaves.
# Two: they load two cores.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
command -v iperf3 >/dev/null || skip "no iperf3"
python3 "$(dirname "$0")/lab_scenarios.py" "$root" "$bin/volley-lab" "$work" --beside
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
