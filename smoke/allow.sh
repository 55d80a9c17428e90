#!/usr/bin/env bash
# Allowed sources against the Linux stack: by network, by the routes of a VRF as they come and go, IPv4 and IPv6; ARP, or
# nothing but IP.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
for host in "$a:1" "$b:2"; do
    ip -n "${host%:*}" addr add "2001:db8:${host##*:}::2/64" dev eth0 nodad
    ip -n "${host%:*}" route add default via "2001:db8:${host##*:}::1"
done
# Host a speaks from these as well; b knows the way back.
for address in 10.7.0.1/32 10.9.0.1/32 2001:db8:7::1/128; do ip -n "$a" addr add "$address" dev lo; done
{
    two_ports af_packet | sed 's/\(10.0.\)\(.\)\(.1.24"\)\]/\1\2\3, "2001:db8:\2::1\/64"]/'
    printf '[vrf.customers]\n'
    route() { printf '[[route]]\nprefix = "%s"\nvia = "%s"\n' "$@"; }
    route 10.7.0.0/16 10.0.1.2
    route 10.9.0.0/16 10.0.1.2
    route 2001:db8:7::/48 2001:db8:1::2
} >"$work/router.toml"
router router
from() { on "$a" ping -q -c 1 -W 1 -I "$1" "$2" >/dev/null; }
to4=10.0.2.2 to6=2001:db8:2::2
for source in 10.0.1.2 10.7.0.1 10.9.0.1; do until_true from $source $to4; done
until_true from 2001:db8:7::1 $to6

passes() { until_true from "$@" || { ctl router show errors; fail "$1 did not pass: $3"; }; }
stops() { ! from "$1" "$2" || fail "$1 passed: $3"; }
dropped() { ctl router show errors | has "allow-input.*$1"; }
ctl router port set p1 allow from 10.0.1.0/24 from 10.7.0.0/16 from 2001:db8:1::/64
passes 10.0.1.2 $to4 "it is listed"
passes 10.7.0.1 $to4 "it is listed"
passes 2001:db8:1::2 $to6 "it is listed"
stops 10.9.0.1 $to4 "it is not listed"
stops 2001:db8:7::1 $to6 "it is not listed"
dropped not-allowed

# By the routes of a VRF: who has one there comes in, beside those that are listed.
ctl router port set p1 allow from 10.0.1.0/24 vrf customers
stops 10.9.0.1 $to4 "the VRF has no route"
ctl router route add 10.9.0.0/16 via 10.0.2.2 port p2 vrf customers
passes 10.9.0.1 $to4 "the VRF has a route"
stops 10.7.0.1 $to4 "it is listed no more"
ctl router route del 10.9.0.0/16 vrf customers
stops 10.9.0.1 $to4 "the VRF has no route any more"

# Nothing but IP: nobody hears a's ARP.
ctl router port set p1 allow from 10.0.0.0/8 ip_only
ip -n "$a" neigh flush dev eth0
stops 10.0.1.2 $to4 "its ARP was answered"
until_true dropped not-ip
ctl router port set p1 allow off
passes 10.0.1.2 $to4 "anybody may"
passes 2001:db8:7::1 $to6 "anybody may"
echo "ok $name"
