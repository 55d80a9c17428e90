#!/usr/bin/env bash
# A bond that its other end knows nothing of, as ovs-vsctl makes it (`bond_mode=balance-slb`): two hosts behind us, and two wires into a bridge
# of c's kernel. Each host's frames take one wire, none comes twice or back, and a wire that is cut moves its hosts to the other.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ovsdb.bash"
export OVS_RUNDIR="$work"

# A second wire to c, and a bridge at c's end of both.
ip -n "$r" link add v4 type veth peer name eth1 netns "$c"
ip -n "$r" link set v4 up
ip -n "$c" addr flush dev eth0
ip -n "$c" link add br0 type bridge
for port in eth0 eth1; do
    on "$c" ethtool -K "$port" tx off gso off tso off gro off >/dev/null
    ip -n "$c" link set "$port" master br0
    ip -n "$c" link set "$port" up
done
ip -n "$c" link set br0 address 06:00:00:00:00:03 up
ip -n "$c" addr add 10.0.9.3/24 dev br0
on "$c" ethtool -K br0 tx off >/dev/null
vs add-br br0 -- add-port br0 v1 -- add-port br0 v2 -- add-bond br0 bond0 v3 v4 bond_mode=balance-slb
column Interface v3 error '\[\]' && column Interface v4 error '\[\]'
shown() { ovs-appctl bond/show bond0; }
fails() { shown; ctl router show bonds; ctl router show errors; bridge -n "$c" fdb show br br0; exit 1; }
enabled() { [ "$(shown | grep -c ': enabled')" = "$1" ] && [ "$(shown | grep -c 'active member')" = 1 ]; }
until_true enabled 2 || fails
shown | has 'bond_mode: balance-slb' && shown | has 'lacp_status: off' || fails
until_true pings "$a" 10.0.9.3 || fails

# The two hosts take both wires: where c's bridge has a station, its frames came by. One of b's addresses takes the other wire.
wire() { bridge -n "$c" fdb show br br0 | awk -v mac="$1" '$1 == mac { print $3; exit }'; }
mac_a=06:00:00:00:00:01
for number in $(seq 10 40); do
    mac_b=06:00:00:00:01:$number
    ip -n "$b" link set eth0 address "$mac_b"
    on "$c" ip neighbor flush dev br0
    until_true pings "$b" 10.0.9.3 || fails
    [ "$(wire $mac_a)" = "$(wire $mac_b)" ] || break
done
first=$(wire $mac_a) second=$(wire $mac_b)
[ "$first/$second" = eth0/eth1 ] || [ "$first/$second" = eth1/eth0 ] || fails

# says NAMESPACE DEVICE[.VLAN] TO: twenty frames to a station, and one of another type behind them. The kernel may have no VLAN devices.
says() {
    on "$1" /usr/bin/python3 - "$2" "$3" <<'PY'
import socket, sys
device, _, vlan = sys.argv[1].partition(".")
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind((device, 0))
ends = bytes.fromhex(sys.argv[2].replace(":", "")) + link.getsockname()[4]
tag = b"\x81\x00" + int(vlan).to_bytes(2, "big") if vlan else b""
for kind in [b"\x88\xb5"] * 20 + [b"\x88\xb6"]:
    link.send(ends + tag + kind + bytes(46))
PY
}
# comes FROM DEVICE TO, and NAMESPACE/DEVICE=COUNT...: what is said there, to whom, comes so often here.
settled=10.0.9.3
comes() {
    local said=("${@:1:3}") place listeners=() count=0
    shift 3
    for place in "$@"; do
        place=${place%=*} count=$((count + 1))
        rm -f "$work/$count.dump"
        ip netns exec "${place%/*}" tcpdump -n -e -l -Q in -i "${place#*/}" 'ether proto 0x88b5 or ether proto 0x88b6' >"$work/$count.seen" 2>"$work/$count.dump" &
        listeners+=($!)
        until_true has listening "$work/$count.dump"
    done
    says "${said[@]}"
    count=0
    for place in "$@"; do
        count=$((count + 1))
        [ "${place#*=}" = 0 ] || until_true has 0x88b6 "$work/$count.seen" || { echo "not at all: $place of ${said[*]}"; fails; }
    done
    # What came back or twice has been on its way no longer than this.
    pings "$a" $settled >/dev/null
    kill "${listeners[@]}" && wait "${listeners[@]}" || true
    count=0
    for place in "$@"; do
        count=$((count + 1))
        [ "$(grep -c 0x88b5 "$work/$count.seen")" = "${place#*=}" ] || { echo "not so: $place"; cat "$work/$count.seen"; fails; }
    done
}
everybody=ff:ff:ff:ff:ff:ff
comes "$a" eth0 $everybody "$a/eth0=0" "$b/eth0=20" "$c/br0=20"
comes "$b" eth0 $everybody "$b/eth0=0" "$a/eth0=20" "$c/br0=20"
comes "$c" br0 $everybody "$a/eth0=20" "$b/eth0=20"
comes "$c" br0 06:00:00:00:09:09 "$a/eth0=20" "$b/eth0=20"
comes "$c" br0 $mac_b "$a/eth0=0" "$b/eth0=20"
for reason in 'bond-input *not-active' 'bond-input *unknown-station' 'l2-learn *came-back'; do
    ctl router show errors | has "$reason" || fails
done
# Neither host is believed to be behind the bond, nor is b when c says something in its name; but when that is where it is.
known() { ovs-appctl fdb/show br0 | has -E "^ +$1 +0 +$2"; }
known 1 $mac_a && known 2 "$mac_b" || fails
forges() { on "$c" /usr/bin/python3 -c "import socket, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('br0', 0))
link.send(bytes.fromhex(sys.argv[1]).ljust(60, b'\\0'))" "ffffffffffff${mac_b//:/}$1"; }
asks() { echo "08060001080006040001${mac_b//:/}0a000902000000000000$1"; }
echoes() { json '[.[] | select(.node == "l2-learn" and .reason == "came-back") | .packets] | add // 0' router show errors; }
before=$(echoes)
forges "$(asks 0a000903)"
came() { [ "$(echoes)" -gt "$before" ]; }
until_true came || fails
known 2 "$mac_b" || fails
forges "$(asks 0a000902)"
until_true known 3 "$mac_b" || fails
pings "$b" 10.0.9.3 >/dev/null || fails
known 2 "$mac_b" || fails

# a's wire is cut: c's bridge is told where a is now, and nobody of the others moves; it comes back.
ip netns exec "$c" tcpdump -n -e -l -i "$second" rarp >"$work/told" 2>"$work/told.dump" &
daemons+=($!)
until_true has listening "$work/told.dump"
ip -n "$c" link set "$first" down
until_true enabled 1 || fails
until_true has "$mac_a > $everybody" "$work/told" || fails
is_at() { [ "$(wire "$1")" = "$2" ]; }
until_true is_at $mac_a "$second" || fails
pings "$a" 10.0.9.3 >/dev/null && pings "$b" 10.0.9.3 >/dev/null || fails
is_at $mac_b "$second" || fails
ip -n "$c" link set "$first" up
until_true enabled 2 || fails
pings "$a" 10.0.9.3 >/dev/null || fails
is_at $mac_a "$first" || fails
is_at $mac_b "$second" || fails
comes "$a" eth0 $everybody "$a/eth0=0" "$b/eth0=20" "$c/br0=20"

# The same in a VLAN: both hosts are in it without a tag, the bond with one, and c's bridge sends it back as it is.
vs set Port v1 tag=10 -- set Port v2 tag=10
settled=10.0.9.2
until_true pings "$a" $settled || fails
comes "$a" eth0 $everybody "$a/eth0=0" "$b/eth0=20"
comes "$b" eth0 $everybody "$b/eth0=0" "$a/eth0=20"
comes "$c" br0.10 $everybody "$a/eth0=20" "$b/eth0=20"

# By connections nothing is carried without LACP, here and in Open vSwitch: that is told, and both wires are not there.
vs clear Port v1 tag -- clear Port v2 tag
vs set Port bond0 bond_mode=balance-tcp || true
until_true column Interface v3 error '.*balance-tcp carries nothing without lacp.*' || fails
vs set Port bond0 bond_mode=balance-slb
until_true enabled 2 || fails
until_true pings "$a" 10.0.9.3 || fails
vs del-br br0
is length 0 ports && is length 0 bridge
echo "ok $name"
