#!/usr/bin/env bash
# What can go wrong under the lab: a device does not start, a link is lost during a trial, the disk is full, a results file has lines of
# another version. Each is told, what was measured before is kept, and nothing is left running.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
cat >"$work/smoke.toml" <<'END'
name = "smoke"
title = "Smoke"
about = "As little as will do."
[[function]]
kind = "cross-connect"
[measure]
search = "max-rate"
trial_s = 0.3
[campaign]
restarts = 2
END
nothing_left() { ! pgrep -f "$work" >/dev/null; }
of() { jq -s -e "$2" "$1" >/dev/null || { echo "not so: $2"; cut -c 1-300 "$1"; exit 1; }; }

# A device that ends at once, with its last words, one that is not there, and one after them that is measured.
mkdir "$work/path"
printf '#!/bin/sh\necho "no such option --frob"\nexit 3\n' >"$work/path/dpdk-testpmd"
chmod +x "$work/path/dpdk-testpmd"
PATH=$work/path:$PATH ends 4 "$bin/volley-lab" run "$work/smoke.toml" --restarts 1 --devices "testpmd,volley=$work/nowhere,linux-bridge" \
    --out "$work/start" >"$work/told.txt" 2>"$work/progress.log"
of "$work/start/raw.jsonl" '[.[] | .failure // empty | [.refused, .reason]] | length == 2 and
    .[0] == [false, "testpmd died (exit status: 3): no such option --frob"] and .[1][0] and (.[1][1] | contains("nowhere/volleyd"))'
of "$work/start/raw.jsonl" '[.[] | .answer // empty | .subject.device] == ["linux-bridge"]'
until_true nothing_left

# A link that goes: a failure with its name, no rate; the next start has a link again.
"$bin/volley-lab" run "$work/smoke.toml" --devices linux-bridge --out "$work/lost" >"$work/told.txt" 2>"$work/progress.log" &
lab=$!
until_true has '"trial"' "$work/lost/raw.jsonl"
nsenter -t $lab -n ip link del g1
ends 4 wait $lab
of "$work/lost/raw.jsonl" '[.[] | .failure // empty] | length == 1 and (.[0] | .refused == false and (.reason | test("port (g1|.*g1.*): its link was lost during a trial")))'
of "$work/lost/raw.jsonl" '[.[] | .answer // empty | .subject.run] == [1]'
has 'its link was lost' "$work/told.txt" "$work/lost/report.html"
until_true nothing_left

# A disk that fills up: the lab ends and says so, and what it held before is a report once there is room.
mkdir "$work/small"
cat >"$work/full.sh" <<'END'
mount -t tmpfs -o size=64k none "$1/small"
head -c 20k /dev/zero >"$1/small/ballast"
"$2/volley-lab" run "$1/smoke.toml" --devices linux-bridge --out "$1/small/out" >"$1/full.txt" 2>&1 && { echo "a full disk went unnoticed"; exit 1; }
rm "$1/small/ballast"
mount -o remount,size=2M "$1/small"
"$2/volley-lab" report "$1/small/out" >"$1/again.txt" 2>&1
cp "$1/small/out/raw.jsonl" "$1/kept.jsonl"
END
unshare --mount bash -e "$work/full.sh" "$work" "$bin" || { cat "$work/full.txt" "$work/again.txt"; exit 1; }
has 'No space left on device' "$work/full.txt" || { cat "$work/full.txt"; exit 1; }
kept=$(grep -c '"trial":' "$work/kept.jsonl")
[ "$kept" -ge 2 ] && has -E "report.html: ($((kept - 1))|$kept) trials" "$work/again.txt" || { cat "$work/again.txt"; exit 1; }
until_true nothing_left

# Lines of another version are told and left out.
{ head -n 3 "$work/lost/raw.jsonl"; echo '{"v":2,"trial":{"speed":"fast"}}'; } >"$work/kept.jsonl"
mkdir "$work/other" && mv "$work/kept.jsonl" "$work/other/raw.jsonl"
"$bin/volley-lab" report "$work/other" >"$work/told.txt" 2>&1
has 'left out: line 4 is of version 2, not 1' "$work/told.txt" || { cat "$work/told.txt"; exit 1; }
echo "ok $name: $kept trials before the disk was full"
