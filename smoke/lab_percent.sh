#!/usr/bin/env bash
# A build that costs 1 % more is found by what a packet costs it, in 20 blocks over memif, where the device is faster than the generator; and a
# build is not slower than itself. That takes five minutes: where CI is set, 5 % and 8 blocks (PERCENT, BLOCKS).
# Alone: it measures rates.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
percent=${PERCENT:-${CI:+5}} blocks=${BLOCKS:-${CI:+8}}
percent=${percent:-1} blocks=${blocks:-20}
printf 'name = "percent"\ntitle = "1 %%"\nabout = "As little as will do."\n[[function]]\nkind = "ip4"\n[link]\nkind = "memif"\n[measure]\nsearch = "max-rate"\ntrial_s = 0.02\n[campaign]\nrestarts = 1\n' >"$work/percent.toml"
lab() { before_others "$bin/volley-lab" "$@" 2>>"$work/progress.log"; }
lab run "$work/percent.toml" --devices volley --out "$work/cost" >"$work/told.txt"
cost=$(jq -r 'select(.quantity) | .quantity | select(.metric == "cost") | .values[0] | floor' "$work/cost/raw.jsonl")
# Cycles are whole numbers: so much of what it costs, or a little more.
burn=$(((cost * percent + 99) / 100))
mkdir "$work/slow"
printf '#!/bin/sh\n[ "$1" = --config ] && sed -i "s/^\\[workers\\]/&\\nburn_cycles = %s/" "$2"\nexec %s "$@"\n' "$burn" "$bin/volleyd" >"$work/slow/volleyd"
chmod +x "$work/slow/volleyd"
code=0
lab compare volley "volley=$work/slow" "$work/percent.toml" --blocks "$blocks" --out "$work/out" >"$work/told.txt" || code=$?
of() { jq -s -e "$1" "$work/out/raw.jsonl" >/dev/null || { echo "not so: $1"; cat "$work/told.txt"; exit 1; }; }
of '[.[] | .comparison // empty] | length == 1'
# It is not taken for the faster one, unless the machine says itself that so little goes by unnoticed.
of '[.[] | .comparison // empty][0].comparison | .finding != "higher" and .ratio < 1.01'
if jq -e -s "[.[] | .comparison // empty][0].comparison | .smallest_believable > 0.008 * $percent" "$work/out/raw.jsonl" >/dev/null; then
    echo "NOT TESTED whether $percent % is found: nothing below $(jq -r 'select(.comparison) | .comparison.comparison.smallest_believable' "$work/out/raw.jsonl") is believed on this machine now"
else
    [ "$code" = 3 ] && has ', by cost: 0\.9.*, lower;' "$work/told.txt" || { cat "$work/told.txt"; exit 1; }
fi
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name: $burn cycles on $cost: $(head -n 1 "$work/told.txt" | sed "s,$work/,,g")"
