#!/usr/bin/env bash
# Two workers share the queues of both ports: flows are spread over them, by a hash: sixteen, since of eight all have one
# worker once in 128 times.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
[ "$(nproc)" -ge 2 ] || skip "two workers need two cores"
hosts
two_ports af_packet | sed -e 's/^count = 1/count = 2/' -e '/^kind/a rx_queues = 2' >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
on "$b" iperf3 -s -D -I "$work/iperf" >/dev/null
until_true measure flows -t 2 -P 16
all_share() { json 'length == 2 and all(.packets > 100)' router show workers | has true; }
all_share || { ctl router show workers; exit 1; }
json '.[].packets' router show workers | paste -sd ' ' | sed 's/^/packets a worker, sixteen TCP flows: /'
echo "ok $name"
