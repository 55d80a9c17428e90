#!/usr/bin/env bash
# BGP unnumbered: two leaves, two spines, each a router of ours with FRR beside it. Links between them have no IPv4
# network and no addresses but those of IPv6's links: zebra finds its neighbours by router advertisements, and BGP tells
# IPv4 routes by next hops of IPv6 (RFC 8950), which come by FPM. When a spine dies traffic goes on over the other.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/frr.bash"
fail() { echo "$1"; exit 1; }
frr_is_there
hosts
fabric_wires

# fabric NUMBER NAME AS PORT=DEVICE=ADDRESS…: a router, and FRR with BGP on all its ports but the hosts'.
fabric() {
    local number=$1 name=$2 as=$3 port device address space
    shift 3
    space=$(frr_name "$number")
    frr_space "$number"
    fabric_head "$number" >"$work/$name.toml"
    {
        printf 'fpm address 127.0.0.1\n'
        for port in "$@"; do
            [[ $port == host* ]] || printf 'interface %s\n ipv6 nd ra-interval 1\n no ipv6 nd suppress-ra\nexit\n' "${port%%=*}"
        done
        printf 'router bgp %s\n bgp router-id 10.255.0.%s\n no bgp ebgp-requires-policy\n bgp bestpath as-path multipath-relax\n' "$as" "$number"
        printf ' timers bgp 1 3\n'
    } >"$work/frr$number.conf"
    for port in "$@"; do
        IFS== read -r port device address <<<"$port"
        frr_port "$port" "$device" "$address" "$space" >>"$work/$name.toml"
        [ "$port" = host ] || printf ' neighbor %s interface remote-as external\n neighbor %s timers connect 1\n' "$port" "$port" >>"$work/frr$number.conf"
    done
    printf ' address-family ipv4 unicast\n  redistribute connected\n  maximum-paths 4\n exit-address-family\nexit\n' >>"$work/frr$number.conf"
    fabric_router "$number" "$name" zebra bgpd
}
for n in 1 2; do fabric $n "leaf$n" 6500$n "host=v$n=10.0.$n.1/24" "s1=l${n}s1=fe80::$n/64" "s2=l${n}s2=fe80::$n/64"; done
for m in 1 2; do fabric $((m + 2)) "spine$m" 65100 "l1=s${m}l1=fe80::10$m/64" "l2=s${m}l2=fe80::10$m/64"; done

# Each leaf has two ways to the other's host, by addresses of IPv6, and packets pass.
ways() { json "[.routes[] | select(.prefix == \"$2\") | .next_hops[] | select(.usable and (.address | startswith(\"fe80::\")))] | length" "$1" show routes --source dynamic; }
has_ways() { [ "$(ways "$1" "$2")" = "$3" ]; }
until_true has_ways leaf1 10.0.2.0/24 2
until_true has_ways leaf2 10.0.1.0/24 2
until_true pings "$a" 10.0.2.2

# The kernel beside it hears what its neighbours advertise, but does not follow it: no default route, no address.
{ ip -n "$(frr_name 1)" -6 route | has 'proto ra'; } && fail "a neighbour's advertisement led the kernel elsewhere"

# A spine has no address of IPv4 at all: it says so (RFC 7600), and the leaves speak with theirs.
traced() { on "$a" traceroute -n -q 1 -w 2 10.0.2.2 | has -Pzo '(?s)1  10\.0\.1\.1 .*2  192\.0\.0\.8 .*3  10\.0\.2\.1 .*4  10\.0\.2\.2 '; }
until_true traced

# One dies: the ways over it go, traffic goes on.
kill -9 "${routers[spine1]}"
until_true has_ways leaf1 10.0.2.0/24 1
until_true has_ways leaf2 10.0.1.0/24 1
until_true pings "$a" 10.0.2.2
echo "ok $name"
