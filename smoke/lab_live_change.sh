#!/usr/bin/env bash
# Routes added under traffic, and the largest table: by Volley and the kernel's router, each by its own commands.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
# A Volley with room for 3000 IPv4 routes, as if somebody had configured it so.
bound=3000
mkdir "$work/small"
ln -s "$bin/volley" "$work/small/volley"
cat >"$work/small/volleyd" <<END
#!/bin/sh
[ "\$1" = --config ] && sed -i '1i [memory]\nroutes = $bound' "\$2"
exec "$bin/volleyd" "\$@"
END
chmod +x "$work/small/volleyd"
# measure NAME DEVICES MEASURE…
measure() {
    local name=$1 devices=$2
    shift 2
    {
        printf '%s\n' "name = \"$name\"" 'title = "Changes"' 'about = "As little as will do."'
        printf '[[function]]\nkind = "ip4"\nentries = 8\n[traffic]\ndestinations = "permutation"\n'
        printf '[campaign]\nrestarts = 1\n[measure]\n'
        printf '%s\n' "$@"
    } >"$work/$name.toml"
    "$bin/volley-lab" run "$work/$name.toml" --devices "$devices" --out "$work/$name" >"$work/$name.txt" 2>>"$work/progress.log"
}
of() { jq -s -e "$2" "$work/$1/raw.jsonl" >/dev/null || { echo "not so: $2"; jq -c '.quantity // .failure // empty' "$work/$1/raw.jsonl"; exit 1; }; }

# Every trial with a change looked whether each route was there, and whether it was gone afterwards.
measure reconfigure volley,linux-router,linux-bridge 'search = "reconfigure"' 'trial_s = 1' 'relative_width = 0.3' 'repetitions = 1' 'change_entries = 2000'
of reconfigure '[.[] | .quantity // empty | select(.metric == "the change took") | .values] | length == 2 and all(length == 1 and .[0] > 0 and .[0] < 1)'
of reconfigure '[.[] | .quantity // empty | select(.metric == "blocked with a change") | .values] | length == 2 and all(.[0] >= 0 and .[0] < 1)'
of reconfigure '[.[] | .trial // empty | select(.outcome.trial.change) | .outcome.changed] | length == 2 and all(.before_pps > 0 and .at_s > 0.1)'
of reconfigure '[.[] | .trial // empty | select(.outcome.trial.change and .subject.device == "volley") | .accounts | .sent - .received - .dropped - .in_flight] | . == [0]'
of reconfigure '[.[] | .failure // empty | [.subject.device, .refused]] | . == [["linux-bridge", true]]'

# What Volley holds besides: the eight routes, two networks, neighbours, its own addresses, what is never routed.
measure largest "volley=$work/small,linux-router" 'search = "largest-table"' 'most_entries = 5000'
of largest '[.[] | .quantity // empty | select(.metric == "largest table") | .values[0]] | length == 1 and .[0] < '$bound' and .[0] >= '$bound' - 30'
of largest '[.[] | .quantity // empty | select(.metric == "largest table") | .note] | .[0] | contains("holds '$bound' routes")'
of largest '[.[] | .quantity // empty | select(.metric == "no refusal up to") | [.subject.device, .values[0]]] | . == [["linux-router", 5000]]'
of largest '[.[] | .failure // empty] | length == 0'
has 'no refusal up to' "$work/largest/report.html"
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
grep -h 'change' "$work/reconfigure.txt" || true
echo "ok $name: $(jq -r -s '[.[] | .quantity // empty | "\(.subject.device | split("=")[0]) \(.metric) \(.values[0])"] | join(", ")' "$work/largest/raw.jsonl")"
