#!/usr/bin/env bash
# Schedulers at a port that is really full: Volley's six, and the kernel's as far as it has them.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
# Cases of a scheduler that were measured, and those that were refused, as DEVICE/SCHEDULER.
cases() { jq -r -s '[.[] | .'"$2"' // empty | .subject | "\(.device)/\(.axes.scheduler)"] | sort | join(" ")' "$work/$1/raw.jsonl"; }

# A port of 100 Mbit/s that is really full sends 1514 octets of each frame of 1518: the rate while it is sent to,
# without what its queue holds in the end. Nobody gets more than that and, at the beginning of a trial, a full bucket:
# 134,018 octets of the 1,250,000 of a trial of 0.1 s, so 1.11. The best trial comes near the rate, on a machine whose
# cores are there: what a worker misses for longer than a bucket lasts is gone.
sweep schedulers volley,linux-bridge 'bottleneck_mbps = 100' 'scheduler = ["fifo", "sfq", "codel", "fq-codel", "htb", "hfsc"]' 'frame_bytes = 1518'
away=$(jq -s '[.[] | .probe // empty] | 100 * (map(.stalled.total_us) | add) / (map(.watched_s) | add) / 1e6 | floor' "$work/schedulers/raw.jsonl")
least=0.9
if [ "$away" -gt 5 ]; then
    echo "NOT TESTED whether ports are filled: idle cores of this machine lose $away % of their time"
    least=0
fi
for case in $(cases schedulers answer); do
    sweep_has schedulers '[.[] | .trial // empty | select("\(.subject.device)/\(.subject.axes.scheduler)" == "'"$case"'")
        | .rates[] | select(.window_ms == 100) | .mean_pps * 1514 * 8 / 100e6] | length >= 5 and max > '$least' and (sort | .[length / 2 | floor]) < 1.11'
done
sweep_has schedulers '[.[] | .answer // empty | select(.subject.device == "volley")] | length == 6'
# The kernel has those that it was built with; the others are refused by name.
sweep_has schedulers '[.[] | .answer // .failure // empty | select(.subject.device == "linux-bridge")] | length == 6'
sweep_has schedulers '[.[] | .failure // empty] | all(.refused and (.reason | contains("this kernel has no such scheduler")))'
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name: measured $(cases schedulers answer); refused $(cases schedulers failure)"
