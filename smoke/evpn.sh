#!/usr/bin/env bash
# EVPN between two leaves, each a router of ours with FRR's BGP beside it (docs/evpn.md): who is beyond the tunnel comes
# by BGP, nothing is learned from its packets; a host that moves is followed; ARP is answered for hosts beyond it; what
# a daemon told goes with its session, or `hold` after it died.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/frr.bash"
fail() { echo "$1"; exit 1; }
frr_is_there
# Hosts a (leaf 1) and b (leaf 2) are of one network, 10.0.9.1 and 10.0.9.2; so is c, which moves.
bridged_hosts
ip -n "$r" link add u1 type veth peer name u2
ip -n "$r" link add w1 type veth peer name w2
for end in u1 u2 w1 w2; do ip -n "$r" link set "$end" up; done

# leaf N DEVICE…: a router with these hosts in a bridge, whose tunnel BGP tells of.
leaf() {
    local n=$1 space device
    space=$(frr_name "$n")
    frr_space "$n"
    {
        fabric_head "$n"
        frr_port up "u$n" "192.0.2.$n/24" "$space"
        for device in "${@:2}"; do printf '[port.%s]\nkind = "af_packet"\ndevice = "%s"\n' "$device" "$device"; done
        cat <<END
[port.vx]
kind = "vxlan"
vni = 7
local = "192.0.2.$n"
learn_remotes = false
mtu = 1400
[bridge.lan]
ports = ["vx", $(printf '"%s", ' "${@:2}")]
answer_arp = true
evpn = { netns = "$space", hold = "3s" }
END
    } >"$work/leaf$n.toml"
    cat >"$work/frr$n.conf" <<END
router bgp 65001
 bgp router-id 192.0.2.$n
 no bgp default ipv4-unicast
 timers bgp 1 3
 neighbor 192.0.2.$((3 - n)) remote-as 65001
 neighbor 192.0.2.$((3 - n)) timers connect 1
 address-family l2vpn evpn
  neighbor 192.0.2.$((3 - n)) activate
  advertise-all-vni
END
    fabric_router "$n" "leaf$n" zebra bgpd
}
leaf 1 v1 v3
leaf 2 v2 w2

# Type 3: each floods to the other. Type 2: who is there is known at the other without a packet of its own.
shown() { json ".[0] | select($2)" "leaf$1" show evpn | has .; }
until_true shown 1 '.flooded_to == ["192.0.2.2"]'
until_true shown 2 '.flooded_to == ["192.0.2.1"]'
until_true pings "$a" 10.0.9.2
station() { json ".stations[] | select(.mac == \"$2\") | (.remote // .port)" "leaf$1" mac show; }
is_at() { [ "$(station "$1" "$2")" = "$3" ]; }
until_true is_at 1 06:00:00:00:00:02 192.0.2.2
until_true is_at 2 06:00:00:00:00:01 192.0.2.1
until_true shown 1 '.told_addresses >= 1 and .addresses >= 1'

# ARP for a host beyond the tunnel is answered here: no question comes out of the other leaf.
on "$b" timeout 60 tcpdump -n -l -i eth0 'arp and ether src 06:00:00:00:00:01 and ether broadcast' >"$work/asked.txt" 2>"$work/dump.txt" &
until_true has listening "$work/dump.txt"
ip -n "$a" neigh flush dev eth0
pings "$a" 10.0.9.2 >/dev/null || fail "no answer"
[ ! -s "$work/asked.txt" ] || fail "a question was flooded: $(cat "$work/asked.txt")"

# c speaks at leaf 1, then at leaf 2, then at leaf 1 again: both follow it.
# send NAMESPACE DEVICE: a frame of c's.
send() { on "$1" /usr/bin/python3 -c "
import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(('$2', 0))
s.send(bytes.fromhex('ffffffffffff06000000000388b5') + bytes(46))"; }
for turn in 1 2; do
    send "$c" eth0
    until_true is_at 2 06:00:00:00:00:03 192.0.2.1
    is_at 1 06:00:00:00:00:03 v3 || fail "c is not at leaf 1"
    send "$r" w1
    until_true is_at 1 06:00:00:00:00:03 192.0.2.2
    is_at 2 06:00:00:00:00:03 w2 || fail "c is not at leaf 2"
done

# The other leaf's router dies: the session ends, and what it told goes. Started again, it is back.
gone() { shown "$1" '.stations == 0 and .flooded_to == []'; }
kill -9 "${routers[leaf2]}"
until_true gone 1
router leaf2
disown "${daemons[-1]}"
until_true shown 2 '.flooded_to == ["192.0.2.1"] and .stations >= 1'
until_true pings "$a" 10.0.9.2
until_true is_at 1 06:00:00:00:00:02 192.0.2.2

# FRR dies without a word: what it told is asked for, and goes as nobody means it. It starts anew.
forgotten() { has 'what nobody meant any more of EVPN is forgotten' "$work/leaf1.log"; }
forgotten && fail "what is meant was forgotten"
for daemon in zebra bgpd; do kill -9 "$(cat "$work/frr1/$daemon.pid")"; done
until_true gone 1
forgotten || fail "it went before it was asked for"
frr_start 1 zebra bgpd
until_true shown 1 '.flooded_to == ["192.0.2.2"]'
until_true pings "$a" 10.0.9.2
ctl leaf1 config check "$work/leaf1.toml" >/dev/null
ctl leaf1 bridge set lan evpn off >/dev/null
has_bridge() { ip -n "$(frr_name 1)" link show lan; }
until_true eval '! has_bridge'
echo "ok $name"
