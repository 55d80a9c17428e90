#!/usr/bin/env bash
# A worker of the built program panics, and one stands still: the first ends the process with a report, the second is told
# and keeps systemd's watchdog from hearing that all is well. Each time the router is started anew, as the unit says, with
# the routes that it had, and forwards. What happens to the worker comes from outside, by ptrace: nothing is built in for it.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; cat "$work/heard"; tail -n 20 "$work/router.log"; exit 1; }
[ "$(uname -m)" = x86_64 ] || skip "registers of x86-64 alone"
grep -q '^Restart=always' "$root/packaging/volley.service" && grep -q '^WatchdogSec=' "$root/packaging/volley.service" || fail "the unit does not say so"
ulimit -c 0
hosts
two_ports af_packet | sed 's/^count = .*/count = 2/' >"$work/router.toml"
ip netns exec "$r" python3 "$root/smoke/dead_worker.py" supervise 5 "$work" \
    "$bin/volleyd" --config "$work/router.toml" --socket "$work/router.sock" >"$work/heard" 2>"$work/router.log" &
daemons+=($!)
to_worker() { python3 "$root/smoke/dead_worker.py" "$1" "$(awk '/^started/ { pid = $2 } END { print pid }' "$work/heard")" "$2"; }
forwards() { on "$a" ping -c 1 -W 1 10.0.2.2; }
starts() { [ "$(grep -c '^started' "$work/heard")" = "$1" ] && ctl router show routes | has 20.0.0.0/8 && forwards; }
told() { has -- "$1" <"$work/router.log"; }

until_true forwards
echo '20.0.0.0/8 10.0.2.2' >"$work/table"
ctl router route load "$work/table"
until_true starts 1

to_worker panic worker-1
until_true grep -q '^ended .* -6$' "$work/heard" || fail "a router without a worker runs on"
told 'panicked: index out of bounds: the len is 3 but the index is 7.* fault=panic place="*a_fault.rs:12:34"* thread=worker-1' || fail "no report says what, where and who"
told 'the process ends.*thread=worker-1' || fail "the report does not say what becomes of it"
until_true starts 2 || fail "it was not started anew, or lacks its routes"

# One that stands still is none that panicked: nobody else sees it.
to_worker hold worker-0 >"$work/held" &
daemons+=($!)
until_true grep -q held "$work/held"
until_true told 'worker-stuck' || fail "no event tells of a worker that stands still"
until_true grep -q '^says nothing' "$work/heard" || fail "the watchdog hears that all is well"
until_true starts 3 || fail "it was not started anew, or lacks its routes"
[ "$(grep -c '^says nothing' "$work/heard")" = 1 ] || fail "the watchdog heard nothing while all was well"
echo "ok $name"
