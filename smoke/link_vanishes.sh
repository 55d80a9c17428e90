#!/usr/bin/env bash
# A link that vanishes under a running router is a link that is down, and comes back by itself: a
# veth deleted under traffic, the other end of a memif killed while it is polled, a tap that went.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/chain.bash"
fail() { echo "$1"; exit 1; }
link_is() { [ "$(json ".[] | select(.name == \"$2\").link_up" "$1" show ports)" = "$3" ]; }
lives() { kill -0 "$1" 2>/dev/null || fail "the router died"; }

# One end of a's veth goes, with it the other.
for kind in af_packet af_xdp; do
    hosts
    two_ports "$kind" >"$work/$kind.toml"
    router "$kind"
    until_true pings "$a" 10.0.2.2
    on "$a" ping -q -f -w 20 10.0.2.2 >/dev/null 2>&1 &
    for round in 1 2; do
        ip -n "$r" link del v1
        until_true link_is "$kind" p1 false
        lives "${daemons[-1]}"
        pings "$b" 10.0.2.1 >/dev/null || fail "$kind: p2 died with p1"
        ip -n "$r" link add v1 type veth peer name eth0 netns "$a"
        ip -n "$a" addr add 10.0.1.2/24 dev eth0
        ip -n "$a" link set eth0 up
        ip -n "$a" route add default via 10.0.1.1
        on "$a" ethtool -K eth0 tx off gso off tso off gro off >/dev/null
        ip -n "$r" link set v1 up
        until_true link_is "$kind" p1 true
        until_true pings "$a" 10.0.2.2
        echo "$kind: gone and back ($round)"
    done
    kill "${daemons[-1]}"; wait "${daemons[-1]}" || true
    for space in "$a" "$b"; do ip netns pids "$space" | xargs -r kill 2>/dev/null || true; done
    for space in "$a" "$b" "$r"; do ip netns del "$space"; done
done

# A tap is deleted, by the kernel's end of it.
hosts
tap_and_veth >"$work/tap.toml"
router tap
host_a=$a
tap_host
until_true pings "$a" 10.0.2.2
for round in 1 2; do
    ip -n "$r" link del v1
    lives "${daemons[-1]}"
    pings "$b" 10.0.2.1 >/dev/null || fail "tap: p2 died with p1"
    until_true tap_address
    until_true link_is tap p1 true
    until_true pings "$a" 10.0.2.2
    echo "tap: gone and back ($round)"
done
# Its end moves into another namespace, as into a container: it is not gone.
ip netns add "$c"
ip -n "$r" link set v1 netns "$c"
ip -n "$c" addr add 10.0.1.2/24 dev v1
ip -n "$c" link set v1 up
ip -n "$c" route add default via 10.0.1.1
until_true pings "$c" 10.0.2.2
link_is tap p1 true || fail "tap: moved, and taken for gone"
echo "tap: moved"
kill "${daemons[-1]}"; wait "${daemons[-1]}" || true
for space in "$b" "$r" "$c"; do ip netns del "$space"; done
a=$host_a

# Either end of a memif is killed while the other polls it.
hosts
link() { printf 'kind = "memif"\nsocket = "%s"\nrole = "%s"\n' "$work/memif" "$1"; }
link server | half left 1 2
link client | half right 2 1
router left
left=${daemons[-1]}
router right
right=${daemons[-1]}
until_true pings "$a" 10.0.2.2
for victim in right left; do
    other=$([ $victim = right ] && echo left || echo right)
    kill -9 "${!victim}"
    wait "${!victim}" 2>/dev/null || true
    until_true link_is $other link false
    lives "${!other}"
    host=$([ $other = left ] && echo "$a:1" || echo "$b:2")
    pings "${host%:*}" "10.0.${host##*:}.1" >/dev/null || fail "memif: $other died with $victim"
    router $victim
    declare $victim="${daemons[-1]}"
    until_true pings "$a" 10.0.2.2
    echo "memif: $victim killed and back"
done
echo "ok $name"
