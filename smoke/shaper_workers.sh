#!/usr/bin/env bash
# One HTB tree that two workers serve, each the packets that come to it: the classes have what they
# have with one worker, whether all are busy or one borrows. Changed under traffic it loses nothing.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/shaping.bash"
hosts
{
    two_ports af_packet | sed -e 's/^count = 1/count = 2/' -e 's/^buffers = .*/buffers = 16384/' -e '/^kind/a rx_queues = 2'
    # Bursts of 20 ms make up for a worker that is kept from its core so long.
    cat <<EOF2
[port.p2.qos]
kind        = "htb"
default     = "1:20"
all_workers = true
[[port.p2.qos.class]]
id     = "1:1"
rate   = "50mbit"
burst  = "125kb"
cburst = "125kb"
[[port.p2.qos.class]]
id     = "1:10"
parent = "1:1"
rate   = "40mbit"
ceil   = "50mbit"
burst  = "100kb"
cburst = "125kb"
[[port.p2.qos.class]]
id     = "1:20"
parent = "1:1"
rate   = "10mbit"
ceil   = "50mbit"
burst  = "25kb"
cburst = "125kb"
[[port.p2.qos.filter]]
class            = "1:10"
protocol         = "udp"
destination_port = 5202
EOF2
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2

# Sixteen flows to a port, of 60 Mbit/s together: more than there is.
cat >"$work/flood.py" <<'EOF2'
import socket, sys, time
flows = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(16)]
for flow in flows:
    flow.connect(("10.0.2.2", int(sys.argv[1])))
begin, sent = time.monotonic(), 0
while True:
    due = (time.monotonic() - begin) * 60e6 / 8 / 1442
    if sent < due - 4000:
        sent = due - 4000  # kept from its core: it does not make good for that
    while sent < due:
        flows[int(sent) % 16].send(bytes(1400))
        sent += 1
    time.sleep(0.002)
EOF2
flood() {
    ip netns exec "$a" python3 "$work/flood.py" "$1" &
    loads+=($!)
}
# Somebody has the ports, so that nobody answers that nobody listens; nothing is read.
ip netns exec "$b" python3 -c '
import socket, time
sinks = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
for number, sink in enumerate(sinks):
    sink.bind(("10.0.2.2", 5201 + number))
time.sleep(3600)' &
daemons+=($!)
listening() { [ "$(ip netns exec "$b" ss -Hlun 'sport = :5201 or sport = :5202' | wc -l)" = 2 ]; }
until_true listening

sent() { json ".[0].root | .. | objects | select(.id == \"1:$1\") | .sent_bytes" router show qos; }
waiting() { json ".[0].root | .. | objects | select(.id == \"1:$1\") | .backlog_packets > 0" router show qos | has true; }
# share SECONDS: Mbit/s of both classes.
share() {
    local ten twenty start
    ten=$(sent 10) twenty=$(sent 20) start=$(date +%s%N)
    sleep "$1"
    echo "$ten $(sent 10) $twenty $(sent 20) $(($(date +%s%N) - start))" |
        awk '{ printf "%.2f %.2f\n", ($2 - $1) * 8000 / $5, ($4 - $3) * 8000 / $5 }'
}
# expect TEN TWENTY: within 3 %.
expect() {
    local attempt
    for attempt in 1 2 3 4 5 6; do
        read -r ten twenty < <(share 4)
        echo "class 1:10 $ten, class 1:20 $twenty Mbit/s"
        within 3 "$1" "$ten" && within 3 "$2" "$twenty" && return 0
    done
    return 1
}
# of_worker NUMBER: packets that it sent of the tree.
of_worker() { json ".[0].root.gauges.worker_$1_packets" router show qos; }

flood 5201
until_true waiting 20
echo "two workers, one class alone borrows all:"
expect 0 50
flood 5202
until_true waiting 10
echo "two workers, both classes have their rates:"
first=$(of_worker 0) second=$(of_worker 1)
expect 40 10
echo "worker 0 sent $(($(of_worker 0) - first)) packets, worker 1 $(($(of_worker 1) - second))"
[ $(($(of_worker 0) - first)) -gt 1000 ]
[ $(($(of_worker 1) - second)) -gt 1000 ]

# Under traffic: one worker for all, each for itself again, no scheduler. What waits stays.
ctl router qos set p2 htb default 1:20
echo "one worker:"
expect 40 10
[ "$(of_worker 0)" = null ]
ctl router qos set p2 htb default 1:20 all_workers true
echo "two workers again:"
expect 40 10
[ "$(of_worker 1)" -gt 1000 ]
ctl router qos class p2 1:10 parent 1:1 rate 30mbit ceil 50mbit burst 100kb cburst 125kb
ctl router qos class p2 1:20 parent 1:1 rate 20mbit ceil 50mbit burst 50kb cburst 125kb
echo "two workers, other rates:"
expect 30 20
end_bulk
ctl router qos del p2
until_true pings "$a" 10.0.2.2
lost=$(json '[.. | objects | select((.node? // "") == "shape" and .reason != "queue-full" and (.packets // 0) > 0)] | length' router show errors)
ctl router show errors
[ "$lost" = 0 ]
echo "ok $name"
