#!/usr/bin/env bash
# A budget of time: everything once, then again as long as there is time; an interrupted one goes on, and a larger one adds.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
cat >"$work/smoke.toml" <<END
name = "smoke"
title = "Smoke"
about = "As little as will do."
[[function]]
kind = "cross-connect"
[[function]]
kind = "gre"
[link]
kind = "veth"
[measure]
search = "max-rate"
trial_s = 0.05
[campaign]
restarts = 50
END
raw=$work/out/raw.jsonl
lab() { "$bin/volley-lab" run "$work/smoke.toml" --devices linux-bridge --out "$work/out" "$@" >"$work/told.txt" 2>"$work/progress.txt"; }
of() { jq -s -e "$1" "$raw" >/dev/null || { echo "not so: $1"; jq -c '.answer // .failure // empty' "$raw"; cat "$work/progress.txt"; exit 1; }; }
"$bin/volley-lab" plan "$work/smoke.toml" --devices linux-bridge --budget 10m >"$work/plan.txt"
has 'Budget of 10 minutes: a first start of everything takes about .*intervals are widest' "$work/plan.txt" || { cat "$work/plan.txt"; exit 1; }
for wrong in '--minutes 3' '--restarts 3'; do ends 2 "$bin/volley-lab" run "$work/smoke.toml" --budget 5s $wrong >/dev/null 2>&1; done
ends 2 "$bin/volley-lab" run "$work/smoke.toml" --budget soon 2>"$work/wrong.txt"
has 'not a time, as in 30m' "$work/wrong.txt"

# More than the first start, far fewer than fifty; what is refused is asked for once.
began=$SECONDS
lab --budget 12s
[ $((SECONDS - began)) -lt 60 ] || { echo "12 s became $((SECONDS - began))"; exit 1; }
of '[.[] | .answer // empty | .subject.run] | length >= 1 and length < 40 and . == (. | unique)'
of '[.[] | .failure // empty] | length == 1 and all(.refused and .subject.function == "gre")'
# Nothing is left of it: the same again adds nothing, a larger one does, and all of it is one series.
starts() { jq -s '[.[] | .answer // empty] | length' "$raw"; }
before=$(starts)
lab --budget 2s
[ "$(starts)" = "$before" ] || { echo "a budget that is spent is spent again"; exit 1; }
"$bin/volley-lab" run "$work/smoke.toml" --devices linux-bridge --out "$work/out" --budget 10m >/dev/null 2>&1 &
running=$!
more() { [ "$(starts)" -gt $((before + 1)) ]; }
more_or_over() { more || ! kill -0 $running; }
until_true more_or_over
if more; then
    kill -INT $running
    ends 130 wait $running
else
    # On a quiet host the generator's limit is the rate of each start: nothing would be known better by another.
    wait $running
    of '[.[] | .answer // empty | .low_pps] | length >= 3 and (unique | length) == 1'
fi
of '[.[] | .answer // empty | .subject.run] | . == (. | unique)'
of '[.[] | .campaign // empty] | length == 1'

# A search that has no time for a bound: what packets took, and what they cost, is there all the same, at shares of what came through.
sed -e 's/"max-rate"/"mlr"\nlatency_at_percent = [20, 60]\ntelemetry = true\nduration_sum_s = 30/; /"gre"/d' "$work/smoke.toml" | awk '!/function/ || !seen++' >"$work/brief.toml"
raw=$work/brief/raw.jsonl
"$bin/volley-lab" run "$work/brief.toml" --devices linux-bridge --out "$work/brief" --budget 1s >"$work/told.txt" 2>"$work/progress.txt" || true
of '[.[] | .trial // empty | select(.purpose == "latency")] | map(.subject.axes.load_percent) == ["20", "60"] and
    all(.latency.sum_ns > 0 and ([.verdicts[] | select(.verdict == "no_bound" and .through_pps > 1000)] | length == 1))'
of '[.[] | .telemetry // empty] | length == 1 and all(.load_pps > 500)'
has 'shares of .* the most that came through it' "$work/brief/report.html" || { echo "the report does not say what loads are shares of"; exit 1; }
# Who stops it while a device is set up, for longer than there is time, has it begin with no other.
mkdir "$work/slow"
cat >"$work/slow/prepare" <<END
#!/bin/sh
echo "\$LAB_FUNCTION" >>$work/starts
while [ ! -e $work/go ]; do sleep 0.1; done
ip link add br7 type bridge && ip link set br7 up
for port in "\$LAB_PORT0" "\$LAB_PORT1"; do ip link set "\$port" master br7 || exit; done
END
printf '#!/bin/sh\nip link del br7\n' >"$work/slow/stop"
chmod +x "$work"/slow/*
sed -e 's/"gre"/"bridge"/' "$work/smoke.toml" >"$work/slow.toml"
"$bin/volley-lab" run "$work/slow.toml" --devices "script=$work/slow" --out "$work/slow-out" --budget 1s >"$work/told.txt" 2>"$work/progress.txt" &
running=$! began=$SECONDS
until_true test -e "$work/starts" || { cat "$work/progress.txt"; exit 1; }
kill -INT $running
is_late() { [ $((SECONDS - began)) -ge 3 ]; }
until_true is_late
touch "$work/go"
ends 130 wait $running
[ "$(wc -l <"$work/starts")" = 1 ] || { echo "it began with another"; cat "$work/starts"; exit 1; }
raw=$work/out/raw.jsonl
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name: $before starts in 12 s, then $(starts)"
