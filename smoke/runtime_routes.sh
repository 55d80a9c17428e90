#!/usr/bin/env bash
# ROUTES (10 000) routes come and go on the very paths of numbered packets that flow: none is lost.
# Two: it counts packets lost while the machine is busy with a table.
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0") routes=${ROUTES:-10000}
hosts
# Every packet's destination is b's; routes that would lead it back to a are its neighbours'.
ip -n "$b" route add local 172.16.0.0/16 dev lo
{
    two_ports af_packet
    printf '[[route]]\nprefix = "172.16.0.0/16"\nvia = "10.0.2.2"\n'
} >"$work/router.toml"
router router
until_true pings "$a" 172.16.0.1
for n in $(seq 0 $((routes / 2 - 1))); do
    echo "route add 172.16.$((n % 256)).$((n / 256 * 13 % 256))/32 via 10.0.2.2"
    echo "route add 172.17.$((n % 256)).$((n / 256 * 13 % 256))/32 via 10.0.1.2"
done >"$work/add"
sed -E 's/route add ([^ ]*) .*/route del \1/' "$work/add" >"$work/del"
before=$(json .total router show routes)
expect() { [ "$(json .total router show routes)" = "$1" ] || { echo "not $1 routes $2"; exit 1; }; }
flow() { /usr/bin/python3 "$here/numbered.py" "$a" "$b" 500 "$@"; }
ctl_path=("$bin/volley" --socket "$work/router.sock")

flow "${ctl_path[@]}" exec "$work/add"
expect $((before + routes)) "after adding all at once"
flow "${ctl_path[@]}" exec "$work/del"
expect "$before" "after removing all at once"
head -n 300 "$work/add" | sed "s|^|${ctl_path[*]} |" >"$work/singly.sh"
flow bash -e "$work/singly.sh"
expect $((before + 300)) "after adding 300 one by one"
ctl router lookup 172.16.0.0 | has '10.0.2.2'
head -n 300 "$work/del" | sed "s|^|${ctl_path[*]} |" >"$work/singly.sh"
flow bash -e "$work/singly.sh"
expect "$before" "after removing 300 one by one"
echo "ok $name"
