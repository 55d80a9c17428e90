#!/usr/bin/env bash
# Cards: a virtual machine with two PCI network cards, which our router has for itself through vfio and
# an IOMMU, as on real hardware. Without KVM the machine is emulated; the drivers do not know.
#
#   host a ── tap ═ virtio card │ volleyd in the guest │ Intel 82574 ═ tap ── host b
. "$(dirname "$0")/lib.sh"
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"
. "$root/smoke/guest.bash"

guest_programs volleyd volley
guest_drivers net_virtio net_e1000
cat >"$guest/router.toml" <<'END'
[workers]
count = 2
[memory]
buffers = 8192
routes = 10000
hugepages = "require"
[port.p1]
kind = "pci"
address = "0000:00:02.0"
rx_queues = 2
addresses = ["10.0.1.1/24", "fd00:1::1/64"]
[port.p2]
kind = "pci"
address = "0000:00:03.0"
rx_queues = 2
addresses = ["10.0.2.1/24", "fd00:2::1/64"]
END

# The taps are opened where the machine runs, then each becomes the device of a host.
ip netns add "$r"
ip netns exec "$r" ip tuntap add v1 mode tap multi_queue
ip netns exec "$r" ip tuntap add v2 mode tap
# card NUMBER QUEUES MODEL
card() { echo -netdev "tap,id=n$1,ifname=v$1,queues=$2,script=no,downscript=no" -device "$3,netdev=n$1,addr=$(($1 + 1)),mac=02:00:00:00:0$1:01"; }
guest_starts 1024 96 $(card 1 2 virtio-net-pci,iommu_platform=on,disable-legacy=on,mq=on,vectors=6) $(card 2 1 e1000e)

ports() { in_guest "volley show ports --json" | jq -r "$1"; }
link_is() { [ "$(ports ".[] | select(.name == \"$1\").link_up")" = "$2" ]; }

for host in "$a:1" "$b:2"; do
    number=${host##*:} host=${host%:*}
    ip netns add "$host"
    ip -n "$r" link set "v$number" netns "$host" name eth0
    ip -n "$host" addr add "10.0.$number.2/24" dev eth0
    ip -n "$host" addr add "fd00:$number::2/64" dev eth0 nodad
    ip -n "$host" link set eth0 up
    ip -n "$host" route add default via "10.0.$number.1"
    ip -n "$host" -6 route add default via "fd00:$number::1"
done
in_guest 'export VOLLEY_SOCKET=/run/volley.sock; volleyd --config /router.toml --socket $VOLLEY_SOCKET 2>/router.log & router=$!'
in_guest 'until volley show version; do kill -0 $router || break; sleep 0.2; done; kill -0 $router' >"$work/start.log" 2>&1 ||
    { in_guest 'echo "$(</router.log)"'; exit 1; }
[ "$(ports '[.[].kind] | join(" ")')" = "pci pci" ] || { in_guest "volley show ports"; exit 1; }
until_true link_is p1 true
until_true link_is p2 true

until_true pings "$a" 10.0.2.2
until_true pings "$b" fd00:1::2
for size in 0 64 1000 1472; do
    on "$a" ping -q -c 2 -i 0.2 -W 10 -M do -s "$size" 10.0.2.2 >/dev/null || { echo "ping of $size failed"; exit 1; }
done
on "$b" iperf3 -s -D -I "$work/iperf" >/dev/null
until_true measure tcp -n 8M
[ "$(jq .end.sum_sent.bytes "$work/tcp.json")" -ge 8000000 ] || { cat "$work/tcp.json"; exit 1; }

# A cable that is pulled out is a link-down event, and one that is put in again carries packets.
monitor "set_link n2 off"
until_true link_is p2 false
monitor "set_link n2 on"
until_true link_is p2 true
until_true pings "$a" 10.0.2.2

# The end leaves no hugepage behind and gives the cards back.
in_guest 'kill $router; wait $router' || { echo "the router ended with $?"; exit 1; }
[ -z "$(in_guest "ls /dev/hugepages")" ] || { in_guest "ls /dev/hugepages"; exit 1; }
echo "ok $name"
