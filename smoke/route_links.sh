#!/usr/bin/env bash
# IPv4 between two real hosts over each kind of Linux link: ping of all sizes, traceroute, TCP, UDP.
# Two: of UDP at a rate a host that gets no processor loses what its socket cannot hold.
. "$(dirname "$0")/lib.sh"
kinds=${*:-af_packet af_xdp tap}

for kind in $kinds; do
    hosts
    two_ports "$kind" >"$work/$kind.toml"
    if [ "$kind" = tap ]; then
        kind=mixed
        tap_and_veth >"$work/mixed.toml"
    fi
    router "$kind"
    [ "$kind" != mixed ] || tap_host
    until_true pings "$a" 10.0.2.2
    for size in 0 1 17 18 64 100 576 1024 1471 1472; do
        on "$a" ping -q -c 2 -i 0.05 -W 2 -M do -s "$size" 10.0.2.2 >/dev/null || { echo "ping of $size failed"; exit 1; }
    done
    # Fragments are forwarded as they come.
    on "$a" ping -q -c 2 -i 0.05 -W 2 -s 3000 10.0.2.2 >/dev/null || { echo "fragments are lost"; exit 1; }
    on "$a" traceroute -n -q 1 -w 2 10.0.2.2 | has '^ 1  10.0.1.1' || { echo "no first hop"; exit 1; }
    on "$b" iperf3 -s -D -I "$work/iperf.$kind" >/dev/null
    until_true measure tcp -t 2
    until_true udp_arrives
    tcp=$(jq '.end.sum_received.bits_per_second / 1e6 | floor' "$work/tcp.json")
    lost=$(jq '.end.sum.lost_percent' "$work/udp.json")
    echo "$kind: TCP $tcp Mbit/s, UDP at 5 Mbit/s lost $lost %"
    [ "$tcp" -ge 1 ]
    kill "${daemons[-1]}"; wait "${daemons[-1]}" || true
    ip netns pids "$b" | xargs -r kill
    for space in $(printf "%s\n" "$a" "$b" "$r" | sort -u); do ip netns del "$space"; done
done
echo "ok $name"
