#!/usr/bin/env bash
# Interleaved blocks compare two devices, after a null campaign; numbers of several
# campaigns make a trend; the lab tells what it can do itself.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
command -v ovs-vswitchd >/dev/null || skip "no Open vSwitch"
export XDG_CACHE_HOME=$work TMPDIR=$work
cat >"$work/smoke.toml" <<END
name = "smoke"
title = "Smoke"
about = "As little as will do."
[[function]]
kind = "cross-connect"
[measure]
search = "max-rate"
trial_s = 0.02
[campaign]
restarts = 1
END
# What it says on the way is shown when the test fails.
lab() { "$bin/volley-lab" "$@" 2>>"$work/progress.log"; }
fail() { echo "$1"; exit 1; }

code=0
lab compare linux-bridge ovs "$work/smoke.toml" --blocks 6 --out "$work/compared" >"$work/told.txt" || code=$?
# Two that the load did not bring to their limit have no ratio, and it says so.
has 'is believed here\|no ratio, as neither was brought to its limit' "$work/told.txt" || { cat "$work/told.txt"; fail "it does not tell what to believe"; }
# Which of the two is faster is this machine's business; so is whether the load exhausts a bridge. One
# that takes all of it always forwards the same: then the null has no spread, and it must say why.
jq -s -e '[.[] | .comparison // empty] | length == 1 and (.[0].comparison | .blocks == 6 and
    .ratio > 0) and (.[0] | .comparison.smallest_believable > 0 or (.unexhausted | index("linux-bridge")))' "$work/compared/raw.jsonl" >/dev/null || { cat "$work/told.txt"; exit 1; }
# It ends with what it found: 3 where the second is slower, 4 where neither was brought to its limit.
expected=$(jq -s '[.[] | .comparison // empty][0] | (.unexhausted | index("ovs")) as $may_be_more |
    if (.unexhausted | length) == 2 then 4 elif .comparison.finding == "lower" and ($may_be_more | not) then 3 else 0 end' "$work/compared/raw.jsonl")
[ "$code" = "$expected" ] || { cat "$work/told.txt"; fail "ended with $code, not $expected"; }
# A block is four starts of three trials; six of the null, six of both.
trials=$(jq -c 'select(.trial)' "$work/compared/raw.jsonl" | wc -l)
[ "$trials" = 144 ] || { jq -c 'select(.failure)' "$work/compared/raw.jsonl"; fail "$trials trials"; }
has '<svg' "$work/compared/report.html" || fail "no figure"

# What only checks has no rates to compare.
sed 's/max-rate/functional/' "$work/smoke.toml" >"$work/checks.toml"
! "$bin/volley-lab" compare linux-bridge ovs "$work/checks.toml" --out "$work/checks" 2>"$work/refused.txt" &&
    has 'finds no rate that could be compared' "$work/refused.txt" || { cat "$work/refused.txt"; fail "checks are compared"; }

for campaign in 1 2; do
    lab run "$work/smoke.toml" --devices linux-bridge --out "$work/campaign$campaign" >/dev/null
done
lab trend "$work/campaign1" "$work/campaign2" --metric MRR >"$work/trend.txt"
has 'linux-bridge — cross-connect, MRR' "$work/trend.txt" && has 'campaigns since' "$work/trend.txt" || {
    cat "$work/trend.txt"
    fail "no trend"
}

lab self-test veth >"$work/self.txt"
has '^veth .* Mpps' "$work/self.txt" || fail "it does not tell what it can do"
has 'into memory: .* Mpps a core, .* ns of them for its latency' "$work/self.txt" || fail "it does not tell what timing costs"
! pgrep -af "$work" || fail "something is left running"
echo "ok $name: $(head -n 1 "$work/told.txt")"
