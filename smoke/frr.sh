#!/usr/bin/env bash
# FRR beside two routers of ours: bgpd and ospfd speak over the twins of our ports, zebra tells us its
# routes by FPM, and ours forward by them. A session that is reset loses nothing; routes that are withdrawn
# go; zebra killed and started again changes nothing for the packets.
#
#   host a ── volleyd r1 ── 10.0.9.0/24 ── volleyd r2 ── host b          beside r1, r2: zebra, bgpd, ospfd
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/frr.bash"
fail() { echo "$1"; exit 1; }
frr_is_there
hosts
ip -n "$r" link add m1 type veth peer name m2
ip -n "$r" link set m1 up
ip -n "$r" link set m2 up

# Each router: its host's port, the link between, twins and FRR in a namespace of its own.
for n in 1 2; do
    frr_space $n
    {
        printf '[workers]\ncount = 1\n[memory]\nbuffers = 8192\n'
        frr_port host "v$n" "10.0.$n.1/24" "$(frr_name $n)"
        frr_port link "m$n" "10.0.9.$n/24\", \"2001:db8:9::$n/64" "$(frr_name $n)"
        printf '[fpm]\nnetns = "%s"\nhold = "5s"\n' "$(frr_name $n)"
    } >"$work/r$n.toml"
    router "r$n"
    cat >"$work/frr$n.conf" <<CONF
hostname r$n
interface link
 ip ospf area 0
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf network point-to-point
router ospf
 ospf router-id 10.0.9.$n
router bgp 6500$n
 bgp router-id 10.0.9.$n
 no bgp ebgp-requires-policy
 timers bgp 2 6
 neighbor 10.0.9.$((3 - n)) remote-as 6500$((3 - n))
 neighbor 10.0.9.$((3 - n)) timers connect 1
 address-family ipv4 unicast
  network 10.0.$n.0/24
  redistribute static
CONF
    frr_start $n zebra ospfd bgpd staticd
done

# Routes arrive, and the hosts reach each other by them.
has_route() { ctl "$1" show routes | has -P "$2.*fpm/20"; }
until_true has_route r1 '10.0.2.0/24'
until_true has_route r2 '10.0.1.0/24'
until_true pings "$a" 10.0.2.2
frr 1 'show ip ospf neighbor' | has 'Full' || until_true frr_has 1 'show ip ospf neighbor' Full

# A route that comes, and goes.
frr 2 'configure terminal' -c 'ip route 10.7.0.0/16 blackhole'
until_true has_route r1 '10.7.0.0/16'
until_true eval "ctl r2 show routes | has -P '10.7.0.0/16.*fpm'"
frr 2 'configure terminal' -c 'no ip route 10.7.0.0/16 blackhole'
lacks() { ! ctl "$1" show routes | has "$2"; }
until_true lacks r1 10.7.0.0/16

# Zebra dies with nothing said; our routes stay, packets pass, and it finds them as they are.
sessions() { json .sessions "$1" show fpm; }
frr_kill 1 zebra
pings "$a" 10.0.2.2 >/dev/null || fail "routes went with zebra"
