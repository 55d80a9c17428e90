# Virtual machines on a bridge of the router's, each by virtio-net over vhost-user. Without KVM they are emulated; nothing
# between them and us differs. Sourced, never run, after lib.sh.
. "$root/smoke/guest.bash"
for program in busybox ethtool iperf3; do command -v $program >/dev/null || skip "$program is missing: make setup-tests"; done

guest_programs bash mount mkdir insmod stty sleep busybox ethtool iperf3
for module in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci failover net_failover virtio_net; do
    find "$kernels/lib/modules" -name "$module.ko" -exec cp -t "$guest/modules" {} +
done
cp "$root/smoke/guest/end" "$guest/init"
(cd "$guest" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/guest.gz"
image=$(compgen -G "$kernels/boot/vmlinuz-*" | tail -n 1)

# Without vectors: QEMU 7.2 ends by a segmentation fault when an emulated guest has MSI-X and a control queue behind vhost-user.
# boots NUMBER HOW: a guest whose card is the other end of port gNUMBER, HOW is how QEMU comes by its socket.
boots() {
    local number=$1
    rm -f "$work/ask$number".{in,out}
    mkfifo "$work/ask$number.in" "$work/ask$number.out"
    qemu-system-x86_64 -machine q35,memory-backend=mem -object memory-backend-memfd,id=mem,size=192M,share=on \
        -accel tcg,thread=multi -cpu max -smp 1 -m 192 -nodefaults -no-reboot -display none \
        -kernel "$image" -initrd "$work/guest.gz" \
        -append "console=ttyS0 quiet panic=-1 volley.address=10.88.0.$number/24" \
        -serial "file:$work/guest$number.log" -chardev "pipe,id=ask,path=$work/ask$number" -serial chardev:ask \
        -chardev "socket,id=wire,path=$work/g$number.sock,$2" -netdev vhost-user,id=net,chardev=wire \
        -device "virtio-net-pci,netdev=net,mac=02:88:00:00:00:0$number,romfile=,vectors=0" 2>"$work/machine$number.log" &
    machine[number]=$!
    daemons+=($!)
    exec {ask[number]}<>"$work/ask$number.in" {told[number]}<>"$work/ask$number.out"
    is_done "$number"
}
is_done() {
    local line
    while read -r -t 120 -u "${told[$1]}" line; do
        if [[ $line =~ ^done\ [0-9]+$ ]]; then return "${line#done }"; fi
        echo "$line"
    done
    echo "guest $1 does not answer"
    return 1
}
# inside NUMBER COMMAND
inside() { echo "$2" >&"${ask[$1]}"; is_done "$1"; }
reaches() { inside "$1" "busybox ping -q -c 2 -W 2 10.88.0.$2"; }
# The other end tells what it had when it heard that all was sent: what is on its way then is bounded.
tcp() { inside 1 "iperf3 -c 10.88.0.2 -n 5M -w 64K -J" >"$work/tcp.json" && jq -e '.end.sum_received.bytes >= 4000000' "$work/tcp.json"; }
# Ping and TCP between them, where guest 2 was started just now.
meet() {
    until_true reaches 1 2
    inside 2 "iperf3 -s >/tmp/server & busybox true"
    until_true tcp
}
# counter PORT NAME: what the driver of a guest's port counted.
counter() { json "[.[] | select(.counter == \"$2\").value] | add" router show device-counters --port "$1"; }
# The router, the first of all daemons, is killed and started anew; guests are not.
router_dies() {
    kill -9 "${daemons[0]}"
    wait "${daemons[0]}" 2>/dev/null || true
    router router
    until_true reaches 1 2
    until_true reaches 2 1
    until_true tcp
    echo "the router was killed, and the guests are on its bridge again"
}
# Guest 2 is killed.
guest_dies() {
    kill -9 "${machine[2]}"
    wait "${machine[2]}" 2>/dev/null || true
}
declare -a machine ask told

# guests_router WORDS: the ports of two guests, of which WORDS is said beside, and their bridge.
guests_router() {
    printf '[workers]\ncount = 1\n[memory]\nbuffers = 8192\n'
    for number in 1 2; do printf '[port.g%s]\nkind = "vhost"\nsocket = "%s/g%s.sock"\n%s\n' $number "$work" $number "$1"; done
    printf '[bridge.lan]\nports = ["g1", "g2"]\n'
}
