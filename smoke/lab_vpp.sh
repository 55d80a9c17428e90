#!/usr/bin/env bash
# VPP itself in the lab: functions, its own counters and clocks, a change while it runs, commands that it refuses.
# Needs its programs: VPP=FOLDER, one that has vpp and vppctl or bin/vpp and bin/vppctl, or both on the path.
. "$(dirname "$0")/lib.sh"
vpp=vpp${VPP:+=$VPP}
if [ -z "${VPP:-}" ] && ! command -v vppctl >/dev/null; then
    # Debian has no package of it: this is nothing that CI could install.
    echo "SKIPPED $name: no VPP; VPP=FOLDER names one"
    exit 77
fi
export XDG_CACHE_HOME=$work TMPDIR=$work
lab() { "$bin/volley-lab" run "$work/$1.toml" --devices "$vpp" "${@:2}" >"$work/$1.txt" 2>>"$work/progress.log"; }
of() { jq -s -e "$2" "$work/$1/raw.jsonl" >/dev/null || { echo "not so of $1: $2"; jq -c '.failure // .check // .telemetry // empty' "$work/$1/raw.jsonl" | cut -c 1-600; exit 1; }; }

cp "$root/scenarios/functional.toml" "$work/functional.toml"
for link in veth memif; do
    rm -rf "$work/functional"
    lab functional --link "$link" --out "$work/functional"
    of functional '[.[] | .check // empty] | length == 7 and all(.fault == null)'
done

# Clocks of nodes are of the packets that were sent: VPP sees all that it received.
cat >"$work/costs.toml" <<'END_SCENARIO'
name = "costs"
title = "Costs"
about = "As little as will do."
[[function]]
kind = "ip4"
entries = 1000
[measure]
search = "max-rate"
trial_s = 0.1
telemetry = true
[campaign]
restarts = 1
END_SCENARIO
# What vppctl says is kept beside: its own counters, read by nobody of ours.
mkdir -p "$work/telling"
for program in vpp vppctl; do
    real=$(command -v "${VPP:+$VPP/bin/}$program" || command -v "$VPP/$program")
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$real" >"$work/telling/$program"
    [ $program = vpp ] || printf '#!/bin/bash\nset -o pipefail\n{ echo "## ${*:3}"; "%s" "$@"; } | tee -a "%s" | tail -n +2\n' \
        "$real" "$work/telling/said" >"$work/telling/$program"
    chmod +x "$work/telling/$program"
done
own=$vpp vpp=vpp=$work/telling
lab costs --link memif --out "$work/costs"
vpp=$own
"$root/smoke/lab_vpp.py" "$work/telling/said" "$work/costs/raw.jsonl"
of costs '[.[] | .telemetry // empty | .nodes[] | select(.node == "ip4-lookup")] | length == 1 and all(.packets > 0 and .cycles / .packets > 5 and .cycles / .packets < 2000)'
of costs '[.[] | .telemetry // empty | ([.nodes[] | select(.node == "memif-input") | .packets] | add) as $in |
    ([.nodes[] | select(.node == "ip4-lookup") | .packets] | add) as $seen | $in == $seen] | length == 1 and all'
of costs '[.[] | .trial // empty | .accounts | .sent - .received - .dropped - .in_flight] | length > 0 and all(. == 0)'

# Routes come and go while it forwards.
sed 's/search = .*/search = "reconfigure"\nchange_entries = 2000/; s/trial_s = .*/trial_s = 1\nduration_sum_s = 2/; s/telemetry.*//' "$work/costs.toml" >"$work/change.toml"
lab change --link memif --out "$work/change"
of change '[.[] | .failure // empty] | length == 0'

# What it refuses is told, in its words.
mkdir -p "$work/refusing"
for program in vpp vppctl; do
    real=$(command -v "${VPP:+$VPP/bin/}$program" || command -v "$VPP/$program")
    printf '#!/bin/sh\n[ "$3" = exec ] && echo "set interface state nonesuch up" >>"$4"\nexec "%s" "$@"\n' "$real" >"$work/refusing/$program"
    chmod +x "$work/refusing/$program"
done
vpp=vpp=$work/refusing
ends 4 lab costs --link memif --out "$work/refused"
of refused '[.[] | .failure // empty | .reason] | length == 1 and all(contains("nonesuch"))'
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name"
