#!/usr/bin/env bash
# HTB: a class has its rate when both want theirs, and borrows what the other leaves. HFSC: packets
# marked as voice wait for the time that their curve allows, not for the bulk beside them.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/shaping.bash"
hosts
{
    two_ports af_packet
    # Bursts of 20 ms make up for a worker that is kept from its core so long.
    cat <<EOF2
[port.p2.qos]
kind    = "htb"
default = "1:20"
[[port.p2.qos.class]]
id     = "1:1"
rate   = "20mbit"
burst  = "50kb"
cburst = "50kb"
[[port.p2.qos.class]]
id     = "1:10"
parent = "1:1"
rate   = "15mbit"
ceil   = "20mbit"
burst  = "50kb"
cburst = "50kb"
leaf   = { kind = "fq_codel" }
[[port.p2.qos.class]]
id     = "1:20"
parent = "1:1"
rate   = "5mbit"
ceil   = "20mbit"
burst  = "50kb"
cburst = "50kb"
leaf   = { kind = "fq_codel" }
[[port.p2.qos.filter]]
class            = "1:10"
protocol         = "tcp"
destination_port = 5202
EOF2
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
server
ip netns exec "$b" iperf3 -s -D -p 5202 -I "$work/iperf2" >/dev/null

sent() { json ".[0].root | .. | objects | select(.id == \"1:$1\") | .sent_bytes" router show qos; }
waiting() { json ".[0].root | .. | objects | select(.id == \"1:$1\") | .backlog_packets > 0" router show qos | has true; }
# share SECONDS: Mbit/s of both classes.
share() {
    local ten twenty start
    ten=$(sent 10) twenty=$(sent 20) start=$(date +%s%N)
    sleep "$1"
    echo "$ten $(sent 10) $twenty $(sent 20) $(($(date +%s%N) - start))" |
        awk '{ printf "%.1f %.1f\n", ($2 - $1) * 8000 / $5, ($4 - $3) * 8000 / $5 }'
}
# expect TEN TWENTY: within a tenth.
expect() {
    local attempt
    for attempt in 1 2 3 4 5 6; do
        read -r ten twenty < <(share 3)
        echo "class 1:10 $ten, class 1:20 $twenty Mbit/s"
        within 10 "$1" "$ten" && within 10 "$2" "$twenty" && return 0
    done
    return 1
}
bulk 60 -P 2
until_true waiting 20
echo "one alone borrows all:"
expect 0 20
bulk 60 -P 2 -p 5202
until_true waiting 10
echo "both have their rates:"
expect 15 5
end_bulk

cat >"$work/voice" <<EOF2
qos del p2
qos set p2 hfsc default 1:20
qos class p2 1:10 rt "m1 4mbit d 5ms m2 1mbit" ls 1mbit
qos class p2 1:20 ls 19mbit ul 20mbit leaf pfifo limit 200
qos filter p2 1:10 dscp 46
EOF2
ctl router exec "$work/voice"
bulk 60 -P 4 -C reno
until_true waiting 20
sleep 1
# 0xb8: DSCP 46; as many and as large as a voice call's. A quarter of the buffer's 121 ms is the
# machine's own share when it is busy: by its curve a packet waits for 2 ms.
for attempt in 1 2 3 4 5 6 7 8; do
    on "$a" ping -Q 0xb8 -s 160 -c 150 -i 0.02 -W 5 10.0.2.2 >"$work/voice.log" || true
    echo "voice beside bulk: p99 $(p99 "$work/voice.log") ms"
    awk -v ms="$(p99 "$work/voice.log")" 'BEGIN { exit !(ms < 30) }' && break
    [ "$attempt" != 8 ]
done
on "$a" ping -c 20 -i 0.05 -W 5 10.0.2.2 >"$work/plain.log" || true
end_bulk
echo "unmarked beside bulk: p99 $(p99 "$work/plain.log") ms"
awk -v ms="$(p99 "$work/plain.log")" 'BEGIN { exit !(ms > 60) }'
ctl router show qos
echo "ok $name"
