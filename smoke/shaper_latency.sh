#!/usr/bin/env bash
# Beside bulk flows a ping waits for the whole buffer of a FIFO, and for next to nothing with FQ-CoDel.
# Two: it measures delays.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/shaping.bash"
hosts
two_ports af_packet >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
server

# measured: the p99 of a ping's round trip beside four flows.
measured() {
    # Reno fills a buffer until it overflows; others stop when they feel it grow.
    bulk 20 -P 4 -C reno
    until_true waits
    sleep 1
    on "$a" ping -q -c 1 10.0.2.2 >/dev/null || true
    on "$a" ping -c 150 -i 0.02 -W 5 10.0.2.2 >"$work/ping.log" || true
    end_bulk
    p99 "$work/ping.log"
}

# 200 packets of 1514 bytes at 20 Mbit/s: 121 ms.
ctl router qos set p2 pfifo limit 200 rate 20mbit burst 20kb
fifo=$(measured)
echo "pfifo: p99 $fifo ms"
# It grows to the buffer (a TCP that was just cut back leaves some of it free).
awk -v ms="$fifo" 'BEGIN { exit !(ms > 80) }'

ctl router qos set p2 fq_codel rate 20mbit burst 20kb
for attempt in 1 2 3 4 5 6 7 8; do
    fair=$(measured)
    echo "fq_codel: p99 $fair ms"
    # Three times its target of 5 ms.
    awk -v ms="$fair" 'BEGIN { exit !(ms < 15) }' && break
    [ "$attempt" != 8 ]
done
echo "ok $name"
