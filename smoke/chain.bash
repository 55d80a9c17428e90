# Two routers with a link of shared memory between them. Sourced, never run, after lib.sh.
#
#   host a ── v1 | left | link 10.0.9.1 ══ 10.0.9.2 | right | v2 ── host b

# half NAME NEAR FAR: a router's configuration; how its link is made comes by standard input.
half() {
    cat >"$work/$1.toml" <<END
[memory]
buffers = 8192
[port.host]
kind = "af_packet"
device = "v$2"
addresses = ["10.0.$2.1/24"]
[port.link]
addresses = ["10.0.9.$2/24"]
$(cat)
[[route]]
prefix = "10.0.$3.0/24"
via = "10.0.9.$3"
END
}

# What the link must carry: pings of all sizes and TCP.
carries() {
    local kind=$1 size
    until_true pings "$a" 10.0.2.2
    for size in 0 64 1000 1472; do
        on "$a" ping -q -c 2 -i 0.05 -W 2 -M do -s "$size" 10.0.2.2 >/dev/null || { echo "$kind: ping of $size failed"; exit 1; }
    done
    on "$b" iperf3 -s -D -I "$work/iperf" >/dev/null
    until_true measure tcp -t 2
    until_true udp_arrives
    echo "$kind: TCP $(jq '.end.sum_received.bits_per_second / 1e6 | floor' "$work/tcp.json") Mbit/s," \
        "UDP at 20 Mbit/s lost $(jq '.end.sum.lost_percent' "$work/udp.json") %"
    jq -e '.end.sum_received.bits_per_second > 1e6' "$work/tcp.json" >/dev/null
}
