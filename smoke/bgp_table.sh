#!/usr/bin/env bash
# A large table from a BGP peer: gobgp announces it to FRR beside us, and packets follow it. The session is reset, routes
# go and come again, and flows on other routes lose nothing meanwhile; it outlives a flood to the address it runs on; the
# peer dies, and they are gone for good. ROUTES (40000) of IPv4; 255000 is as many as the sources of this project had.
#
#   host a ── volleyd ── host b: gobgpd            beside volleyd: zebra, bgpd
# Two: it counts packets lost while the machine is busy with a table.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/frr.bash"
readonly routes4=${ROUTES:-40000} routes6=10000
# gobgp 3.10 leaves out the last of what it reads, up to a thousand.
readonly more=1000
fail() { echo "$1"; exit 1; }
frr_is_there
command -v gobgpd >/dev/null || skip "no gobgpd"
hosts
frr_space 1
{
    printf '[workers]\ncount = 1\n[memory]\nbuffers = 8192\nroutes = 300000\nip6_routes = 30000\n'
    frr_port p1 v1 '10.0.1.1/24", "2001:db8:1::1/64' "$(frr_name 1)"
    frr_port p2 v2 '10.0.2.1/24", "2001:db8:2::1/64' "$(frr_name 1)"
    printf '[fpm]\nnetns = "%s"\nhold = "10s"\n' "$(frr_name 1)"
} >"$work/router.toml"
router router
ip -n "$a" addr add 2001:db8:1::2/64 dev eth0 nodad
ip -n "$b" addr add 2001:db8:2::2/64 dev eth0 nodad
ip -n "$a" route add default via 2001:db8:1::1
ip -n "$b" route add default via 2001:db8:2::1
# What the peer announces is all at home there.
ip -n "$b" route add local 20.0.0.0/6 dev lo
ip -n "$b" route add local 3000::/16 dev lo
cat >"$work/frr1.conf" <<CONF
fpm address 127.0.0.1
router bgp 65001
 bgp router-id 10.0.2.1
 no bgp ebgp-requires-policy
 timers bgp 1 5
 neighbor 10.0.2.2 remote-as 65002
 neighbor 10.0.2.2 timers connect 1
 address-family ipv6 unicast
  neighbor 10.0.2.2 activate
 exit-address-family
exit
CONF
frr_start 1 zebra bgpd

# The peer.
cat >"$work/gobgp.toml" <<CONF
[global.config]
as = 65002
router-id = "10.0.2.2"
[[neighbors]]
[neighbors.config]
neighbor-address = "10.0.2.1"
peer-as = 65001
[neighbors.timers.config]
connect-retry = 1
hold-time = 5
keepalive-interval = 1
idle-hold-time-after-reset = 1
[[neighbors.afi-safis]]
[neighbors.afi-safis.config]
afi-safi-name = "ipv4-unicast"
[[neighbors.afi-safis]]
[neighbors.afi-safis.config]
afi-safi-name = "ipv6-unicast"
CONF
ip netns exec "$b" gobgpd -f "$work/gobgp.toml" --api-hosts 127.0.0.1:50051 >"$work/gobgpd.log" 2>&1 &
peer=$!
daemons+=($peer)
peer_says() { ip netns exec "$b" gobgp -u 127.0.0.1 -p 50051 "$@"; }
until_true peer_says neighbor
# Links come up a moment after a router has started.
until_true pings "$a" 10.0.2.2
for family in 4 6; do
    count=routes$family
    python3 "$root/smoke/bgp_table.py" $((${!count} + more)) $family "$work/table$family.mrt"
done
ip netns exec "$a" ping -q -i 0.02 -W 5 10.0.2.2 >"$work/pings" &
pinging=$!
inject() {
    peer_says mrt inject global "$work/table4.mrt" --nexthop 10.0.2.2 >"$work/inject4.log"
    peer_says mrt inject global "$work/table6.mrt" --nexthop 2001:db8:2::2 --no-ipv4 >"$work/inject6.log"
}
inject

bgp() { frr 1 'show bgp neighbors 10.0.2.2 json' | jq -r ".[].$1"; }
announced() { peer_says global rib summary -a "$1" -j | jq .num_destination; }
# Asked for until it grows no more, and not again: it costs the peer the processor that its session needs.
four=0 six=0
all_are_announced() {
    local before="$four $six"
    sleep 1
    four=$(announced ipv4) six=$(announced ipv6)
    [ "$four" -ge $routes4 ] && [ "$six" -ge $routes6 ] && [ "$four $six" = "$before" ]
}
all_are_there() { [ "$(json .active router show fpm)" = $((four + six)) ]; }
# Whole tables take longer than one route.
patiently() { until_true "$@" || until_true "$@" || until_true "$@" || until_true "$@"; }
# Packets of both families reach the first and the last of them: /24s one behind the other.
last=$((routes4 - 1))
last4=$((20 + (last >> 16))).$((last >> 8 & 255)).$((last & 255)).1
last6=3000:0:$(printf %x $((routes6 - 1)))::1
packets_follow() {
    local far
    for far in 20.0.0.1 "$last4"; do pings "$a" $far || return 1; done
    for far in 3000::1 "$last6"; do on "$a" ping -6 -q -c 1 -W 2 $far || return 1; done
}
none_follows() { ! pings "$a" 20.0.0.1 && ! on "$a" ping -6 -q -c 1 -W 1 3000::1; }
# Now and then it leaves out more than that, and is told once more.
until_true all_are_announced || { echo "announced: $four and $six"; inject; patiently all_are_announced; }
patiently all_are_there
until_true packets_follow
ctl router lookup 20.7.7.7 | has 10.0.2.2 || fail "a route leads elsewhere"

# A reset takes them away, and brings them back.
times() { bgp connectionsEstablished; }
before=$(times)
frr 1 'clear bgp 10.0.2.2'
was_reset() { [ "$(times)" -gt "$before" ]; }
patiently was_reset
patiently all_are_there
until_true packets_follow
kill -INT $pinging
wait $pinging || true
lost=$(awk '/packets transmitted/ { print $1 - $4 }' "$work/pings")
[ "$lost" -le 1 ] || { cat "$work/pings"; fail "$lost pings were lost while routes came and went"; }

# A flood to the very address, longer than the hold time, as fast as this host can: UDP, and TCP to the port of BGP.
before=$(times)
mac=$(ip -n "$r" -j link show v1 | jq -r '.[0].address')
flood() {
    on "$a" "$bin/volley-lab" traffic af_packet:eth0 --rate max --seconds 4 --frame-bytes 128 --destination-mac "$mac" \
        --source 10.0.1.7 --destination 10.0.2.1 --destination-port 179 "$@" >>"$work/flood.log" 2>&1
}
flood --kind udp4
flood --kind tcp4
[ "$(times) $(bgp bgpState)" = "$before Established" ] || fail "the session did not outlive a flood"
ctl router show errors | has twin-output || fail "the flood met no allowance"
all_are_there || fail "routes went with the flood"

# The peer dies.
kill -9 $peer
patiently none_follows
echo "ok $name"
