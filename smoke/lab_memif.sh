#!/usr/bin/env bash
# The lab's numbers of testpmd over memif are testpmd's own, at every rate that it tries and over three starts of it. Volley
# routes over memif: its ports there have the addresses that they are given.
# Two: the lab and a device have a core each; what it looks at is so at any rate.
. "$(dirname "$0")/lib.sh"
command -v dpdk-testpmd >/dev/null || skip "no testpmd"
export XDG_CACHE_HOME=$work TMPDIR=$work
cat >"$work/memif.toml" <<END
name = "memif"
title = "testpmd over memif"
about = "Whether two who count agree."
[[function]]
kind = "cross-connect"
[traffic]
both_directions = true
[measure]
search = "max-rate"
trial_s = 0.05
latency_at_percent = [10]
[campaign]
restarts = 3
END
"$bin/volley-lab" run "$work/memif.toml" --devices testpmd --link memif --out "$work/out" \
    >"$work/told.txt" 2>"$work/progress.log"
of() { jq -s -e "$1" "$work/out/raw.jsonl" >/dev/null || { echo "not so: $1"; jq -c '.trial // .failure // empty | [.purpose, .accounts, .device, .reason]' "$work/out/raw.jsonl"; exit 1; }; }
of '[.[] | .failure // empty] | length == 0'
of '[.[] | .answer // empty] | length == 3'
# Both directions are told of, and the number says that it is of both.
of '[.[] | .answer // empty] | all(.directions == "both ways together")'
of '[.[] | .trial // empty | select(.accounts.sent > 0)] | all(.sequence.unique > 0 and .back.sequence.unique > 0
    and .accounts.received == .sequence.unique + .back.sequence.unique)'
has 'MRR, both ways together' "$work/told.txt"
has 'MRR,.*both.*ways.*together</td>' "$work/out/report.html"
# What the lab sent testpmd received, but for what its port missed; what testpmd sent the lab received.
of '[.[] | .trial // empty | select(.accounts.sent > 0)] | length > 20 and all(
    (.device.drops // {} | to_entries | map(select(.key | test("RX")) | .value) | add // 0) as $missed |
    ((.device.received + $missed) / .accounts.sent | . > 0.97 and . < 1.03) and
    (.device.sent == 0 or (.accounts.received / .device.sent | . > 0.97 and . < 1.03)))'
# Every packet is accounted for.
of '[.[] | .trial // empty | .accounts | .sent - .received - .dropped - .in_flight] | all(. == 0)'
sed -e 's/"cross-connect"/"ip4"/' -e 's/^restarts.*/restarts = 1/' "$work/memif.toml" >"$work/routed.toml"
"$bin/volley-lab" run "$work/routed.toml" --devices volley --link memif --out "$work/out2" >>"$work/told.txt" 2>>"$work/progress.log"
mv "$work/out2"/* "$work/out"
of '[.[] | .failure // empty] | length == 0'
of '[.[] | .answer // empty | .high_pps] | length == 1 and .[0] > 0'
echo "ok $name"
