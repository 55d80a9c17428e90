#!/usr/bin/env bash
# The main job on an embedded default: two hosts, a router between them, then the speed of the graph.
#
#   host a (10.0.1.2) ── veth ── volleyd ── veth ── host b (10.0.2.2)
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/target/release
a=volley-demo-a b=volley-demo-b r=volley-demo-r
work=$(mktemp -d /tmp/volley-demo.XXXXXX)
daemon=

clean_up() {
    [ -z "$daemon" ] || { kill "$daemon" 2>/dev/null || true; wait "$daemon" 2>/dev/null || true; }
    for space in $a $b $r; do
        ip netns pids $space 2>/dev/null | xargs -r kill 2>/dev/null || true
        ip netns del $space 2>/dev/null || true
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

say() { printf '\n\033[1m── %s\033[0m\n' "$*"; }
run() {
    printf '\033[2m$ %s\033[0m\n' "$*"
    "$@"
}
volley() { "$bin/volley" --socket "$work/api.sock" "$@"; }

speed_table() {
    say "Cycles per packet, in memory (the whole graph behind the source)"
    run "$bin/volley-bench" --nodes --rounds 60 --only l2-xconnect --out "$work/xconnect.json"
    run "$bin/volley-bench" --nodes --rounds 60 --only ip4-1 --out "$work/ip4.json"
}

say "Building (the first time takes some minutes)"
cargo build --release --bins -p volleyd -p volley -p volley-lab -p bench

if [ "$(id -u)" != 0 ]; then
    speed_table
    say "Left out: two hosts with the router between them. Network namespaces need root: sudo make demo"
    exit 0
fi

say "Two hosts in network namespaces, the router in a third"
for space in $a $b $r; do
    ip netns del $space 2>/dev/null || true
    ip netns add $space
    ip -n $space link set lo up
done
for host in $a:1 $b:2; do
    number=${host##*:} host=${host%:*}
    ip -n $r link add "v$number" type veth peer name eth0 netns "$host"
    ip -n $r link set "v$number" up
    ip -n "$host" addr add "10.0.$number.2/24" dev eth0
    ip -n "$host" link set eth0 up
    ip -n "$host" route add default via "10.0.$number.1"
done
cat >"$work/router.toml" <<EOF
[workers]
count = 1

[port.p1]
kind = "af_packet"
device = "v1"
addresses = ["10.0.1.1/24"]

[port.p2]
kind = "af_packet"
device = "v2"
addresses = ["10.0.2.1/24"]
EOF
cat "$work/router.toml"
ip netns exec $r "$bin/volleyd" --config "$work/router.toml" --socket "$work/api.sock" &
daemon=$!
for _ in $(seq 100); do
    volley show version >/dev/null 2>&1 && break
    sleep 0.1
done

say "ping and traceroute from a to b"
run ip netns exec $a ping -c 4 -i 0.3 10.0.2.2
run ip netns exec $a traceroute -n -q 1 10.0.2.2
say "TCP for three seconds"
ip netns exec $b iperf3 -s -1 -D >/dev/null
for _ in $(seq 50); do
    ip netns exec $b ss -ltn | grep ':5201' >/dev/null && break
    sleep 0.1
done
run ip netns exec $a iperf3 -c 10.0.2.2 -t 3 -f m
say "A route added while it runs, and what a lookup says of it"
run volley route add 198.51.100.0/24 via 10.0.2.2
run volley lookup 198.51.100.7
say "What the router did"
run volley show ports
run volley show nodes
run volley show errors
speed_table
say "Done. Everything is cleaned up; try it yourself with configs/router.toml"
