#!/usr/bin/env bash
# A campaign that was cut off goes on in its folder: nothing is measured twice, a torn last line loses itself
# alone, and a folder of another campaign is refused.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
command -v dpdk-testpmd >/dev/null || skip "no testpmd"
export XDG_CACHE_HOME=$work TMPDIR=$work
cat >"$work/smoke.toml" <<END
name = "smoke"
title = "Smoke"
about = "As little as will do."
[[function]]
kind = "cross-connect"
[[function]]
kind = "gre"
[measure]
search = "max-rate"
trial_s = 0.05
repetitions = 6
latency_at_percent = [10, 50]
[campaign]
restarts = 2
END
raw=$work/out/raw.jsonl
of() { jq -s -e "$1" "$raw" >"$work/jq.txt" || { echo "not so: $1"; cut -c 1-300 "$raw" | tail -n 4; exit 1; }; }
lab() { "$bin/volley-lab" run "$work/smoke.toml" --devices linux-bridge,testpmd --out "$work/out" "$@" >"$work/told.txt" 2>"$work/progress.txt"; }

# Cut off in the middle of a search, and then within a line.
"$bin/volley-lab" run "$work/smoke.toml" --devices linux-bridge,testpmd --out "$work/out" >/dev/null 2>&1 &
until_true has '"index":4,' "$raw"
kill -INT $!
ends 130 wait $!
truncate -s -30 "$raw"
before=$(jq -R 'fromjson? | .trial // empty | .index' "$raw" | wc -l)
[ "$before" -ge 4 ]

lab
# Six trials of the largest load and two latencies a start, two devices, two starts: all of them, none twice.
filter='[inputs | fromjson? | .trial // empty | select(.subject)]'
trials() { jq -n -R -e "$filter | $1" "$raw" >/dev/null || { echo "trials not so: $1"; jq -n -R -c "$filter | group_by(.subject) | map([.[0].subject.device, .[0].subject.run, .[0].purpose, length])" "$raw"; exit 1; }; }
trials 'length == 32 and (map(.index) | unique | length == 32)'
trials '[group_by(.subject)[] | [.[0].purpose, length]] | unique == [["latency", 1], ["maxrate", 6]]'
jq -n -R -e '[inputs | fromjson? | .answer // empty] | length == 4 and (map(.subject) | unique | length == 4)' "$raw" >/dev/null
jq -n -R -e '[inputs | fromjson? | .campaign // empty] | length == 1' "$raw" >/dev/null
grep -q 'of 2 runs\|2 runs;' "$work/told.txt" || { cat "$work/told.txt"; exit 1; }

# Once more: there is nothing to do. A restart more: that alone.
lines=$(wc -l <"$raw")
lab
[ "$(wc -l <"$raw")" = "$lines" ] || { tail -n 3 "$raw" | cut -c 1-200; echo "it measured again"; exit 1; }
lab --restarts 3
trials 'length == 48 and (map(.subject.run) | unique == [0, 1, 2])'

# Another scenario, or another kind of link, is another campaign.
sed -i 's/trial_s = 0.05/trial_s = 0.1/' "$work/smoke.toml"
ends 1 lab
has 'holds a campaign that was measured otherwise' "$work/progress.txt"
ends 1 "$bin/volley-lab" compare linux-bridge testpmd "$work/smoke.toml" --out "$work/out" >/dev/null 2>"$work/progress.txt"
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name: $before trials before it was cut off"
