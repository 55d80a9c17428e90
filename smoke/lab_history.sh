#!/usr/bin/env bash
# A campaign in parts is put together again; it is kept, later ones are held against it, and its NDRs verified; a device
# that leaks is named.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
scenario() {
    printf 'name = "smoke"\ntitle = "Smoke"\nabout = "As little as will do."\n[[function]]\nkind = "cross-connect"\n'
    printf '[link]\nkind = "veth"\n[sweep]\nframe_bytes = %s\n[measure]\n%s\n[campaign]\nrestarts = 1\n' "$1" "$2"
}
lab() { "$bin/volley-lab" "$@" >>"$work/told.log" 2>>"$work/progress.log"; }
scenario '[64, 256, 1024, 1518]' $'search = "mlr"\nloss_ratios = [0.0]\ntrial_s = 0.02\nduration_sum_s = 0.1\nrelative_width = 0.2' >"$work/smoke.toml"
run() { lab run "$work/smoke.toml" --devices linux-bridge "$@"; }
cases() { jq -r '.done // empty | .subject | [.device, .function, .axes.frame_bytes, .run] | @csv' "$work/$1/raw.jsonl" | sort; }

for part in 1 2 3; do run --shard $part/3 --out "$work/p$part"; done
ends 1 run --shard 2/3 --out "$work/p1"
lab report "$work/p1" "$work/p2" "$work/p3" --out "$work/joined"
lab index "$work/all.sqlite" "$work/p1" "$work/p2" "$work/p3"
ends 1 lab report "$work/p1" "$work/p1" --out "$work/twice"
run --out "$work/whole"
[ "$(cases joined | wc -l)" = 4 ]
cmp <(cases joined) <(cases whole)
has '<svg' "$work/joined/report.html"

# A busy machine that brings no device to its limit cannot tell, and says so by 4.
ends_as() {
    local code=0
    "${@:2}" || code=$?
    [[ $code =~ ^($1)$ ]] || { echo "ended with $code, not $1: ${*:2}"; return 1; }
}
# Kept, it is what later ones are held against; what is twice as fast there is slower here.
store=$work/history
ends 1 run --baseline "$store" --out "$work/none"
[ ! -e "$work/none" ] || { echo "measured without a baseline"; exit 1; }
(cd "$work" && lab history --store "$store" add --baseline --commit v1 "$work/whole")
ends_as '0|4' run --baseline "$store" --fail-below 90% --out "$work/later"
sed 's/"low_pps":/"low_pps":10/; s/"high_pps":/"high_pps":10/' "$work/whole/raw.jsonl" >"$work/twice.jsonl"
mkdir "$work/faster" && mv "$work/twice.jsonl" "$work/faster/raw.jsonl"
(cd "$work" && lab history --store "$store" add --baseline --commit v2 "$work/faster")
falls() { ends_as '3|4' "$@"; }
falls run --baseline "$store" --fail-below 2% --out "$work/slower"
falls run --verify "$store" --out "$work/lower"
jq -s -e '[.[] | .answer // empty | select(.metric == "ref-NDR") | .verdicts[] | .finding // empty]
    | length == 4 and all(. == "lower" or . == "undecided")' "$work/lower/raw.jsonl" >/dev/null || { jq -c '.answer // .failure // empty' "$work/lower/raw.jsonl"; exit 1; }
lab history --store "$store" dashboard
has 'prefers-color-scheme' "$store/dashboard/index.html"

# Its memory is told, and so is what its children hold.
mkdir "$work/leaky" && ln -s "$bin/volley" "$work/leaky/volley"
cat >"$work/leaky/volleyd" <<END
#!/bin/sh
setpriv --pdeathsig KILL python3 -c 'import time
kept = []
while True: kept.append(b"x" * (1 << 20)); time.sleep(0.05)' </dev/null >/dev/null 2>&1 &
exec "$bin/volleyd" "\$@"
END
chmod +x "$work/leaky/volleyd"
scenario '[64]' $'search = "max-rate"\ntrial_s = 0.5' >"$work/leaks.toml"
"$bin/volley-lab" run "$work/leaks.toml" --devices "volley=$work/leaky" --out "$work/leaks" >"$work/leaks.txt" 2>>"$work/progress.log"
has 'memory still growing at the end, by ' "$work/leaks.txt" || { cat "$work/leaks.txt"; exit 1; }
has 'Still growing when a search ended: volley' "$work/leaks/report.html"
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name: $(cases joined | wc -l) cases in three parts; $(grep -o 'memory still.*' "$work/leaks.txt")"
