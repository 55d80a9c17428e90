#!/usr/bin/env bash
# A shaped port passes TCP at the rate that is set and nothing else, from 1 Mbit/s to 1 Gbit/s, within 5 %.
# Alone: it measures rates that a busy machine does not reach.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/shaping.bash"
hosts
two_ports af_packet >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
server

# A machine that is kept busy by others stalls for longer than is made up for: a few attempts.
holds() {
    local attempt
    for attempt in 1 2 3 4 5 6; do
        bulk 8 -P 4
        until_true waits
        found=$(arriving 3)
        end_bulk
        within 5 "$2" "$found" && return 0
        echo "attempt $attempt: $1 set, $found bit/s arrive"
    done
    return 1
}

# passes RATE:BITS…: each rate is set, and held if the machine passes half as much again without shaping.
passes() {
    local setting rate wanted unshaped
    bulk 5 -P 4
    sleep 1
    unshaped=$(arriving 2)
    end_bulk
    echo "unshaped: $unshaped bit/s"
    for setting in "$@"; do
        rate=${setting%:*} wanted=${setting#*:}
        if [ "$unshaped" -lt $((wanted * 15 / 10)) ]; then
            echo "NOT TESTED at $rate: this machine passes $unshaped bit/s without any shaping"
            continue
        fi
        ctl router qos set p2 fq_codel rate "$rate"
        holds "$rate" "$wanted"
        echo "$rate: $found bit/s arrive"
    done
    # There is none where this machine was too slow for all of these.
    [ "$(json length router show qos)" = 0 ] || ctl router qos del p2
    [ "$(json length router show qos)" = 0 ]
    until_true pings "$a" 10.0.2.2
}

passes 1mbit:1000000 10mbit:10000000 100mbit:100000000

# A gigabit in jumbo frames, of which a packet socket moves enough.
kill "${daemons[-1]}"
wait "${daemons[-1]}"
for device in v1 v2; do ip -n "$r" link set $device mtu 9000; done
for host in "$a" "$b"; do ip -n "$host" link set eth0 mtu 9000; done
sed -i 's/buffers = 8192/&\nframe_bytes = 9216/; s/^device.*/&\nmtu = 9000/' "$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
passes 1gbit:1000000000
echo "ok $name"
