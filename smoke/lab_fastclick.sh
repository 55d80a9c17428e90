#!/usr/bin/env bash
# FastClick itself in the lab: FASTCLICK=FOLDER, one that has click or bin/click.
. "$(dirname "$0")/lib.sh"
if [ -z "${FASTCLICK:-}" ]; then
    # Debian has no package of it: this is nothing that CI could install.
    echo "SKIPPED $name: no FastClick; FASTCLICK=FOLDER names one"
    exit 77
fi
export XDG_CACHE_HOME=$work TMPDIR=$work
for link in veth memif; do
    out=$work/$link
    "$bin/volley-lab" run "$root/scenarios/functional.toml" --devices "fastclick=$FASTCLICK" --link $link --out "$out" \
        >"$work/told.txt" 2>>"$work/progress.log" || { cat "$work/told.txt"; exit 1; }
    # Cross-connect and IPv4; a bridge where the build has one. All else is refused, nothing fails.
    jq -s -e '[.[] | .check // empty | select(.fault == null) | .subject.function] | contains(["cross-connect", "ip4"])' "$out/raw.jsonl" >/dev/null &&
        jq -s -e '[.[] | .failure // empty | .refused] | all' "$out/raw.jsonl" >/dev/null || { cat "$work/told.txt"; exit 1; }
done
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name"
