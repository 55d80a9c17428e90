#!/usr/bin/env bash
# What devices are set to beyond their function: an artificial cost, the vector's size, workers, the clock.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
# measure NAME DEVICES KEYS-OF-THE-FUNCTION SWEEP TRAFFIC: the maximum rate of a cross-connect in each case.
measure() {
    cat >"$work/$1.toml" <<END
name = "$1"
title = "Axes"
about = "As little as will do."
[[function]]
kind = "cross-connect"
$3
[traffic]
$5
[sweep]
$4
[measure]
search = "max-rate"
trial_s = 0.3
[campaign]
restarts = 1
END
    "$bin/volley-lab" run "$work/$1.toml" --devices "$2" --out "$work/$1" >"$work/$1.txt" 2>>"$work/progress.log"
}
of() { jq -s -e "$2" "$work/$1/raw.jsonl" >/dev/null || { echo "not so: $2"; jq -c '.answer // .failure // empty' "$work/$1/raw.jsonl"; exit 1; }; }
# A packet that costs more is forwarded less often, and at 5 GHz not more than 12500 times a second (rates are of the
# time of sending); who cannot burn cycles says so.
measure cost volley,testpmd '' 'cost_cycles = [0, 400000]' 'frame_bytes = 64'
of cost '[.[] | .answer // empty | select(.subject.device == "volley") | .low_pps] | length == 2 and .[0] > 1.5 * .[1]'
of cost '[.[] | .trial // empty | select(.subject.device == "volley" and .subject.axes.cost_cycles == "400000")
    | .rates[] | select(.window_ms == 100) | .mean_pps] | length >= 5 and max > 0 and all(. < 12500)'
of cost '[.[] | .failure // empty | select(.subject.device == "testpmd")] | length == 1 and all(.refused)'

# Vectors of 1024 packets are beyond Volley and testpmd.
measure vectors volley,testpmd '' 'vector_packets = [16, 256, 1024]' 'frame_bytes = 64'
of vectors '[.[] | .answer // empty | select(.subject.device == "volley") | .subject.axes.vector_packets] | . == ["16", "256"]'
of vectors '[.[] | .failure // empty | select(.subject.device == "volley")] | length == 1 and (.[0].reason | contains("1 to 256 packets"))'
has 'vector_packets = 16' "$work/vectors/raw.jsonl"

# More workers than cores, and clocks where the kernel sets none.
measure workers volley,linux-bridge '' 'workers = [1, 999]' 'frame_bytes = 64'
of workers '[.[] | .answer // empty | select(.subject.device == "volley") | .subject.axes.workers] | . == ["1"]'
of workers '[.[] | .failure // empty | select(.subject.axes.workers == "999")] | length == 2 and all(.refused)'
if [ ! -e /sys/devices/system/cpu/cpu0/cpufreq ]; then
    measure clock volley '' 'clock_percent = [50, 100]' 'frame_bytes = 64'
    of clock '[.[] | .failure // empty] | length == 2 and all(.refused and (.reason | contains("no cpufreq")))'
fi
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name"
