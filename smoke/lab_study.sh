#!/usr/bin/env bash
# A study of two runs: measured, stopped, gone on with, rendered again; each number of its source has one of ours beside it, or the reason
# why not. The study that comes with the lab can be carried out as far as its first case.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
cat >"$work/small.toml" <<'END_STUDY'
name = "small"
title = "A small study"
about = "As little as will do."
link = "memif"
devices = ["volley", "vpp=/nonexistent"]
change = { traffic = { both_directions = false }, measure = { search = "max-rate", trial_s = 0.1, latency_at_percent = [] } }
quick = { measure = { trial_s = 0.05 }, campaign = { restarts = 1 } }

[[source]]
id = "book"
title = "A book"
measured = "something"

[[run]]
id = "sizes"
title = "Sizes"
scenario = "l2-xconnect"
change = { sweep = { frame_bytes = [64, 128, 512] } }
quick = { sweep = { frame_bytes = [64, 512] } }

[[run]]
id = "longer"
title = "Longer"
scenario = "l2-xconnect"
change = { sweep = { frame_bytes = [64] } }
quick = { measure = { trial_s = 0.2 } }

[[chapter]]
title = "Sizes"
about = "Of frames."

[[chapter.table]]
id = "table 1"
source = "book"
place = "page 1"
title = "Rates"
unit = "mpps"
pick = { metric = "MRR" }
column = [{ name = "Mpps", ghz = 3.0 }]
row = [
    { name = "64 octets", theirs = [1.5], pick = { runs = ["sizes"], axes = { frame_bytes = "64" } } },
    { name = "128 octets", theirs = [1.4], pick = { runs = ["sizes"], axes = { frame_bytes = "128" } } },
    { name = "another day", theirs = [1.3], reason = "that day is over" },
    { name = "again", theirs = [1.5], pick = { runs = ["longer"] } },
]

[[chapter.figure]]
id = "figure 1"
source = "book"
place = "page 2"
title = "Rates against sizes"
axis = "frame_bytes"
pick = { runs = ["sizes"], metric = "MRR" }
curve = [{ name = "throughput", what = "rate" }]
END_STUDY
out=$work/out
study() { "$bin/volley-lab" study "$@" >"$work/told.txt" 2>>"$work/progress.log"; }
cell() { awk -F'","|",|,"' -v row="$1" 'index($0, row)' "$out/cells.csv"; }
# like ROW PATTERN: a line of the cells is so.
like() { cell "$1" | grep -E -- "$2" >/dev/null || { echo "not so: $1: $2"; cat "$out/cells.csv"; exit 1; }; }

# Stopped in the second run: the first is whole, and the report says what is missing.
"$bin/volley-lab" study "$work/small.toml" --quick --out "$out" >"$work/told.txt" 2>>"$work/progress.log" &
running=$!
until_true test -s "$out/runs/longer/raw.jsonl"
kill -INT $running
rc=0
wait $running || rc=$?
[ $rc = 130 ] || { echo "stopped: code $rc"; exit 1; }
has 'The study is not finished: longer' "$out/report.html"
like '"64 octets"' '1.5,"volley",[0-9.]+,'
like '"again"' '"volley",.*,"run longer|"volley",[0-9.]+,'
! pgrep -af "$work/out" || { echo "something is left running"; exit 1; }

# The same command goes on: what is over is passed over, to the byte.
sum=$(md5sum <"$out/runs/sizes/raw.jsonl")
study "$work/small.toml" --quick --out "$out"
[ "$(md5sum <"$out/runs/sizes/raw.jsonl")" = "$sum" ] || { echo "the first run was carried out again"; exit 1; }
! has 'The study is not finished' "$out/report.html" || { echo "what went on to its end is told as not finished"; exit 1; }
# Every number of the source has one of ours beside it, or the reason.
like '"64 octets"' '1.5,"volley",[0-9.]+,[0-9.]*,[0-9.]*,"bracket",1,(true|false),"sizes",$'
like '"64 octets"' '1.5,"vpp=/nonexistent",,,,,,,,"refused: .*not installed'
like '"128 octets"' '1.4,"volley",.*"cut by --quick: frame bytes 128"'
like '"another day"' '1.3,"",.*"that day is over"'
like '"again"' '1.5,"volley",[0-9.]+,'
[ "$(cell '"figure 1"' | grep -c '"volley",[0-9.]')" = 2 ] || { echo "two points are missing"; cat "$out/cells.csv"; exit 1; }
for told in 'A small study' 'that day is over' 'not installed' '<svg' 'sweep.frame_bytes: 64, 512 in place of 64, 128, 512' \
    'href="runs/sizes/raw.jsonl"' 'volley-lab study small --quick' '2000</td>'; do
    has -F -- "$told" "$out/report.html" || { echo "not in the report: $told"; exit 1; }
done

# Rendered again it is the same page; another study, or the same uncut, is refused in its folder.
cp "$out/report.html" "$work/before.html"
rm "$out/report.html"
study "$work/small.toml" --render --out "$out"
cmp "$work/before.html" "$out/report.html"
# As documentation, it is a chapter of the site, twice made the same, but for what somebody wrote there.
mkdir "$work/docs"
printf '%s\n' '- [The lab]()' '  - [Studies](studies.md)' '  - [Peers](peers.md)' >"$work/docs/SUMMARY.md"
documents() { DOCS=$work/docs VOLLEY_LAB=$bin/volley-lab "$root/scripts/study-docs" "$out" >>"$work/told.txt"; }
documents
sed -i 's/^<!-- written by hand: begin -->/&\nOf a quiet night./' "$work/docs/studies/small.md"
documents
grep -A1 'Studies' "$work/docs/SUMMARY.md" | has -F '    - [A small study](studies/small.md)'
[ "$(grep -c 'studies/small.md' "$work/docs/SUMMARY.md")" = 1 ]
for told in 'Of a quiet night.' 'that day is over' '](small/figure-1.svg)' '](small/cells.csv)'; do has -F -- "$told" "$work/docs/studies/small.md"; done
[ -s "$work/docs/studies/small/figure-1.svg" ] && [ -s "$work/docs/studies/small/cells.csv" ]
ends 1 study "$work/small.toml" --out "$out"
has 'cut by --quick' "$work/progress.log"
ends 1 study vector-router --quick --devices volley,vpp=/nonexistent --out "$out"
ends 1 study nonesuch
ends 2 study vector-router --only nonesuch --out "$work/none"

# A budget is handed on: what there is no time for says so, and nothing else is asked here.
study "$work/small.toml" --quick --only longer --budget 1s --out "$work/budget" || true
has 'Budget of 1 s' "$work/progress.log"
# What is over goes on with a further budget, which has it start more often.
longer() { study "$work/small.toml" --quick --only longer --devices volley --out "$work/longer" "$@"; }
starts() {
    python3 -c 'import csv, sys
print(next(it["runs"] for it in csv.DictReader(open(sys.argv[1])) if it["row"] == "again" and it["value"]))' "$work/longer/cells.csv"
}
longer
[ "$(starts)" = 1 ]
longer
[ "$(starts)" = 1 ]
longer --budget 12s
[ "$(starts)" -gt 1 ] || { echo "more time brought no more starts"; cat "$work/progress.log"; exit 1; }

# The study that comes with the lab: one of its runs, the rest with reasons.
out=$work/vector
study vector-router --quick --devices volley --only functions-ip6 --out "$out"
like '"IPv6 1 route","3.2 GHz' '10.14,"volley",[0-9.]+,'
has 'The study is not finished' "$out/report.html"
echo "ok $name"
