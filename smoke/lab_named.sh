#!/usr/bin/env bash
# Faults that are put in, each named rightly in the report's first sentence and where it belongs: a generator that is slower than the device, a
# slow device, counters that lie, a device that dies. A periodic stall is lab_stops.sh's, a full disk lab_faults.sh's.
# Alone: it measures rates.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
# Bridges by scripts: an honest one, one whose counters lie, one that dies after a while.
for kind in honest lying dying; do
    mkdir "$work/$kind"
    printf '#!/bin/sh\nip link add br0 type bridge && ip link set br0 up && ip link set $LAB_PORT0 master br0 && ip link set $LAB_PORT1 master br0\n' >"$work/$kind/prepare"
    printf '#!/bin/sh\necho %s\n' $kind >"$work/$kind/version"
done
printf '#!/bin/sh\necho x >>"%s/asked"\necho drop $(($(wc -l <"%s/asked") * 5000)) of what never was\n' "$work" "$work" >"$work/lying/counters"
printf '#!/bin/sh\nwhile ! [ -e "%s/die" ]; do sleep 0.05; done; echo "out of luck"; exit 7\n' "$work" >"$work/dying/start"
chmod +x "$work"/*/*
# scenario NAME LINK TRIAL SWEEP
scenario() {
    printf 'name = "%s"\ntitle = "Faults"\nabout = "As little as will do."\n[[function]]\nkind = "cross-connect"\n[link]\nkind = "%s"\n%s[measure]\nsearch = "max-rate"\ntrial_s = %s\nrepetitions = 4\n[campaign]\nrestarts = 1\n' \
        "$1" "$2" "$4" "$3" >"$work/$1.toml"
}
lab() { before_others "$bin/volley-lab" run "$work/$1.toml" --devices "$2" --out "$work/$1" >"$work/$1.txt" 2>>"$work/progress.log"; }
finding() { grep -o '<p class="finding">.*</p>' "$work/$1/report.html"; }
says() { finding "$1" | has "$2" || { finding "$1"; cat "$work/$1.txt"; echo "$1: not named: $2"; exit 1; }; }

scenario bound memif 0.1 '' && lab bound volley || { cat "$work/bound.txt"; exit 1; }
says bound 'volley: at least .* limited by the generator'
# 400000 cycles a packet are some 12500 packets a second (and what waited in its rings when the sending ended): the device's doing.
scenario slow veth 0.5 '[sweep]
cost_cycles = [400000]
' && lab slow volley || { cat "$work/slow.txt"; exit 1; }
says slow 'volley: [0-9.]* k\?pps'
jq -s -e '[.[] | .answer // empty] | length == 1 and all(.limit.by == "device" and .low_pps < 25000)' "$work/slow/raw.jsonl" >/dev/null || { jq -c .answer "$work/slow/raw.jsonl"; exit 1; }
scenario lies veth 0.1 '' && lab lies "script=$work/honest,script=$work/lying" || { cat "$work/lies.txt"; exit 1; }
says lies "The counters of script=$work/lying do not add up in [0-9]* of [0-9]* trials"
! finding lies | has "The counters of script=$work/honest" || { finding lies; exit 1; }
scenario dies veth 0.5 ''
ends 4 lab dies "script=$work/honest,script=$work/dying" &
run=$!
until_true has '"trial".*dying' "$work/dies/raw.jsonl"
touch "$work/die"
wait $run
says dies "Not measured: script=$work/dying, cross-connect: start died (exit status: 7): out of luck"
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name: $(finding bound | sed 's/<[^>]*>//g')"
