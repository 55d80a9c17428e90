#!/usr/bin/env bash
# Open vSwitch on DPDK over shared memory: it does what its functions say, every packet of every trial is accounted for, in
# order and once, and it takes flows while packets pass. A bridge of flows of Volley's does what the same flows say.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
[ -x /usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk ] || skip "no Open vSwitch on DPDK"
export XDG_CACHE_HOME=$work TMPDIR=$work
lab() { "$bin/volley-lab" run "$work/$1.toml" --devices ovs-dpdk --link "$2" --out "$work/$1-$2" "${@:3}" >"$work/$1-$2.txt" 2>>"$work/progress.log"; }
of() { jq -s -e "$2" "$work/$1/raw.jsonl" >/dev/null || { echo "not so of $1: $2"; jq -c '.check // .failure // .quantity // .trial.accounts // empty' "$work/$1/raw.jsonl"; exit 1; }; }
# scenario NAME FUNCTIONS MEASURE
scenario() {
    printf 'name = "%s"\ntitle = "Smoke"\nabout = "As little as will do."\n' "$1"
    printf '[[function]]\nkind = "%s"\n' $2
    printf '[traffic]\nframe_bytes = 84\nflows = 100\n[campaign]\nrestarts = 1\n[measure]\n%b' "$3"
} >"$work/$1.toml"
scenario functional "cross-connect bridge ip4 ip6 vlan-tagging acl" 'search = "functional"\ntrial_s = 0.1\n'
scenario rate "cross-connect" 'search = "max-rate"\ntrial_s = 0.05\nlatency_at_percent = [10]\n'
scenario change "ip4" 'search = "reconfigure"\nchange_entries = 1000\ntrial_s = 0.5\nrepetitions = 1\nrelative_width = 0.5\n'
for link in memif vhost; do
    lab functional $link
    of functional-$link '[.[] | .failure // empty] == []'
    of functional-$link '[.[] | .check // empty] | length == 6 and all(.fault == null and ([.streams[] | select(.must_emerge)] | all(.sent > 0 and .sent == .came)))'
    lab rate $link
    of rate-$link '[.[] | .failure // empty] == []'
    # A share of what was offered came, whatever did not was counted, nothing came twice or out of its turn.
    of rate-$link '[.[] | .trial // empty] | length > 10 and all(.outcome.received > 0) and
        all(.accounts | .sent == .received + .dropped + .in_flight) and
        all(.sequence | .duplicates == 0 and .reordered == 0 and .beyond_window == 0)'
    of rate-$link '[.[] | .trial // empty | .device | .received > 0 and .sent > 0] | all'
done
# The same flows make the same of a bridge of Volley's.
"$bin/volley-lab" run "$work/functional.toml" --devices volley-flow --link memif --out "$work/volley-flow" >"$work/volley-flow.txt" 2>>"$work/progress.log"
of volley-flow '[.[] | .failure // empty] == []'
of volley-flow '[.[] | .check // empty] | length == 6 and all(.fault == null and ([.streams[] | select(.must_emerge)] | all(.sent > 0 and .sent == .came)))'
lab change memif
of change-memif '[.[] | .failure // empty] == []'
of change-memif '[.[] | .quantity // empty | select(.metric == "the change took") | .values[]] | length == 1 and .[0] > 0'
# Two threads poll, each a port; a third would have nothing to do.
scenario workers "cross-connect" 'search = "functional"\ntrial_s = 0.1\n[sweep]\nworkers = [2, 3]\n'
lab workers memif --device-cores 0,1,0
of workers-memif '[.[] | .check // empty] | length == 1 and all(.fault == null and .subject.axes.workers == "2")'
of workers-memif '[.[] | .device // empty | .commands[]] | any(contains("pmd-cpu-mask=0x3"))'
of workers-memif '[.[] | .failure // empty] | length == 1 and all(.refused and (.reason | contains("no more than 2 workers have work")))'
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name"
