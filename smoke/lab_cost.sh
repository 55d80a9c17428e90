#!/usr/bin/env bash
# Devices faster than the generator are told apart by what a packet costs them: a Volley that spins 250 cycles for each packet is slower
# over memif, where both take all that the lab can send.
# Alone: it measures rates.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
mkdir "$work/slow"
printf '#!/bin/sh\n[ "$1" = --config ] && sed -i "s/^\\[workers\\]/&\\nburn_cycles = 250/" "$2"\nexec %s "$@"\n' "$bin/volleyd" >"$work/slow/volleyd"
chmod +x "$work/slow/volleyd"
cat >"$work/cost.toml" <<END
name = "cost"
title = "Cost"
about = "As little as will do."
[[function]]
kind = "cross-connect"
[link]
kind = "memif"
[measure]
search = "max-rate"
trial_s = 0.02
repetitions = 3
[campaign]
restarts = 1
END
# Slower: 3.
ends 3 "$bin/volley-lab" compare volley "volley=$work/slow" "$work/cost.toml" --blocks 6 --out "$work/out" >"$work/told.txt" 2>"$work/progress.log" ||
    { cat "$work/told.txt"; exit 1; }
of() { jq -s -e "$1" "$work/out/raw.jsonl" >/dev/null || { echo "not so: $1"; cat "$work/told.txt"; jq -c '.comparison // .failure // empty' "$work/out/raw.jsonl"; exit 1; }; }
of '[.[] | .comparison // empty] | length == 1 and (.[0] | .comparison.finding == "lower" and .comparison.ratio < 0.9)'
# Where both were brought to their limit, as on a slow build, rates are compared; else costs, whose difference is what was burnt.
if jq -e -s '[.[] | .comparison // empty][0].unexhausted | length == 0' "$work/out/raw.jsonl" >/dev/null; then
    echo "NOT TESTED by cost: both were brought to their limit"
else
    of '[.[] | .comparison // empty][0].cost | (.cycles[1] - .cycles[0] | . > 200 and . < 400) and (.vector_packets | all(. > 200))'
    has ', by cost: 0\.' "$work/told.txt" && has 'cycles a packet against .*, vectors of 2' "$work/told.txt" && has 'compared by cost' "$work/out/report.html"
fi
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name: $(grep '^cost' "$work/told.txt" || head -n 1 "$work/told.txt")"
