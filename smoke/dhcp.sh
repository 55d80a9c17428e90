#!/usr/bin/env bash
# DHCP over the twins of ports, by the programs that Debian has: isc-dhcp-relay carries a host's requests to a server
# beyond us, with option 82, and the answers back; udhcpc gets an address for a port of ours, and releases it.
#
#   host a: udhcpc ── p1 │ volleyd │ p2 ── host b: dnsmasq         beside volleyd: dhcrelay, udhcpc
#                       p3 ── host c: dnsmasq
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
for program in dhcrelay udhcpc dnsmasq; do command -v $program >/dev/null || skip "no $program"; done
hosts
c=vly-$$-c k=vly-$$-k
ip netns add "$c"
ip -n "$r" link add v3 type veth peer name eth0 netns "$c"
ip -n "$r" link set v3 up
ip -n "$c" addr add 10.0.3.2/24 dev eth0
ip -n "$c" link set eth0 up
on "$c" ethtool -K eth0 tx off >/dev/null
ip netns add "$k"
ip -n "$k" link set lo up
{
    two_ports af_packet
    printf '[port.p3]\nkind = "af_packet"\ndevice = "v3"\n'
} | sed "/^device/a twin = { netns = \"$k\" }" >"$work/router.toml"
router router
until_true ip -n "$k" link show p3

# A server that gives addresses of a's network to those alone whose relay names port p1.
server() {
    ip netns exec "$1" dnsmasq --keep-in-foreground --conf-file=/dev/null --port=0 --interface=eth0 --log-dhcp \
        --log-facility=- --dhcp-leasefile="$work/leases.${1##*-}" --pid-file= "${@:2}" >"$work/dnsmasq.${1##*-}.log" 2>&1 &
    daemons+=($!)
}
server "$b" --dhcp-circuitid=set:first,p1 --dhcp-range=tag:first,10.0.1.100,10.0.1.120,255.255.255.0,1h --dhcp-option=3,10.0.1.1
ip netns exec "$k" dhcrelay -4 -d -a -id p1 -iu p2 10.0.2.2 >"$work/dhcrelay.log" 2>&1 &
daemons+=($!)

# client NAMESPACE DEVICE SCRIPT FLAG...
client() {
    ip netns exec "$1" env VOLLEY="$bin/volley" VOLLEY_SOCKET="$work/router.sock" STATE="${STATE_OF_P3:-$work}" \
        udhcpc -f -i "$2" -s "$3" "${@:4}" >>"$work/udhcpc.log" 2>&1
}
cat >"$work/host" <<'HOST'
#!/bin/sh
[ "$1" != bound ] || ip addr add "$ip/$mask" dev "$interface"
HOST
chmod 755 "$work/host"
ip -n "$a" addr flush dev eth0
leases_one() { client "$a" eth0 "$work/host" -q -n; }
until_true leases_one
leased=$(ip -n "$a" -j addr show eth0 | jq -r '[.[0].addr_info[] | select(.family == "inet")][0].local')
case $leased in 10.0.1.1[0-2][0-9]) ;; *) fail "a was given $leased" ;; esac
ip -n "$a" route replace default via 10.0.1.1
until_true pings "$a" 10.0.2.2

# A port of ours as a client: address and default route, and neither when it is released.
server "$c" --dhcp-range=10.0.3.50,10.0.3.60,255.255.255.0,1h --dhcp-option=3,10.0.3.2
# Without a folder for what it sets, it says so and sets nothing; where it can make one, it does.
lease_of_p3() { on "$k" env VOLLEY="$bin/volley" VOLLEY_SOCKET="$work/router.sock" STATE="$1" interface=p3 ip=10.0.3.70 mask=24 "$root/scripts/udhcpc-volley" bound; }
: >"$work/file"
ends 1 lease_of_p3 "$work/file/state" 2>"$work/refused.txt"
has '10.0.3.70/24 is not set: nothing can be written' "$work/refused.txt" || { cat "$work/refused.txt"; fail "it failed in silence"; }
! ctl router show ports | has 10.0.3.70 || fail "it set what it cannot take back"
STATE_OF_P3=$work/state/of/p3
client_of_p3() { client "$k" p3 "$root/scripts/udhcpc-volley" -R -t 100 -p "$work/udhcpc.pid"; }
client_of_p3 &
daemons+=($!)
has_lease() { [ -s "$STATE_OF_P3/dhcp.p3" ] && ctl router show routes | has '0.0.0.0/0 .*10.0.3.2'; }
until_true has_lease
ours=$(cut -d ' ' -f 1 "$STATE_OF_P3/dhcp.p3")
ctl router show ports | has "$ours" || fail "p3 has no address"
ip -n "$c" route add default via "${ours%/*}"
until_true pings "$a" 10.0.3.2
kill "$(cat "$work/udhcpc.pid")"
is_released() { ! ctl router show routes | has '0.0.0.0/0' && ! ctl router show ports | has "$ours"; }
until_true is_released
echo "ok $name: a has $leased, p3 had $ours"
