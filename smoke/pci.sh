#!/usr/bin/env bash
# Cards: a virtual machine with two PCI network cards, which our router has for itself through vfio and
# an IOMMU, as on real hardware. Without KVM the machine is emulated; the drivers do not know.
#
#   host a ── tap ═ virtio card │ volleyd in the guest │ Intel 82574 ═ tap ── host b
. "$(dirname "$0")/lib.sh"
for program in qemu-system-x86_64 cpio socat; do
    command -v $program >/dev/null || skip "$program is missing: make setup"
done
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"

kernels=$("$root/scripts/guest-kernel" 2>"$work/kernel.log") || skip "there is no kernel for the guest: $(tail -n 1 "$work/kernel.log")"
kernel=$(compgen -G "$kernels/boot/vmlinuz-*" | tail -n 1)

# into_guest FILE…: copies files, and what they are linked with. Links stay links: a driver that stood
# under two names would be loaded twice.
guest=$work/guest
into_guest() {
    local file real
    for file in $({ printf '%s\n' "$@"; ldd "$@" | grep -o '/[^ :]*'; } | sort -u); do
        real=$(realpath "$file")
        cp --parents "$real" "$guest"
        [ -e "$guest$file" ] || { mkdir -p "$guest${file%/*}" && ln -s "$real" "$guest$file"; }
    done
}
mkdir -p "$guest"/{proc,sys,dev,modules,bin,tmp}
for program in volleyd volley; do strip -o "$work/$program" "$bin/$program"; done
for program in $(command -v bash mount mkdir readlink insmod ls sleep stty) "$work/volleyd" "$work/volley"; do
    into_guest "$program"
    [ -e "$guest/bin/${program##*/}" ] || ln -s "$(realpath "$program")" "$guest/bin/${program##*/}"
done
drivers=$(dirname "$(find /usr/lib -name librte_bus_pci.so -path '*dpdk*' | head -n 1)")
for driver in bus_pci bus_vdev mempool_ring net_virtio net_e1000; do into_guest "$drivers/librte_$driver.so"; done
find "$kernels/lib/modules" -name 'irqbypass.ko' -o -name 'vfio*.ko' | xargs cp -t "$guest/modules"
cp "$root/smoke/pci_guest/init" "$guest/init"
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
(cd "$guest" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/guest.gz"

# The taps are opened where the machine runs, then each becomes the device of a host.
ip netns add "$r"
ip netns exec "$r" ip tuntap add v1 mode tap multi_queue
ip netns exec "$r" ip tuntap add v2 mode tap
mkfifo "$work/ask.in" "$work/ask.out"
# card NUMBER QUEUES MODEL
card() { echo -netdev "tap,id=n$1,ifname=v$1,queues=$2,script=no,downscript=no" -device "$3,netdev=n$1,addr=$(($1 + 1)),mac=02:00:00:00:0$1:01"; }
ip netns exec "$r" qemu-system-x86_64 -machine q35 -accel tcg,thread=multi -cpu max -smp 2 -m 1024 \
    -nodefaults -no-reboot -display none -device intel-iommu,intremap=on,caching-mode=on \
    -kernel "$kernel" -initrd "$work/guest.gz" -append "console=ttyS0 intel_iommu=on quiet panic=-1" \
    -serial "file:$work/guest.log" -chardev "pipe,id=ask,path=$work/ask" -serial chardev:ask \
    -monitor "unix:$work/monitor,server,nowait" \
    $(card 1 2 virtio-net-pci,iommu_platform=on,disable-legacy=on,mq=on,vectors=6) $(card 2 1 e1000e) 2>"$work/machine.log" &
daemons+=($!)
exec 8<>"$work/ask.in" 9<>"$work/ask.out"

# in_guest COMMAND: prints what it prints, and ends as it ends.
in_guest() {
    echo "$1" >&8
    guest_is_done
}
guest_is_done() {
    local line
    while read -r -t 120 line <&9; do
        if [[ $line =~ ^done\ [0-9]+$ ]]; then return "${line#done }"; fi
        echo "$line"
    done
    echo "the guest does not answer"
    return 1
}
monitor() { echo "$1" | timeout 5 socat - "unix-connect:$work/monitor" >/dev/null; }
ports() { in_guest "volley show ports --json" | jq -r "$1"; }
link_is() { [ "$(ports ".[] | select(.name == \"$1\").link_up")" = "$2" ]; }

until_true test -S "$work/monitor"
guest_is_done
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
