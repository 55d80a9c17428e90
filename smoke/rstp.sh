#!/usr/bin/env bash
# A triangle of our bridge and two of Open vSwitch's (its own datapath), with RSTP: one root, one port blocked, no frame twice; a wire is
# cut while a host pings; another root; and a neighbour that goes back to the old protocol.
. "$(dirname "$0")/lib.sh"
for program in ovs-vswitchd ovsdb-server tcpdump; do command -v $program >/dev/null || skip "no $program"; done
# Host a at our bridge, host c at br2; the switches are in b's namespace.
c=vly-$$-c
for space in "$r" "$a" "$b" "$c"; do
    ip netns add "$space"
    on "$space" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
    ip -n "$space" link set lo up
done
ip -n "$r" link add v0 type veth peer name eth0 netns "$a"
ip -n "$r" link add v1 type veth peer name e1 netns "$b"
ip -n "$r" link add v2 type veth peer name e2 netns "$b"
ip -n "$b" link add x1 type veth peer name x2
ip -n "$b" link add h2 type veth peer name eth0 netns "$c"
for device in v0 v1 v2; do ip -n "$r" link set $device up; done
for device in e1 e2 x1 x2 h2; do ip -n "$b" link set $device up; done
for host in "$a:1" "$c:3"; do
    ip -n "${host%:*}" addr add "10.0.9.${host##*:}/24" dev eth0
    ip -n "${host%:*}" link set eth0 up
    on "${host%:*}" ethtool -K eth0 tx off gso off tso off gro off >/dev/null
done

vs() { timeout 30 ovs-vsctl --db="unix:$work/db.sock" "$@"; }
ovsdb-tool create "$work/conf.db" /usr/share/openvswitch/vswitch.ovsschema
ovsdb-server "$work/conf.db" --remote="punix:$work/db.sock" --unixctl="$work/db.ctl" 2>"$work/db.log" &
daemons+=($!)
until_true vs --no-wait init
ip netns exec "$b" env OVS_RUNDIR="$work" ovs-vswitchd "unix:$work/db.sock" --unixctl="$work/switch.ctl" --disable-system 2>"$work/switch.log" &
daemons+=($!)
vs add-br br1 -- set bridge br1 datapath_type=netdev rstp_enable=true -- add-br br2 -- set bridge br2 datapath_type=netdev rstp_enable=true \
    -- add-port br1 e1 -- add-port br1 x1 -- add-port br2 e2 -- add-port br2 x2 -- add-port br2 h2
{
    three_ports | sed 's/v1"/v0"/; s/v2"/v1"/; s/v3"/v2"/; s/port.p1/port.p0/; s/port.p2/port.p1/; s/port.p3/port.p2/'
    printf '[bridge.lan]\nports = ["p0", "p1", "p2"]\nrstp = { priority = 4096, address = "02:00:00:00:00:01" }\n'
} >"$work/router.toml"
router router

told() { ovs-appctl -t "$work/switch.ctl" rstp/show; }
tree() { json ".[0]$1" router show spanning-tree; }
fails() { ctl router show spanning-tree; told; ctl router show errors; exit 1; }
# root ID: whether all three know this root.
root() {
    [ "$(tree .root_id)" = "$1" ] && [ "$(vs get bridge br1 rstp_status:rstp_root_id)" = "\"$1\"" ] &&
        [ "$(vs get bridge br2 rstp_status:rstp_root_id)" = "\"$1\"" ]
}
# Roles of all ports of all three bridges; and how many do not forward.
roles() {
    json '.[0].ports[] | .role + " " + .state' router show spanning-tree
    local port
    for port in e1 x1 e2 x2 h2; do
        vs get port $port rstp_status:rstp_port_role rstp_status:rstp_port_state | tr 'A-Z\n' 'a-z ' | sed 's/ $/\n/'
    done
}
blocked() { [ "$(roles | grep -c -e '^alternate discarding')" = "$1" ] && [ "$(roles | grep -c -e ' forwarding$')" = "$2" ]; }
until_true root 1.000.020000000001 || fails
until_true blocked 1 7 || fails
until_true pings "$a" 10.0.9.3 || fails

# What is sent to all arrives once. What switches tell may be of a moment ago: while a tree still settles frames may be lost, and are
# sent anew; none ever comes twice.
sent_to_all() {
    ip netns exec "$c" tcpdump -l -n -p -i eth0 'ether proto 0x88b5' >"$work/heard.txt" 2>"$work/heard.log" &
    local dump=$!
    daemons+=($dump)
    until_true has listening "$work/heard.log"
    on "$a" /usr/bin/python3 -c "
import socket, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(('eth0', 0))
for n in range(20):
    s.send(b'\xff' * 6 + bytes([6, 0, 0, 0, 0, 1]) + b'\x88\xb5' + bytes([n]) * 50)
    time.sleep(0.02)"
    sleep 1
    kill $dump
    wait $dump 2>/dev/null || true
    grep -A1 ethertype "$work/heard.txt" | awk '/0x0000/ { print $2 }' | sort >"$work/numbers.txt"
}
once() {
    for attempt in 1 2 3; do
        sent_to_all
        [ -z "$(uniq -d "$work/numbers.txt")" ] || { echo "twice:" $(uniq -d "$work/numbers.txt"); return 1; }
        [ "$(wc -l <"$work/numbers.txt")" -lt 20 ] || return 0
        echo "attempt $attempt: $(wc -l <"$work/numbers.txt") of 20 came"
    done
    return 1
}
once || fails

# longest_gap FILE: between two answers of a ping, in seconds.
longest_gap() { awk -F'[][]' '/bytes from/ { if (last && $2 - last > most) most = $2 - last; last = $2 } END { print most + 0 }' "$1"; }
# within SECONDS COMMAND…: what a ping misses while something happens.
within() {
    local most=$1
    shift
    ip netns exec "$a" ping -D -i 0.05 10.0.9.3 >"$work/ping.txt" 2>"$work/ping.log" &
    local ping=$!
    daemons+=($ping)
    until_true has 'bytes from' "$work/ping.txt"
    "$@"
    sleep 4
    kill -INT $ping
    wait $ping 2>/dev/null || true
    local gap
    gap=$(longest_gap "$work/ping.txt")
    echo "$*: the longest gap was $gap s"
    awk -v gap="$gap" -v most="$most" 'BEGIN { exit !(gap < most) }' || return 1
    pings "$a" 10.0.9.3 >/dev/null
}
# A wire is cut, of which both ends know at once; it is put back.
within 3 ip -n "$b" link set e2 down || fails
until_true blocked 0 6 || fails
[ "$(tree '.ports[] | select(.port == "p2") | .role')" = disabled ] || fails
within 3 ip -n "$b" link set e2 up || fails
until_true blocked 1 7 || fails
once || fails

# Another root: the one that the far host is at.
within 3 vs set bridge br2 other_config:rstp-priority=0 other_config:rstp-address=02:00:00:00:00:22 || fails
until_true root 0.000.020000000022 || fails
[ "$(tree .root_port)" = p2 ] || fails
until_true blocked 1 7 || fails
once || fails
# Our port to the root costs more: the way is by the other now.
within 3 ctl router bridge join lan p2 path_cost 200000 || fails
by() { [ "$(tree .root_port)" = "$1" ]; }
until_true by p1 || fails

# A neighbour that speaks the old protocol is spoken to in it, the others as before.
vs set bridge br1 rstp_enable=false -- set bridge br1 stp_enable=true
speaks() { [ "$(tree ".ports[] | select(.port == \"$1\") | .speaks")" = "$2" ]; }
until_true speaks p1 stp || fails
speaks p2 rstp || fails
until_true pings "$a" 10.0.9.3 || fails

# Without a tree its messages end here, as they do at any bridge, and ports forward.
ip -n "$b" link set x1 down
ctl router bridge set lan rstp off >/dev/null
[ "$(json length router show spanning-tree)" = 0 ] || fails
until_true pings "$a" 10.0.9.3 || fails
ended() { json '.[] | select(.reason == "reserved-address") | .packets' router show errors | has '[1-9]'; }
until_true ended || fails
echo "ok $name"
