#!/usr/bin/env bash
# A bridge that knows who listens to groups, by what real hosts say (IGMPv2 and v3, MLDv2): a stream reaches those that joined
# and nobody else, and nobody when they have left. The kernel's own bridge is asked the same before, and does the same.
. "$(dirname "$0")/lib.sh"
bridged_hosts
for host in "$a" "$b" "$c"; do
    on "$host" sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.eth0.disable_ipv6=0 net.ipv6.conf.eth0.accept_dad=0
    ip netns exec "$host" tcpdump -l -n -p -i eth0 'udp portrange 7000-7999' >"$work/${host##*-}.txt" 2>"$work/${host##*-}.log" &
    daemons+=($!)
    until_true has listening "$work/${host##*-}.log"
done
joined=
join() {
    ip netns exec "$b" /usr/bin/python3 -c "
import signal, socket, struct
six, group = ':' in '$1', socket.inet_pton(socket.AF_INET6 if ':' in '$1' else socket.AF_INET, '$1')
s = socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_DGRAM)
nic = socket.if_nametoindex('eth0')
s.setsockopt(socket.IPPROTO_IPV6 if six else 0, socket.IPV6_JOIN_GROUP if six else socket.IP_ADD_MEMBERSHIP,
             group + struct.pack('@i', nic) if six else group + bytes(4) + struct.pack('@i', nic))
signal.pause()" 2>>"$work/join.log" &
    joined=$!
}
leave() { kill $joined && wait $joined 2>/dev/null || true; }
# say ADDRESS: some datagrams of a; the port tells which.
say() {
    on "$a" /usr/bin/python3 -c "
import socket
s = socket.socket(socket.AF_INET6 if ':' in '$1' else socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b'eth0')
for _ in range(3): s.sendto(b'stream', ('$1', $port))"
}
port=7000
heard() { has "255.255.255.255.$port:" "$work/b.txt" && has "255.255.255.255.$port:" "$work/c.txt"; }
# reaches GROUP WHO: whether a stream reaches just these of b and c. What both get comes after it: twice, as the first may overtake.
reaches() {
    port=$((port + 1))
    local stream=$port host got=
    say "$1"
    for _ in 1 2; do
        port=$((port + 1))
        say 255.255.255.255
        until_true heard
    done
    for host in b c; do ! has "> $1.$stream:" "$work/$host.txt" || got="$got$host"; done
    [ "$got" = "$2" ] || { echo "$1 reaches '$got', not '$2'"; return 1; }
}
knows_not() { ! knows "$1"; }
group4=239.1.1.1 group6=ff0e::77
# plays TRY: the same for both bridges; the kernel's is tried until it is so, as it does not tell when it begins.
plays() {
    local version
    for version in 3 2; do
        on "$b" sysctl -qw net.ipv4.conf.eth0.force_igmp_version=$version
        join $group4
        until_true knows $group4
        "$@" reaches $group4 b
        "$@" reaches 239.9.9.9 ''
        leave
        until_true knows_not $group4
        "$@" reaches $group4 ''
    done
    join $group6
    until_true knows $group6
    "$@" reaches $group6 b
    "$@" reaches 224.0.0.251 bc
    leave
    until_true knows_not $group6
}

knows() { bridge -n "$r" mdb show dev br0 | has "port v2 grp $1 "; }
ip -n "$r" link add br0 type bridge mcast_snooping 1 mcast_query_response_interval 50 \
    mcast_startup_query_interval 100 mcast_query_interval 200 mcast_last_member_interval 50 2>/dev/null || skip "no bridge with snooping"
ip -n "$r" link set br0 type bridge mcast_querier 1
for number in 1 2 3; do ip -n "$r" link set v$number master br0; done
ip -n "$r" link set br0 up
until_true pings "$a" 10.0.9.2
plays until_true
ip -n "$r" link del br0

{
    three_ports
    printf '[bridge.lan]\nports = ["p1", "p2", "p3"]\nsnooping = { querier = true, interval = "2s", response = "500ms", unknown = "routers" }\n'
} >"$work/router.toml"
router router
knows() { json '.groups[] | .group + " " + .port' router show groups | has "^$1 p2$"; }
active() { [ "$(json 'map(.active and .asks) | all' router show snooping)" = true ]; }
until_true active
plays

# Groups that nobody told of go everywhere, where nothing else is said.
ctl router bridge set lan snooping on querier true interval 2s response 500ms unknown flood >/dev/null
until_true reaches $group4 bc

# A group that is configured, and a report that is wrong: dropped, and counted as that.
ctl router bridge set lan groups $group4 p3 >/dev/null
until_true reaches $group4 c
on "$b" /usr/bin/python3 -c "
import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(('eth0', 0))
s.send(bytes.fromhex('01005e000016 060000000002 0800 45000020000000000102' '0000' '0a000902e0000016' '22000000 00000001 04000000'.replace(' ', '')).ljust(60, b'\0'))"
malformed() { [ "$(json 'map(select(.reason == "malformed")) | length' router show errors)" = 1 ]; }
until_true malformed
ctl router show snooping | has 'lan *igmp *listeners *the bridge'
ctl router show groups --bridge lan | has "lan *$group4 *p3 *configured"
! ctl router show groups --bridge wan 2>/dev/null || exit 1
echo "ok $name"
