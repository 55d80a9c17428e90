#!/usr/bin/env bash
# Networks that routes put on the link of a port with addresses: hosts there are found by ARP and
# neighbour discovery, and may be static. Who asks from an address of no link is answered.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
{
    two_ports af_packet | sed 's|"10.0.2.1/24"|"10.0.2.1/24", "2001:db8:2::1/64"|; s|"10.0.1.1/24"|"10.0.1.1/24", "2001:db8:1::1/64"|'
    printf '[arp]\nretry = "200ms"\n'
    printf '[[route]]\nprefix = "%s"\nport = "p2"\n' 10.0.7.0/24 2001:db8:7::/64
    printf '[[route]]\nprefix = "10.9.9.9/32"\nvia = "10.0.1.2"\n'
    printf '[[route]]\nprefix = "10.8.0.0/16"\nvia = { address = "10.0.7.2", port = "p2" }\n'
    printf '[[neighbor]]\naddress = "10.0.7.50"\nport = "p2"\nmac = "02:00:00:00:00:50"\n'
} >"$work/router.toml"
ip -n "$b" addr add 10.0.7.2/24 dev eth0
ip -n "$b" addr add 10.8.0.1/32 dev lo
ip -n "$a" addr add 2001:db8:1::2/64 dev eth0 nodad
ip -n "$a" route add default via 2001:db8:1::1
ip -n "$b" addr add 2001:db8:7::2/64 dev eth0 nodad
ip -n "$b" addr add 2001:db8:2::2/64 dev eth0 nodad
ip -n "$b" route add default via 2001:db8:2::1
router router
links_up() { json 'all(.link_up)' router show ports | has true; }
until_true links_up
neighbor() { json ".[] | select(.address == \"$1\").$2" router show neighbors; }
mac_of() { ip -n "$1" -j link show eth0 | jq -r '.[0].address'; }

until_true pings "$a" 2001:db8:1::1
for address in 10.0.7.2 2001:db8:7::2 10.8.0.1; do
    on "$a" ping -q -c 1 -W 10 "$address" >/dev/null || fail "nothing comes back from $address"
done
for address in 10.0.7.2 2001:db8:7::2; do
    [ "$(neighbor "$address" mac)" = "$(mac_of "$b")" ] || fail "$address was not learned"
done
# What is asked of us from there is answered and learned, too.
ip -n "$b" neigh flush dev eth0
on "$b" ping -q -c 1 -W 10 -I 10.0.7.2 10.0.2.1 >/dev/null || fail "a host of the on-link network asks in vain"

on "$b" timeout 20 tcpdump -n -i eth0 -c 1 -w "$work/static.pcap" 'arp host 10.0.7.50 or dst host 10.0.7.50' 2>"$work/dump.txt" &
until_true grep -q listening "$work/dump.txt"
on "$a" ping -q -c 1 -W 1 10.0.7.50 >/dev/null || true
wait $! || fail "nothing came for the static neighbour"
tshark -r "$work/static.pcap" -T fields -e eth.dst -e icmp.type 2>/dev/null | has -P '^02:00:00:00:00:50\t8$' || fail "the static MAC address was not used"

# A host asks from its loopback's address, as Linux does where arp_announce is 0.
ip -n "$a" addr add 10.9.9.9/32 dev lo
on "$a" sysctl -qw net.ipv4.conf.all.arp_announce=0 net.ipv4.conf.eth0.arp_announce=0
ip -n "$a" neigh flush all
on "$a" ping -q -c 1 -W 5 -I 10.9.9.9 10.0.1.1 >/dev/null || fail "an asker from a loopback address gets no answer"
[ -z "$(neighbor 10.9.9.9 mac)" ] || fail "an address of no link was learned"

# Somebody else's address is refused at check.
sed -i 's/10.0.7.50/10.0.6.50/' "$work/router.toml"
ends 1 "$bin/volley" config check "$work/router.toml" >"$work/check.txt" 2>&1 || { cat "$work/check.txt"; exit 1; }
grep -q '10.0.6.50 is in no network of p2' "$work/check.txt" || { cat "$work/check.txt"; fail "not told"; }
echo "ok $name"
