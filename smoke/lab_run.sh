#!/usr/bin/env bash
# The lab measures four devices over the same links; Ctrl-C keeps what was measured; a device that dies is
# told, and the others are measured all the same. Nothing is left running.
# Two: the lab and a device have a core each; what it looks at is so at any rate.
. "$(dirname "$0")/lib.sh"
command -v ovs-vswitchd dpdk-testpmd >/dev/null || skip "no Open vSwitch or no testpmd"
export XDG_CACHE_HOME=$work
scenario() {
    cat <<END
name = "smoke"
title = "Smoke"
about = "As little as will do."
[[function]]
kind = "cross-connect"
[[function]]
kind = "ip4"
entries = 20
[traffic]
destinations = "permutation"
[measure]
search = "max-rate"
repetitions = 8
trial_s = $1
latency_at_percent = [10]
[campaign]
restarts = 1
END
}
export TMPDIR=$work
lab() { "$bin/volley-lab" run "$@" 2>"$work/progress.txt"; }
# of FOLDER FILTER: what jq makes of all lines of a raw file.
of() { jq -s -e "$2" "$1/raw.jsonl" >"$work/jq.txt" || { echo "not so: $2"; cat "$1/raw.jsonl" | cut -c 1-400 | tail -n 5; exit 1; }; }
nothing_left() {
    ! pgrep -f "$work" >/dev/null || { pgrep -af "$work"; return 1; }
}

scenario 0.02 >"$work/smoke.toml"
# A host that is away for the whole of a trial of 20 ms leaves nothing to measure: such a campaign is begun again.
for attempt in 1 2 3; do
    code=0
    rm -rf "$work/four"
    lab "$work/smoke.toml" --out "$work/four" >"$work/told.txt" || code=$?
    [ "$code" = 4 ] || break
    echo "attempt $attempt: $(jq -r '.failure // empty | select(.refused | not) | .reason' "$work/four/raw.jsonl")"
done
[ "$code" = 0 ] || { cat "$work/told.txt"; exit "$code"; }
of "$work/four" '[.[] | .answer // empty | .subject | "\(.device) \(.function)"] | unique == ["linux-bridge cross-connect", "linux-router ip4", "ovs cross-connect", "ovs ip4", "testpmd cross-connect", "volley cross-connect", "volley ip4"]'
# What a device cannot do is a refusal with its reason, and nothing else went wrong.
of "$work/four" '[.[] | .failure // empty] | length == 3 and all(.refused)'
# Every packet is accounted for: sent is received and every drop, by the device's own counters; but testpmd does not see
# what the kernel drops in front of its packet sockets while it is kept waiting.
of "$work/four" '[.[] | .trial // empty | select(.subject.device | IN("linux-bridge", "linux-router") | not)
    | {testpmd: (.subject.device == "testpmd"), left: (.accounts | .sent - .received - .dropped - .in_flight)}]
    | length > 40 and all(.left == 0 or .testpmd and .left > 0)'
of "$work/four" '[.[] | .trial // empty | select(.purpose == "latency") | .latency.min_ns] | length == 7 and all(. > 500)'
of "$work/four" '[.[] | .device // empty | .commands | length] | all(. > 0)'
# How it stands, for a router's page: over, and with what was found.
stands() { jq -e "$2" "$work/$1/progress.json" >"$work/jq.txt" || { cat "$work/$1/progress.json"; exit 1; }; }
stands four '.v == 1 and .state == "over" and .scenario == "smoke" and .done == .all and (.results | length) >= 7 and (.failures | length) == 3'
has '<svg' "$work/four/report.html"
cp "$work/four/report.html" "$work/first.html"
"$bin/volley-lab" report "$work/four" >/dev/null
cmp "$work/first.html" "$work/four/report.html"
# The index has a row for each trial, and can be made of many folders.
"$bin/volley-lab" index "$work/all.sqlite" "$work/four" "$work/four" >/dev/null
asked() { python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])' "$@"; }
trials=$(grep -c '"trial":' "$work/four/raw.jsonl")
[ "$(asked "$work/four/index.sqlite" 'SELECT count(*) FROM trial')" = "$trials" ]
[ "$(asked "$work/all.sqlite" 'SELECT count(*) FROM trial')" = $((2 * trials)) ]
[ "$(asked "$work/all.sqlite" "SELECT count(DISTINCT device) FROM summary WHERE pps > 0")" = 5 ]
nothing_left

# Ctrl-C in the middle.
scenario 1 >"$work/smoke.toml"
# Not through the function: a signal would meet only its shell.
"$bin/volley-lab" run "$work/smoke.toml" --devices volley --out "$work/stopped" >/dev/null 2>&1 &
until_true has '"trial"' "$work/stopped/raw.jsonl"
kill -INT $!
ends 130 wait $!
[ -s "$work/stopped/report.html" ]
stands stopped '.state == "stopped" and .left_s == null'
of "$work/stopped" '[.[] | .trial // empty] | length >= 1'
until_true nothing_left

# A device that dies, and one after it.
"$bin/volley-lab" run "$work/smoke.toml" --devices volley,testpmd --out "$work/died" >/dev/null 2>&1 &
until_true has '"trial"' "$work/died/raw.jsonl"
kill -KILL "$(pgrep -P $! -x volleyd)"
until_true has 'testpmd","function":"cross-connect' "$work/died/raw.jsonl"
of "$work/died" '[.[] | .failure // empty | select(.subject.device == "volley" and .refused == false)] | length == 1 and (.[0].reason | contains("volleyd died"))'
kill -INT $!
wait $! || true
until_true nothing_left
echo "ok $name"
