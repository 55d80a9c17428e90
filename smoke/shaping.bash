# What the shaper's smoke tests share: bulk flows from a to b, and what arrives. Sourced after lib.sh.

# bulk SECONDS OPTIONS…: TCP flows from a to b in the background.
bulk() {
    until_true on "$b" ss -Hltn sport = :5201 # the server listens
    ip netns exec "$a" iperf3 -c 10.0.2.2 -t "$@" >"$work/bulk.log" 2>&1 &
    loads+=($!)
}
loads=()
end_bulk() {
    for load in "${loads[@]}"; do kill "$load" 2>/dev/null || true; done
    for load in "${loads[@]}"; do wait "$load" 2>/dev/null || true; done
    loads=()
}
server() {
    ip netns exec "$b" iperf3 -s -D -I "$work/iperf" "$@" >/dev/null
}

# Packets wait at p2: whoever sends, sends more than the port lets pass.
waits() { json '.[0].root.backlog_packets > 1' router show qos | has true; }

# arriving SECONDS: bits a second that reach b's side of the link, Ethernet headers included.
arriving() {
    local bytes nanoseconds
    bytes=$(on "$b" cat /sys/class/net/eth0/statistics/rx_bytes) nanoseconds=$(date +%s%N)
    sleep "$1"
    bytes=$(($(on "$b" cat /sys/class/net/eth0/statistics/rx_bytes) - bytes))
    nanoseconds=$(($(date +%s%N) - nanoseconds))
    echo $((bytes * 8 * 1000 / (nanoseconds / 1000000)))
}

# within PERCENT WANTED FOUND
within() { awk -v p="$1" -v w="$2" -v f="$3" 'BEGIN { d = f - w; if (d < 0) d = -d; exit d > w * p / 100 }'; }

# p99 FILE: the 99th percentile of a ping's round trips, in milliseconds.
p99() {
    sed -n 's/.*time=\([0-9.]*\) ms/\1/p' "$1" | sort -n |
        awk '{ t[NR] = $1 } END { at = int(NR * 0.99 + 0.999); print NR ? t[at] : "none" }'
}
