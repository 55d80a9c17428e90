#!/usr/bin/env bash
# EVPN over two leaves and two spines, each a router of ours with FRR's BGP beside it, by unnumbered links: a network that
# both leaves have (types 2 and 3), and networks of one leaf each that the other routes to (type 5). When a spine dies
# both go on over the other (docs/evpn.md).
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/frr.bash"
fail() { echo "$1"; exit 1; }
frr_is_there
# Hosts a and b are of the network of their leaf, 10.0.1.0/24 and 10.0.2.0/24; c and d of 10.0.9.0/24 at both.
hosts
c=vly-$$-c d=vly-$$-d
for host in "$c:1" "$d:2"; do
    ip netns add "${host%:*}"
    ip -n "$r" link add "w${host##*:}" type veth peer name eth0 netns "${host%:*}"
    ip -n "${host%:*}" link set eth0 address "06:00:00:00:00:0${host##*:}"
    ip -n "${host%:*}" addr add "10.0.9.${host##*:}/24" dev eth0
    ip -n "${host%:*}" link set eth0 up
    on "${host%:*}" ethtool -K eth0 tx off gso off tso off gro off >/dev/null
    ip -n "$r" link set "w${host##*:}" up
done
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
        printf '%s exit-address-family\n' "$evpn"
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
for n in 1 2; do
    space=$(frr_name $n)
    frr_space $n
    {
        fabric_head $n
        frr_port host "v$n" "10.0.$n.1/24" "$space"
        for m in 1 2; do frr_port "s$m" "l${n}s$m" "fe80::$n/64" "$space"; done
        printf '[port.own]\nkind = "bvi"\naddresses = ["10.255.0.%s/32"]\ntwin = { netns = "%s" }\n[bridge.own]\nports = ["own"]\n' $n "$space"
        printf '[port.lan1]\nkind = "af_packet"\ndevice = "w%s"\n' $n
        for vni in 7 100; do printf '[port.vx%s]\nkind = "vxlan"\nvni = %s\nlocal = "10.255.0.%s"\nlearn_remotes = false\nmtu = 1400\n' $vni $vni $n; done
        printf '[port.inner]\nkind = "bvi"\nrouting = true\nmtu = 1400\n[bridge.routes]\nports = ["inner", "vx100"]\nevpn = { netns = "%s", routes = true }\n' "$space"
        printf '[bridge.lan]\nports = ["lan1", "vx7"]\nanswer_arp = true\nevpn = { netns = "%s" }\n' "$space"
    } >"$work/leaf$n.toml"
    fabric $n "leaf$n" 6500$n s1 s2
done
routes='' evpn=''
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
json '.routes[].prefix' spine1 show routes --source dynamic >"$work/prefixes.txt"
{ has 10.255.0.1 "$work/prefixes.txt" && ! has '10\.0\.' "$work/prefixes.txt"; } || fail "$(cat "$work/prefixes.txt")"

# A spine dies: both go on over the other.
kill -9 "${routers[spine1]}"
until_true pings "$c" 10.0.9.2
until_true pings "$a" 10.0.2.2
shown 1 lan '.flooded_to == ["10.255.0.2"]' || fail "a spine took the other leaf with it"

# A leaf dies: its route and its stations go.
kill -9 "${routers[leaf2]}"
until_true shown 1 lan '.stations == 0 and .flooded_to == []'
until_true eval '[ -z "$(way)" ]'
echo "ok $name"
