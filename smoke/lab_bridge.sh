#!/usr/bin/env bash
# Each switch of a bridge is set, asked back from the device that runs, and written down, or refused with a reason; what no
# adapter sets is refused, too.
# Two: it sends every packet once and misses any that a busy machine drops.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
devices=volley,linux-bridge,testpmd
command -v ovs-vswitchd >/dev/null && devices+=,ovs
# Its cases, but looked at, not timed.
sed -e '/^\[measure\]/,$d' "$root/scenarios/l2-bridge.toml" >"$work/switches.toml"
cat >>"$work/switches.toml" <<END
[measure]
search = "functional"
trial_s = 0.1
[campaign]
restarts = 1
END
"$bin/volley-lab" run "$work/switches.toml" --link veth --devices "$devices" --out "$work/out" >"$work/told.txt" 2>"$work/progress.txt" ||
    { cat "$work/told.txt"; exit 1; }
of() { jq -s -e "$1" "$work/out/raw.jsonl" >/dev/null || { echo "not so: $1"; jq -c '.check // .failure // .device // empty' "$work/out/raw.jsonl"; exit 1; }; }
# says DEVICE LEARNING AGEING UNKNOWN FLOOD...: what it says of itself, case by case, in the order of the scenario.
says() {
    local device=$1 all=
    while shift && [ $# -ge 4 ]; do
        all+="\"# the device says: learning $1, ageing $2, unknown_unicast_flood $3, flood $4\","
        shift 3
    done
    of "[.[] | .device // empty | select(.name == \"$device\") | .commands[] | select(startswith(\"# the device says\"))] == [${all%,}]"
}
refused() { of "[.[] | .failure // empty | select(.subject.device == \"$1\" and .refused) | .reason] | length == $2 and all(contains(\"$3\"))"; }
passed() { of "[.[] | .check // empty | select(.subject.device == \"$1\") | .fault] | length == $2 and all(. == null)"; }
off='off off on on' learns='on off on on' ages='off on on on' both='on on on on' unknown='on on off on' none='on on off off'
says linux-bridge $off $learns $ages $both $unknown $none
passed linux-bridge 6
# Volley cannot be told to remember for ever.
says volley $off $ages $both $unknown $none
refused volley 1 "it forgets what it learned after two hours at the latest"
passed volley 5
refused testpmd 6 "its adapter cannot set its learning"
if [[ $devices == *ovs* ]]; then
    says ovs $off $ages $both $none
    refused ovs 2 ""
    of '[.[] | .failure // empty | select(.subject.device == "ovs") | .reason[:15]] | unique | length == 2'
    passed ovs 4
fi
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name: ${devices//,/, }"
