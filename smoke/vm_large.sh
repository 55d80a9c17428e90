#!/usr/bin/env bash
# Frames of up to 64 KiB, as Linux hands them over, go into a virtual machine and come out of it whole: it is the router between two
# hosts. Then it cuts itself what it forwards, and computes checksums from what it was told of them; and then it is given none.
#
#   host a ── v1 | bridge of ours | v2 ── host b
#                       ║ vhost-user
#            guest, 10.0.1.1 and 10.0.2.1
# Two: an emulated machine beside the router leaves little of two cores for others.
. "$(dirname "$0")/lib.sh"
. "$root/smoke/machines.bash"
. "$root/smoke/bulk.bash"
octets=10000000
# moved NAME: large frames that the machine sent, and was given, more than before.
came=0 went=0
moved() {
    local before="$came $went"
    came=$(counter g1 rx_large_frames) went=$(counter g1 tx_large_frames)
    echo "$1: $((came - ${before% *})) large frames from the machine, $((went - ${before#* })) to it"
}

hosts
large
{
    printf '[workers]\ncount = 1\n[memory]\nbuffers = 8192\n[port.g1]\nkind = "vhost"\nsocket = "%s/g1.sock"\n' "$work"
    for number in 1 2; do printf '[port.p%s]\nkind = "af_packet"\ndevice = "v%s"\n' $number $number; done
    printf '[bridge.lan]\nports = ["g1", "p1", "p2"]\n'
} >"$work/router.toml"
router router
boots 1 reconnect=1
inside 1 'busybox ip addr flush dev eth0; for network in 1 2; do busybox ip addr add 10.0.$network.1/24 dev eth0; done; echo 1 >/proc/sys/net/ipv4/ip_forward'
# The hosts would else hear that they reach each other without it.
inside 1 'for whose in all eth0; do echo 0 >/proc/sys/net/ipv4/conf/$whose/send_redirects; done'

passes whole 10.0.2.2
moved whole
[ "$came" -gt 50 ] && [ "$went" -gt 50 ] || fail "there were hardly any"
[ "$(json '[.[] | select(.name != "g1").tx | .bytes / .packets] | max | floor' router show ports)" -gt 1514 ] || fail "all frames were cut"

# What the machine was told of a checksum is all that it has to compute those of the packets that it makes.
inside 1 'ethtool -K eth0 tso off tx off'
before=$came
passes "cut by the machine" 10.0.2.2
moved "cut by the machine"
[ "$came" -lt $((before + 50)) ] || fail "the machine did not cut"

ctl router port set g1 peer_offloads false
inside 1 'ethtool -K eth0 tx on tso on'
passes "given none" 10.0.2.2
came=0 went=0
moved "given none"
[ "$went" = 0 ] || fail "it is given large frames all the same"
echo "ok $name"
