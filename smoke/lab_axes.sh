#!/usr/bin/env bash
# What devices are set to beyond their function: an artificial cost, the vector's size, workers, the clock.
# Two: the lab and a device have a core each; what it looks at is so at any rate.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
# A packet that costs more is forwarded less often, and at 5 GHz not more than 12500 times a second (rates are of the
# time of sending); who cannot burn cycles says so.
sweep cost volley,testpmd '' 'cost_cycles = [0, 400000]' 'frame_bytes = 64'
sweep_has cost '[.[] | .answer // empty | select(.subject.device == "volley") | .low_pps] | length == 2 and .[0] > 1.5 * .[1]'
sweep_has cost '[.[] | .trial // empty | select(.subject.device == "volley" and .subject.axes.cost_cycles == "400000")
    | .rates[] | select(.window_ms == 100) | .mean_pps] | length >= 5 and max > 0 and all(. < 12500)'
sweep_has cost '[.[] | .failure // empty | select(.subject.device == "testpmd")] | length == 1 and all(.refused)'

# Vectors of 1024 packets are beyond Volley and testpmd.
sweep vectors volley,testpmd '' 'vector_packets = [16, 256, 1024]' 'frame_bytes = 64'
sweep_has vectors '[.[] | .answer // empty | select(.subject.device == "volley") | .subject.axes.vector_packets] | . == ["16", "256"]'
sweep_has vectors '[.[] | .failure // empty | select(.subject.device == "volley")] | length == 1 and (.[0].reason | contains("1 to 256 packets"))'
has 'vector_packets = 16' "$work/vectors/raw.jsonl"

# More workers than cores, and clocks where the kernel sets none.
sweep workers volley,linux-bridge '' 'workers = [1, 999]' 'frame_bytes = 64'
sweep_has workers '[.[] | .answer // empty | select(.subject.device == "volley") | .subject.axes.workers] | . == ["1"]'
sweep_has workers '[.[] | .failure // empty | select(.subject.axes.workers == "999")] | length == 2 and all(.refused)'
if [ ! -e /sys/devices/system/cpu/cpu0/cpufreq ]; then
    ends 4 sweep clock volley '' 'clock_percent = [50, 100]' 'frame_bytes = 64'
    sweep_has clock '[.[] | .failure // empty] | length == 2 and all(.refused and (.reason | contains("no cpufreq")))'
fi
# One worker has no sibling; a core of its own it has.
sweep placement volley '' 'placement = ["siblings", "cores"]' 'frame_bytes = 64'
sweep_has placement '[.[] | .failure // empty] | length == 1 and all(.refused and .subject.axes.placement == "siblings" and (.reason | contains("no sibling")))'
sweep_has placement '[.[] | .answer // empty | .subject.axes.placement] | . == ["cores"]'
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name"
