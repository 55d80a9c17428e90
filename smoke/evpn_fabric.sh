#!/usr/bin/env bash
# EVPN over two leaves and two spines, each a router of ours with FRR's BGP beside it, by unnumbered links: a network that
# both leaves have (types 2 and 3), and networks of one leaf each that the other routes to (type 5), in the default VRF and,
# of the same addresses, in another where this kernel has VRFs (twin_bridge.sh has type 5 in one without them). When a spine
# dies all go on over the other (docs/evpn.md).
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/frr.bash"
fail() { echo "$1"; exit 1; }
frr_is_there
# Hosts a and b are of the network of their leaf, 10.0.1.0/24 and 10.0.2.0/24, and in the VRF red so are e and f; c and d
# of 10.0.9.0/24 at both.
hosts
ip netns add "vly-$$-probe"
vrfs=
ip -n "vly-$$-probe" link add red type vrf table 1001 2>/dev/null && vrfs=yes || echo "no VRFs in this kernel: those of FRR are not tried"
c=vly-$$-c d=vly-$$-d e=vly-$$-e f=vly-$$-f
while read -r host device number address; do
    ip netns add "$host"
    ip -n "$r" link add "$device" type veth peer name eth0 netns "$host"
    ip -n "$host" link set eth0 address "06:00:00:00:00:0$number"
    ip -n "$host" addr add "$address/24" dev eth0
    ip -n "$host" link set eth0 up
    on "$host" ethtool -K eth0 tx off gso off tso off gro off >/dev/null
    ip -n "$r" link set "$device" up
done <<END
$c w1 1 10.0.9.1
$d w2 2 10.0.9.2
$e x1 3 10.0.1.2
$f x2 4 10.0.2.2
END
ip -n "$e" route add default via 10.0.1.1
ip -n "$f" route add default via 10.0.2.1
fabric_wires

# fabric NUMBER NAME AS PORT…: starts a router, and FRR with BGP on these ports: the underlay's addresses go to all of them,
# and EVPN, of which $evpn says more.
fabric() {
    local number=$1 name=$2 as=$3 port
    shift 3
    {
        printf 'fpm address 127.0.0.1\nip prefix-list own permit 10.255.0.0/24 le 32\n%s' "$routes"
        for port in "$@"; do printf 'interface %s\n ipv6 nd ra-interval 1\n no ipv6 nd suppress-ra\nexit\n' "$port"; done
        printf 'router bgp %s\n bgp router-id 10.255.0.%s\n no bgp ebgp-requires-policy\n bgp bestpath as-path multipath-relax\n timers bgp 1 3\n' "$as" "$number"
        for port in "$@"; do printf ' neighbor %s interface remote-as external\n neighbor %s timers connect 1\n' "$port" "$port"; done
        printf ' address-family ipv4 unicast\n  redistribute connected\n  maximum-paths 4\n'
        for port in "$@"; do printf '  neighbor %s prefix-list own out\n' "$port"; done
        printf ' exit-address-family\n address-family l2vpn evpn\n'
        for port in "$@"; do printf '  neighbor %s activate\n' "$port"; done
        printf '%s exit-address-family\n%s' "$evpn" "${vrfs:+$of_vrf}"
    } >"$work/frr$number.conf"
    fabric_router "$number" "$name" zebra bgpd
}
routes='ip prefix-list nets permit 10.0.0.0/16 ge 24
route-map nets permit 10
 match ip address prefix-list nets
exit
vni 100
'
evpn='  advertise-all-vni
  advertise ipv4 unicast route-map nets
'
in_red() {
    printf '[vrf.red]\ntwin = { table = 1001, netns = "%s" }\n' "$2"
    frr_port guest "x$1" "10.0.$1.1/24" "$2"
    printf 'vrf = "red"\n'
    printf '[port.within]\nkind = "bvi"\nvrf = "red"\nrouting = true\nmtu = 1400\n[bridge.red]\nports = ["within", "vx200"]\nevpn = { netns = "%s", name = "br200", routes = true }\n' "$2"
}
for n in 1 2; do
    space=$(frr_name $n)
    of_vrf="vrf red
 vni 200
exit-vrf
router bgp 6500$n vrf red
 bgp router-id 10.255.0.$n
 address-family ipv4 unicast
  redistribute connected
 exit-address-family
 address-family l2vpn evpn
  advertise ipv4 unicast
"
    frr_space $n
    {
        fabric_head $n
        frr_port host "v$n" "10.0.$n.1/24" "$space"
        for m in 1 2; do frr_port "s$m" "l${n}s$m" "fe80::$n/64" "$space"; done
        printf '[port.own]\nkind = "bvi"\naddresses = ["10.255.0.%s/32"]\ntwin = { netns = "%s" }\n[bridge.own]\nports = ["own"]\n' $n "$space"
        printf '[port.lan1]\nkind = "af_packet"\ndevice = "w%s"\n' $n
        for vni in 7 100 ${vrfs:+200}; do printf '[port.vx%s]\nkind = "vxlan"\nvni = %s\nlocal = "10.255.0.%s"\nlearn_remotes = false\nmtu = 1400\n' $vni $vni $n; done
        printf '[port.inner]\nkind = "bvi"\nrouting = true\nmtu = 1400\n[bridge.routes]\nports = ["inner", "vx100"]\nevpn = { netns = "%s", routes = true }\n' "$space"
        [ -z "$vrfs" ] || in_red $n "$space"
        printf '[bridge.lan]\nports = ["lan1", "vx7"]\nanswer_arp = true\nevpn = { netns = "%s" }\n' "$space"
    } >"$work/leaf$n.toml"
    fabric $n "leaf$n" 6500$n s1 s2
done
routes='' evpn='' of_vrf=''
for m in 1 2; do
    frr_space $((m + 2))
    { fabric_head $((m + 2)); for n in 1 2; do frr_port "l$n" "s${m}l$n" "fe80::10$m/64" "$(frr_name $((m + 2)))"; done; } >"$work/spine$m.toml"
    fabric $((m + 2)) "spine$m" 65100 l1 l2
done

# The network of both: who is where is known, and frames pass.
shown() { json ".[] | select(.bridge == \"$2\" and ($3))" "leaf$1" show evpn | has .; }
until_true shown 1 lan '.flooded_to == ["10.255.0.2"]'
until_true pings "$c" 10.0.9.2
until_true shown 1 lan '.stations >= 1 and .told_stations >= 1'

# Networks of one: a route of type 5 each, by the router of the other leaf; none of them is the fabric's.
way() { json '.routes[] | select(.prefix == "10.0.2.0/24") | .next_hops[] | select(.usable) | [.address, .port] | join(" ")' leaf1 show routes --source dynamic; }
is_way() { [ "$(way)" = "10.255.0.2 inner" ]; }
until_true is_way
until_true pings "$a" 10.0.2.2
# In red likewise, by a router's MAC address and a VNI of its own; none hears of the other's.
red() { json '.routes[] | select(.prefix == "10.0.2.0/24") | .next_hops[] | select(.usable) | [.address, .port] | join(" ")' leaf1 show routes --vrf red; }
echoes() { on "$1" awk '/^Icmp: [0-9]/ { print $9 }' /proc/net/snmp; }
twin() { json '.[] | select(.name == "red") | .twin' leaf1 show vrfs; }
red_goes() {
    local before
    until_true pings "$e" 10.0.2.2
    [ "$(red)" = "10.255.0.2 within" ] || fail "red's way: $(red)"
    before=$(echoes "$b")
    pings "$e" 10.0.2.2 >/dev/null || fail "red's pings are lost"
    [ "$(echoes "$b")" = "$before" ] || fail "the default VRF's host heard those of red"
    # Somebody removes the kernel's VRF: it is made again, and so are its routes.
    before=$(twin)
    ip -n "$(frr_name 1)" link del red
    until_true eval '[ "$(twin)" -gt $before ]'
    until_true pings "$e" 10.0.2.2
}
[ -z "$vrfs" ] || red_goes
json '.routes[].prefix' spine1 show routes --source dynamic >"$work/prefixes.txt"
{ has 10.255.0.1 "$work/prefixes.txt" && ! has '10\.0\.' "$work/prefixes.txt"; } || fail "$(cat "$work/prefixes.txt")"

# A spine dies: both go on over the other.
kill -9 "${routers[spine1]}"
until_true pings "$c" 10.0.9.2
until_true pings "$a" 10.0.2.2
[ -z "$vrfs" ] || until_true pings "$e" 10.0.2.2
shown 1 lan '.flooded_to == ["10.255.0.2"]' || fail "a spine took the other leaf with it"

# A leaf dies: its route and its stations go.
kill -9 "${routers[leaf2]}"
until_true shown 1 lan '.stations == 0 and .flooded_to == []'
until_true eval '[ -z "$(way)$(red)" ]'
echo "ok $name"
