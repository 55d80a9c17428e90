#!/usr/bin/env bash
# Cards: a virtual machine with three PCI network cards, which our router has for itself through vfio and
# an IOMMU, as on real hardware. Without KVM the machine is emulated; the drivers do not know.
#
#   host a ── tap ═ virtio card │ volleyd in the guest │ Intel 82574 ═ tap ── host b
#                               │                      │ Intel 82540 ═ tap ── host c
#
# First of two workers between a and b, then of one with all three: an 82540 has one queue.
. "$(dirname "$0")/lib.sh"
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"
. "$root/smoke/guest.bash"
/usr/bin/python3 -c 'import scapy' 2>/dev/null || skip "python3-scapy is missing"

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
# Of 9216 octets of a buffer a card of Intel's takes 8192: it cuts what is longer.
cat >"$guest/long.toml" <<'END'
[workers]
count = 1
[memory]
buffers = 8192
routes = 10000
frame_bytes = 9216
hugepages = "require"
[port.p1]
kind = "pci"
address = "0000:00:02.0"
mtu = 9000
addresses = ["10.0.1.1/24", "fd00:1::1/64"]
[port.p2]
kind = "pci"
address = "0000:00:03.0"
addresses = ["10.0.2.1/24", "fd00:2::1/64"]
[port.p3]
kind = "pci"
address = "0000:00:04.0"
mtu = 9000
addresses = ["10.0.3.1/24", "fd00:3::1/64"]
[port."p3.7"]
kind = "vlan"
parent = "p3"
vlan = 7
mtu = 9000
addresses = ["10.0.7.1/24"]
[[neighbor]]
address = "10.0.7.2"
port = "p3.7"
mac = "06:00:00:00:00:03"
END

# The taps are opened where the machine runs, then each becomes the device of a host.
ip netns add "$r"
ip netns exec "$r" ip tuntap add v1 mode tap multi_queue
ip netns exec "$r" ip tuntap add v2 mode tap
ip netns exec "$r" ip tuntap add v3 mode tap
# card NUMBER QUEUES MODEL
card() { echo -netdev "tap,id=n$1,ifname=v$1,queues=$2,script=no,downscript=no" -device "$3,netdev=n$1,addr=$(($1 + 1)),mac=02:00:00:00:0$1:01"; }
guest_starts 1024 140 $(card 1 2 virtio-net-pci,iommu_platform=on,disable-legacy=on,mq=on,vectors=6) $(card 2 1 e1000e) $(card 3 1 e1000)

ports() { in_guest "volley show ports --json" | jq -r "$1"; }
link_is() { [ "$(ports ".[] | select(.name == \"$1\").link_up")" = "$2" ]; }

c=vly-$$-c
for host in "$a:1:9000" "$b:2:1500" "$c:3:9000"; do
    IFS=: read -r host number mtu <<<"$host"
    ip netns add "$host"
    ip -n "$host" link set lo up
    ip -n "$r" link set "v$number" netns "$host" name eth0 mtu "$mtu" address "06:00:00:00:00:0$number"
    ip -n "$host" addr add "10.0.$number.2/24" dev eth0
    ip -n "$host" addr add "fd00:$number::2/64" dev eth0 nodad
    ip -n "$host" link set eth0 up
    ip -n "$host" route add default via "10.0.$number.1"
    ip -n "$host" -6 route add default via "fd00:$number::1"
done
# routes NAME: the router in the guest, on NAME.toml.
routes() {
    in_guest "export VOLLEY_SOCKET=/run/volley.sock; volleyd --config /$1.toml --socket \$VOLLEY_SOCKET 2>/router.log & router=\$!"
    in_guest 'until volley show version; do kill -0 $router || break; sleep 0.2; done; kill -0 $router' >"$work/start.log" 2>&1 ||
        { in_guest 'echo "$(</router.log)"'; exit 1; }
}
# The end leaves no hugepage behind and gives the cards back.
ends() {
    in_guest 'kill $router; wait $router' || { echo "the router ended with $?"; exit 1; }
    [ -z "$(in_guest "ls /dev/hugepages")" ] || { in_guest "ls /dev/hugepages"; exit 1; }
}
routes router
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

# A second worker's frames would never leave an 82540.
in_guest "volley port add p3 pci address 0000:00:04.0" >"$work/one.txt" 2>&1 || true
has 'the device has 1 transmit queues for 2 workers' "$work/one.txt" || { cat "$work/one.txt"; exit 1; }
ends

# Frames of up to 9018 octets, of which c's come cut, and each octet leaves as it came.
routes long
until_true link_is p3 true
until_true pings "$c" 10.0.1.2
# comes_back HOST HOW ADDRESS OCTETS: pings that long come back with all of their octets.
comes_back() {
    on "$1" ping -c 4 -i 0.2 -W 10 -M "$2" -s "$4" "$3" >"$work/ping.txt" || { cat "$work/ping.txt"; return 1; }
    ! grep 'wrong data' "$work/ping.txt"
}
# counted PORT NAME
counted() { in_guest "volley show device-counters --port $1 --json" | jq "[.[] | select(.counter == \"$2\").value] | add // 0"; }
for size in 1472 8150; do comes_back "$c" do 10.0.1.2 $size; done
[ "$(counted p3 rx_gathered_frames)" = 0 ] || { echo "frames were put together that were whole"; exit 1; }
for size in 8151 8972; do comes_back "$c" do 10.0.1.2 $size; done
for size in 8150 8972; do comes_back "$a" do 10.0.3.2 $size; done
comes_back "$c" do fd00:1::2 8952
# To us, and to b, whose link is shorter: it gets them in pieces, and its answers come in such.
comes_back "$c" do 10.0.3.1 8972
until_true pings "$c" 10.0.2.2
comes_back "$c" dont 10.0.2.2 8972
! on "$c" ping -c 1 -W 10 -M do -s 8972 10.0.2.2 >"$work/ping.txt" && has 'mtu = 1500' "$work/ping.txt" || { cat "$work/ping.txt"; exit 1; }
# A capture has them whole: four there, four back.
in_guest "volley capture start --node ip4-rewrite --exit output --count 100 --snap 9216" >/dev/null
comes_back "$c" do 10.0.1.2 8972
in_guest "volley capture save /tmp/long.pcap && volley capture stop" >/dev/null
captured=$(in_guest "ls -l /tmp/long.pcap" | awk '{ print $5 }')
[ "$captured" -ge $((8 * 9014)) ] || { echo "$captured octets were captured"; exit 1; }
# With a tag. This kernel may have no VLAN devices.
cat >"$work/tagged.py" <<'PY'
from scapy.all import ICMP, IP, Dot1Q, Ether, conf, raw, srp1
conf.verb = 0
octets = bytes(n * 7 % 251 for n in range(8972))
link = Ether(src="06:00:00:00:00:03", dst="02:00:00:00:03:01") / Dot1Q(vlan=7)
for number in range(4):
    came = srp1(link / IP(src="10.0.7.2", dst="10.0.1.2") / ICMP(id=7, seq=number) / octets, iface="eth0", timeout=10)
    assert came is not None and came[Dot1Q].vlan == 7 and came[ICMP].type == 0 and raw(came[ICMP].payload) == octets, came
PY
on "$c" timeout 60 /usr/bin/python3 "$work/tagged.py"
# What a mirror copies: a sees what c said to us.
for command in "address del 10.0.1.1/24 port p1" "address del fd00:1::1/64 port p1" "mirror add spy to p1 from p3"; do
    in_guest "volley $command" >"$work/mirror.txt" || { cat "$work/mirror.txt"; exit 1; }
done
ip netns exec "$a" tcpdump -n -U -i eth0 -w "$work/spy.pcap" 'icmp[0] == 8 and dst host 10.0.3.1' 2>"$work/spy.txt" &
daemons+=($!)
until_true has listening "$work/spy.txt"
comes_back "$c" do 10.0.3.1 8972
spied() { tshark -r "$work/spy.pcap" -Y 'frame.len == 9014' 2>/dev/null | has .; }
until_true spied

gathered=$(counted p3 rx_gathered_frames)
[ "$gathered" -ge 37 ] || { echo "only $gathered frames came cut"; in_guest "volley show device-counters --port p3"; exit 1; }
for counter in rx_errors rx_mbuf_allocation_errors; do
    [ "$(counted p3 $counter)" = 0 ] || { echo "$counter: $(counted p3 $counter)"; exit 1; }
done
[ "$(in_guest "volley show errors --json" | jq '[.[] | select(.reason == "oversize").packets] | add // 0')" = 0 ] || { in_guest "volley show errors"; exit 1; }
ends
echo "ok $name"
