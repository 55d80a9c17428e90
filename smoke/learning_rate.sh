#!/usr/bin/env bash
# RFC 2889 5.8: the highest rate at which a bridge learns every address that is offered. Each trial begins with an
# empty table; the addresses are sent from at a rate, once each; then to each, and none of that may be flooded.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
bridged_hosts
on "$r" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
readonly addresses=8000 lowest=8000 a_mac=06:00:00:00:00:01 first=06:01:00:00:00:00
{
    three_ports
    printf '[bridge.lan]\nports = ["p1", "p2", "p3"]\nmac_limit = %s\n' $((addresses + 8))
} >"$work/router.toml"
router router
stations() { json '.[].stations' router show bridge; }
heard() { on "$1" cat /sys/class/net/eth0/statistics/rx_packets; }
# send HOST RATE FLAG...: one frame for each address, and time to catch up for a sender that is late.
send() {
    local seconds
    seconds=$(awk "BEGIN { print $addresses / $2 + 0.3 }")
    on "$1" "$bin/volley-lab" traffic af_packet:eth0 --kind ethernet --rate "$2pps" --seconds "$seconds" \
        --packets $addresses --flows $addresses --order increment --out "$work/sent.json" "${@:3}" >"$work/sent.log" 2>&1
}
all_sent() { jq -e ".streams[0].offered == $addresses" "$work/sent.json" >/dev/null; }
# The rate that the sender made of it.
rate_sent() { jq "1e9 * $addresses / .ends[0].gaps.sum_ns | floor" "$work/sent.json"; }

# learns RATE: true if each address is known behind it, and none of what is sent to them is flooded.
learns() {
    local at_c offered
    ctl router mac flush >/dev/null
    send "$b" "$1" --source-mac $first --destination-mac $a_mac --vary source-mac && all_sent || return 1
    offered=$(rate_sent)
    until_true same_count_twice
    [ "$(stations)" -ge $addresses ] || return 1
    at_c=$(heard "$c")
    send "$a" 20000 --source-mac $a_mac --destination-mac $first --vary destination-mac && all_sent || return 1
    [ "$(heard "$c")" = "$at_c" ] && rate=$offered
}
same_count_twice() { [ "$(stations)" = "$(stations)" ]; }

until_true learns $lowest
for wanted in 20000 50000 100000 200000 500000 1000000; do
    # A machine that stalls loses frames in front of any bridge: a rate has three trials.
    learns $wanted || learns $wanted || learns $wanted || break
done
echo "ok $name: $addresses addresses at $rate a second, all learned"
