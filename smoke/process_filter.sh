#!/usr/bin/env bash
# The kernel refuses the router's threads all calls but those of its ports: ports of every kind come and go, every view is
# asked for, configurations change, and nothing is refused. What is not on the list fails, is counted and told.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; ctl router show process; tail -n 20 "$work/router.log"; exit 1; }
hosts
k=vly-$$-k
ip netns add "$k"
ip -n "$r" link add x0 type veth peer name x1
ip -n "$r" link set x0 up
ip -n "$r" link set x1 up
two_ports af_packet | sed "/^device/a twin = { netns = \"$k\" }" >"$work/router.toml"
router router
volleyd=${daemons[-1]}
until_true pings "$a" 10.0.2.2
filtered() {
    local task
    for task in /proc/"$volleyd"/task/*/status; do has '^Seccomp:.*2$' "$task" || { echo "$task"; return 1; }; done
}
filtered || fail "a thread has no filter"
ctl router show process | has "of the kernel's, no others" || fail "the filter is not shown"

changes() {
    ctl router port add t9 tap device t9 addresses 10.9.0.1/24
    ctl router port add m9 memif socket "$work/m9.sock" role server
    ctl router port add h9 vhost socket "$work/h9.sock"
    ctl router port add g9 vhost socket "$work/g9.sock" role client
    ctl router port add c9 pcap tx "$work/c9.pcap"
    ctl router port add y9 memory
    ctl router port add x9 af_xdp device x0
    ctl router port add v9 vlan parent p1 vlan 9 addresses 10.99.0.1/24 twin on netns "$k"
    ctl router port set t9 twin on
    ctl router port set p1 mtu 1400
    ctl router port set p1 qos tbf rate 100mbit burst 20kb
    ctl router route load "$work/table"
    ctl router trace start --port p1
    ctl router capture start --node ip4-input --exit lookup
    pings "$a" 10.0.2.2
    ctl router capture save "$work/kept.pcap"
    ctl router ping 10.0.2.2 --count 1
    ctl router config save
    for port in v9 x9 y9 c9 g9 h9 m9 t9; do ctl router port del "$port"; done
    ctl router config rollback
}
echo '20.0.0.0/8 10.0.2.2' >"$work/table"
changes >"$work/changes.log" 2>&1 || { cat "$work/changes.log"; fail "a change failed"; }
ask() { curl -s -o /dev/null --unix-socket "$work/router.sock" "$@"; }
curl -s --unix-socket "$work/router.sock" http://localhost/openapi.json |
    jq -r '.paths | to_entries[] | select(.value.get) | .key' | grep -v '[{]\|events' >"$work/paths"
while read -r path; do ask "http://localhost$path" || fail "$path is not answered"; done <"$work/paths"
[ "$(wc -l <"$work/paths")" -gt 30 ] || fail "there are more paths"
kill -HUP "$volleyd"
until_true has 'reloaded the configuration\|was not reloaded' "$work/router.log"
filtered || fail "a new thread has no filter"
[ "$(json '.refused | length' router show process)" = 0 ] || fail "calls of its own are refused"
kill "$volleyd"
wait "$volleyd" || fail "it did not end well"

# It kept the capability, and not the call: no port of its file takes it.
{
    printf '[process]\ncapabilities = "configured"\nkeep = ["bpf", "net_raw", "net_admin", "ipc_lock", "sys_admin"]\n'
    printf '[workers]\ncount = 1\n[memory]\nbuffers = 8192\n'
} >"$work/router.toml"
router router
! ctl router port add x9 af_xdp device x0 >"$work/said.log" 2>&1 || fail "bpf was not refused"
[ "$(json '[.refused[] | select(.call == "bpf")] | length' router show process)" = 1 ] || fail "bpf is not counted"
until_true has 'call-refused\|refused a call.*call=bpf' "$work/router.log"
kill "${daemons[-1]}"
wait "${daemons[-1]}" || true
sed -i 's/^keep/filter = false\nkeep/' "$work/router.toml"
router router
ctl router port add x9 af_xdp device x0 || fail "without a filter it is not to be had either"
ctl router show process | has 'calls  *any' || fail "no filter is not shown"
echo "ok $name"
