#!/usr/bin/env bash
# Bursts, overloads and restarts on real devices (RFC 2544, 26.4 to 26.6); idle probes before each start.
# Alone: it measures rates.
. "$(dirname "$0")/lib.sh"
command -v dpdk-testpmd >/dev/null || skip "no testpmd"
export XDG_CACHE_HOME=$work TMPDIR=$work
# measure SEARCH REPETITIONS DEVICES
measure() {
    cat >"$work/$1.toml" <<END
name = "$1"
title = "Upset"
about = "As little as will do."
[[function]]
kind = "cross-connect"
[measure]
search = "$1"
trial_s = 0.05
relative_width = 0.2
repetitions = $2
[campaign]
restarts = 1
END
    "$bin/volley-lab" run "$work/$1.toml" --devices "$3" --out "$work/$1" >"$work/$1.txt" 2>>"$work/progress.log" || { cat "$work/$1.txt"; exit 1; }
}
of() { jq -s -e "$2" "$work/$1/raw.jsonl" >/dev/null || { echo "not so: $2"; jq -c ".quantity // .failure // (.trial // empty | .outcome.trial) | select(.metric != \"cost\")" "$work/$1/raw.jsonl"; exit 1; }; }

measure back-to-back 2 testpmd,volley
of back-to-back '[.[] | .quantity // empty | select(.unit == "frames")] | length == 2 and all(.values | length == 2)'
# A start of each, and a look at two cores before the campaign, or three where the first saw a stall.
of back-to-back '[.[] | .probe // empty] | (length == 4 or length == 8) and all(.watched_s > 0)'
measure recovery 2 volley
of recovery '[.[] | .quantity // empty | select(.metric == "recovery") | .values] | length == 1 and all(length == 2 and all(. >= 0 and . <= 0.06))'
of recovery '[.[] | .trial // empty | .accounts | .sent - .received - .dropped - .in_flight] | all(. == 0)'
# The kernel is no process; what is one comes back, later than at once and within its trial.
measure reset 1 volley,testpmd,linux-bridge
longest='([.[] | .trial // empty | .outcome.trial.duration_s] | max) as $longest'
away="$longest | "'[.[] | .quantity // empty | select(.metric == "reset") | .values] | all(length == 1 and .[0] > 0.01 and .[0] < 0.8 * $longest)'
of reset "$away and length == 2"
of reset '[.[] | .failure // empty] | length == 1 and (.[0] | .refused and .subject.device == "linux-bridge")'
has 'Bursts, recovery, reset' "$work/reset/report.html"
# One that is away for longer than the trial, once, is started again in a longer one, and on a busy machine in a longer still.
mkdir "$work/late"
printf '#!/bin/sh\n[ "$1" != --config ] || echo >>"%s/starts"\n[ "$(wc -l <"%s/starts")" != 2 ] || sleep 2.5\nexec %s "$@"\n' "$work" "$work" "$bin/volleyd" >"$work/late/volleyd"
chmod +x "$work/late/volleyd"
mv "$work/reset" "$work/reset-of-three"
measure reset 1 "volley=$work/late"
of reset "$away and length == 1"
doubled=$(($(wc -l <"$work/starts") - 2))
of reset "[.[] | .trial // empty | .outcome.trial | select(.change) | .duration_s] == [3 * ($doubled | exp2)] and $doubled > 0"
has 'The host' "$work/reset/report.html"
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name: $(grep -h 'in the middle' "$work"/*.txt | tr '\n' ';')"
