#!/usr/bin/env bash
# `volley ovs` and a database's server that means ill: rubbish, messages, rows and brackets without end. Each session ends
# with its reason and the next is tried; the program lives, and takes no more memory than it allows.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; cat "$work/ovs.log" "$work/server.txt"; exit 1; }
ip netns add "$r"
ip -n "$r" link set lo up
printf '[workers]\nmode = "single-thread"\n[memory]\nbuffers = 4096\n[port.p1]\nkind = "memory"\n' >"$work/router.toml"
router router
python3 "$root/smoke/hostile_database.py" "$work/db.sock" >"$work/server.txt" 2>&1 &
daemons+=($!)
until_true test -S "$work/db.sock"
"$bin/volley" --socket "$work/router.sock" ovs "unix:$work/db.sock" --folder "$work" --state "$work/ovs.json" 2>"$work/ovs.log" &
ovs=$!
daemons+=($ovs)
most=0
all() {
    local now
    now=$(awk '/VmHWM/ { print $2 }' "/proc/$ovs/status") || return 1
    [ "$now" -lt "$most" ] || most=$now
    [ "$(wc -l <"$work/server.txt")" = 4 ]
}
until_true all || until_true all || fail "not all was thrown"
kill -0 $ovs || fail "volley ovs has ended"
for told in 'no message' 'more than 33554432 bytes at once' 'recursion limit' 'more than 200000 rows'; do
    has "$told" "$work/ovs.log" || fail "\`$told\` is not told"
done
has -P '\x1b' "$work/ovs.log" && fail "a terminal's cursor is moved"
[ "$most" -lt $((1200 * 1024)) ] || fail "it took $most KiB"
[ "$(json length router show ports)" = 1 ] || fail "something was made of it"
echo "ok $name"
