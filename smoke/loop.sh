#!/usr/bin/env bash
# Two ports of a bridge wired to each other: a broadcast goes round for ever. Storm control keeps the rest
# of the network alive, and the log says which station seems to be everywhere.
. "$(dirname "$0")/lib.sh"
hosts
ip -n "$r" link add v8 type veth peer name v9
for device in v8 v9; do
    on "$r" sysctl -qw "net.ipv6.conf.$device.disable_ipv6=1"
    ip -n "$r" link set "$device" up
done
{
    two_ports af_packet | grep -v addresses
    for number in 8 9; do printf '[port.p%s]\nkind = "af_packet"\ndevice = "v%s"\n' $number $number; done
    cat <<'TOML'
[port.own]
kind = "bvi"
addresses = ["10.0.1.1/24"]
[bridge.lan]
ports = ["p1", "p2", "own", { port = "p8", storm_pps = 50 }, { port = "p9", storm_pps = 50 }]
TOML
} >"$work/router.toml"
router router
stormed() {
    on "$a" ping -q -c 1 -W 1 10.0.1.9 >/dev/null || true
    ctl router show errors | has 'storm .*p[89]'
}
until_true stormed
until_true pings "$a" 10.0.1.1
until_true has 'look for a loop' "$work/router.log"
ctl router bridge leave lan p9 >/dev/null
until_true pings "$a" 10.0.1.1
echo "ok $name"
