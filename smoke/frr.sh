#!/usr/bin/env bash
# FRR beside two routers of ours: bgpd and ospfd speak over the twins of our ports, zebra tells us its
# routes by FPM, and ours forward by them. Routes come and go at run time; an FRR that is killed takes no
# route with it, and what it does not tell again goes; a BGP session that is reset heals.
#
#   host a ── volleyd r1 ── 10.0.9.0/24 ── volleyd r2 ── host b          beside r1, r2: zebra, ospfd, bgpd
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/frr.bash"
fail() { echo "$1"; exit 1; }
frr_is_there
hosts
ip -n "$r" link add m1 type veth peer name m2
ip -n "$r" link set m1 up
ip -n "$r" link set m2 up
for n in 1 2; do
    frr_space $n
    {
        printf '[workers]\ncount = 1\n[memory]\nbuffers = 8192\nroutes = 10000\nip6_routes = 10000\n'
        frr_port host "v$n" "10.0.$n.1/24" "$(frr_name $n)"
        frr_port link "m$n" "10.0.9.$n/24" "$(frr_name $n)"
        printf '[fpm]\nnetns = "%s"\nhold = "10s"\n' "$(frr_name $n)"
    } >"$work/r$n.toml"
    router "r$n"
    cat >"$work/frr$n.conf" <<CONF
fpm address 127.0.0.1
interface link
 ip ospf area 0
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf network point-to-point
exit
interface host
 ip ospf area 0
 ip ospf passive
exit
router ospf
 ospf router-id 10.0.9.$n
exit
router bgp 6500$n
 bgp router-id 10.0.9.$n
 no bgp ebgp-requires-policy
 timers bgp 2 6
 neighbor 10.0.9.$((3 - n)) remote-as 6500$((3 - n))
 neighbor 10.0.9.$((3 - n)) timers connect 1
 address-family ipv4 unicast
  redistribute static
 exit-address-family
exit
CONF
    frr_start $n zebra staticd ospfd bgpd
done

# OSPF brings the way to the hosts, and packets take it.
has_route() { ctl "$1" show routes --source dynamic | has "$2"; }
lacks() { ! has_route "$@"; }
until_true has_route r1 '10.0.2.0/24'
until_true has_route r2 '10.0.1.0/24'
until_true pings "$a" 10.0.2.2
on "$a" traceroute -n -q 1 -w 5 10.0.2.2 | has -P '^ 2  10.0.9.2 ' || fail "packets go another way"
ctl r1 show routes --source dynamic | has -P '10.0.2.0/24 .*fpm/20' || fail "it is not said who brought the route"

# BGP: routes come, and go; a blackhole, too.
frr 2 'configure terminal' -c 'ip route 10.7.0.0/16 10.0.2.2' -c 'ip route 10.8.0.0/16 blackhole'
until_true has_route r1 '10.7.0.0/16'
until_true has_route r2 '10.8.0.0/16 .*blackhole'
ctl r1 lookup 10.7.1.1 | has '10.0.9.2' || fail "a BGP route leads elsewhere"
frr 2 'configure terminal' -c 'no ip route 10.7.0.0/16 10.0.2.2'
until_true lacks r1 '10.7.0.0/16'

# A reset session heals.
established() { frr 1 'show bgp neighbors 10.0.9.2 json' | jq -e '.[].bgpState == "Established"'; }
until_true established
frr 1 'clear bgp *'
until_true established
until_true has_route r1 '10.8.0.0/16'

# FRR dies without a word beside r1: routes stay, and packets go on. When it is back it tells them again,
# all but one that went meanwhile. (Their way back needs no FRR, for that of r2 has to notice.)
ctl r2 route add 10.0.1.0/24 via 10.0.9.1 >/dev/null
ip netns exec "$a" ping -i 0.05 -W 5 10.0.2.2 >"$work/pings" &
pinging=$!
frr_kill 1
is_alone() { [ "$(json .peer r1 show fpm)" = null ]; }
until_true is_alone
frr 2 'configure terminal' -c 'no ip route 10.8.0.0/16 blackhole'
has_route r1 '10.8.0.0/16' || fail "a route went with zebra"
frr_start 1 zebra staticd ospfd bgpd
is_back() { [ "$(json .sessions r1 show fpm)" -ge 2 ] && [ "$(json .peer r1 show fpm)" != null ]; }
until_true is_back
until_true lacks r1 '10.8.0.0/16'
has_route r1 '10.0.2.0/24' || fail "a route was swept that was told again"
until_true established
kill -INT $pinging
wait $pinging || true
all_answered "$work/pings" || { tail -n 40 "$work/pings"; fail "pings were lost while FRR was away"; }
echo "ok $name"
