#!/usr/bin/env bash
# CAKE at a line of 20 Mbit/s: two hosts get the same however many flows they have, voice does not wait for bulk, and of the
# acknowledgements of a download those that later ones make needless are left out.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/shaping.bash"
hosts
ip -n "$a" addr add 10.0.1.3/24 dev eth0
two_ports af_packet >"$work/router.toml"
router router
# As Linux's users write it.
echo 'qdisc add dev p2 root cake bandwidth 20mbit diffserv4 dual-srchost ack-filter docsis' >"$work/cake.tc"
ctl router qos import "$work/cake.tc"
until_true pings "$a" 10.0.2.2
server
ip netns exec "$b" iperf3 -s -D -p 5202 -I "$work/iperf2" >/dev/null
until_true on "$b" ss -Hltn sport = :5202

# One host has four flows, the other one: with flows alone it would get a fifth.
shares() {
    local one four
    ip netns exec "$a" iperf3 -c 10.0.2.2 -B 10.0.1.2 -P 4 -t 5 -J >"$work/four.json" 2>&1 &
    four=$!
    ip netns exec "$a" iperf3 -c 10.0.2.2 -B 10.0.1.3 -p 5202 -t 5 -J >"$work/one.json" 2>&1 &
    one=$!
    sleep 1
    # 0xb8: DSCP 46, as a call's.
    on "$a" ping -Q 0xb8 -s 160 -c 100 -i 0.02 -W 5 10.0.2.2 >"$work/voice.log" || true
    on "$a" ping -s 160 -c 100 -i 0.02 -W 5 10.0.2.2 >"$work/plain.log" || true
    wait $four $one
    jq -s '[.[].end.sum_received.bits_per_second / 1e6 | floor] | join(" ")' -r "$work/four.json" "$work/one.json"
}
for attempt in 1 2 3 4; do
    read -r four one < <(shares)
    echo "four flows of one host $four, one of another $one Mbit/s; voice p99 $(p99 "$work/voice.log") ms"
    within 20 "$four" "$one" && awk -v sum=$((four + one)) 'BEGIN { exit !(sum >= 16 && sum <= 20) }' &&
        awk -v ms="$(p99 "$work/voice.log")" 'BEGIN { exit !(ms < 30) }' && break
    [ "$attempt" != 4 ]
done

# A download whose acknowledgements are too many for the way back.
echo 'qdisc replace dev p2 root cake bandwidth 100kbit ack-filter' >"$work/cake.tc"
ctl router qos import "$work/cake.tc"
on "$a" iperf3 -c 10.0.2.2 -R -t 3 >"$work/down.log"
left_out() { json '.[0].root.gauges.ack_drops' router show qos; }
[ "$(left_out)" -gt 20 ]
json '[.[] | select(.node == "shape" and .reason == "acknowledged")] | length' router show errors | grep -qx 1
echo "ok $name: $(left_out) acknowledgements left out"
