#!/usr/bin/env bash
# The lab over cards: a virtual machine with four of them, cabled in pairs outside, which the lab and the devices that it
# measures have for themselves through vfio and an IOMMU. All is emulated: what counts is each packet, never how fast.
#
#   lab ── virtio card 02.0 ═ virtio card 04.0 ── device
#   lab ── Intel 82540 03.0 ═ Intel 82540 05.0 ── device
#
# Not QEMU's 82574 (e1000e): now and then a frame that the driver had handed over never left it.
# Two: it keeps a processor busy by itself, with a virtual machine.
. "$(dirname "$0")/lib.sh"
command -v dpdk-testpmd >/dev/null || skip "no testpmd"
. "$root/smoke/guest.bash"

guest_programs volley-lab volleyd dpdk-testpmd sh cat unshare nsenter setpriv taskset ip kill date stdbuf
into_guest "$(find /usr/libexec /usr/lib -name libstdbuf.so | head -n 1)"
guest_drivers net_virtio net_e1000
# The kernel's own driver of virtio cards, in the order in which it is loaded.
own="virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci"
for module in $own; do
    find "$kernels/lib/modules" -name "$module.ko" | xargs cp -t "$guest/modules"
done

# scenario NAME SECOND-CARD SEARCH FUNCTION…: what else it is comes by standard input.
scenario() {
    {
        printf 'name = "%s"\ntitle = "Cards"\nabout = "As little as will do."\n' "$1"
        printf '[[function]]\nkind = "%s"\n' "${@:4}"
        printf '[link]\nkind = "pci"\ngenerator = ["0000:00:02.0", "0000:00:03.0"]\ndevice = ["0000:00:04.0", "%s"]\n' "$2"
        # The slowest that a card may be is fast for an emulated one.
        printf 'gbps = 0.01\n[campaign]\nrestarts = 1\n[traffic]\nboth_directions = true\n'
        cat
        printf 'search = "%s"\n' "$3"
    } >"$guest/$1.toml"
}
scenario contents 0000:00:05.0 functional cross-connect ip4 vxlan-encap <<<$'frame_bytes = 84\n[measure]\ntrial_s = 0.2'
scenario sizes 0000:00:05.0 functional cross-connect <<<$'[sweep]\nframe_bytes = [64, 1518, 8018, 9018]\n[measure]\ntrial_s = 0.1'
scenario taken 0000:00:05.0 functional cross-connect <<<$'[sweep]\nframe_bytes = [64, 1518, 8018]\n[measure]\ntrial_s = 0.1'
scenario rate 0000:00:05.0 throughput cross-connect <<<$'frame_bytes = 1518\n[measure]\ntrial_s = 0.4\nrelative_width = 0.5\nlatency_at_percent = [50]'
scenario nowhere 0000:00:09.0 functional cross-connect <<<$'[measure]\ntrial_s = 0.1'

ip netns add "$r"
# card NUMBER CABLE MODEL: what comes in at one end of a cable leaves at its other end, and nobody else speaks there.
card() { echo -netdev "hubport,id=n$1,hubid=$2" -device "$3,netdev=n$1,addr=$1,mac=02:00:00:00:00:0$1"; }
virtio=virtio-net-pci,iommu_platform=on,disable-legacy=on
guest_starts 1792 500 $(card 2 1 $virtio) $(card 3 2 e1000) $(card 4 1 $virtio) $(card 5 2 e1000)

# lab NAME DEVICES: runs a scenario in the guest, and fetches what it wrote down.
lab() {
    in_guest "volley-lab run /$1.toml --devices $2 --out /tmp/$1; [ \$? = ${code:-0} ]" >"$work/$1.log" || { cat "$work/$1.log"; exit 1; }
    in_guest "cat /tmp/$1/raw.jsonl" >"$work/$1.jsonl"
}
# of NAME FILTER: what jq makes of all that a run wrote down.
of() { jq -s -e "$2" "$work/$1.jsonl" >/dev/null || { echo "not so of $1: $2"; jq -c '.check // .failure // .answer // .trial // empty' "$work/$1.jsonl" | cut -c 1-600; exit 1; }; }

# Every octet is looked at, and what must not come out does not. A device that changes addresses is found out.
code=3 lab contents volley,testpmd-mac
of contents '[.[] | .check // empty | select(.subject.device != "testpmd-mac") | [.subject.device, .subject.function, .fault]] ==
    [["volley", "cross-connect", null], ["volley", "ip4", null], ["volley", "vxlan-encap", null]]'
of contents '[.[] | .check // empty | select(.subject.device != "testpmd-mac") | .streams[]] |
    ([.[] | select(.must_emerge)] | length == 6 and all(.sent == 100 and .came == 100)) and
    ([.[] | select(.must_emerge | not)] | length == 2 and all(.sent == 100 and .came == 0))'
of contents '[.[] | .check // empty | select(.subject.device == "testpmd-mac") | .fault.difference.field] == ["ethernet source"]'
of contents '[.[] | .failure // empty | .refused] | length == 2 and all'

# Frames of every size. The 82540s cut those of over 8 KiB, at either end.
lab sizes volley
of sizes '[.[] | .check // empty | [.subject.axes.frame_bytes, .fault, .streams[].came]] == [["64", null, 50, 50], ["1518", null, 50, 50], ["8018", null, 50, 50], ["9018", null, 50, 50]]'

# Each direction has a wire of its own: at line rate both are full, nothing is lost, and the devices count the same.
lab rate volley,testpmd
of rate '[.[] | .failure // empty] == []'
of rate '(10000000 / 8 / 1538) as $full | [.[] | .answer // empty] | length == 2 and all(.low_pps > $full / 2 and .low_pps < $full + 1)'
of rate '(10000000 / 8 / 1538) as $full | [.[] | .trial // empty | select(.purpose == "throughput") | .outcome.trial.load_pps] | max | . > $full - 1 and . < $full + 1'
of rate '[.[] | .trial // empty] | length >= 4 and all(.accounts as $all | $all.sent > 0 and $all.dropped == 0 and $all.sent == $all.received + $all.in_flight and
    .device.received == $all.sent and .device.sent == $all.sent and .sequence.duplicates == 0 and .sequence.reordered == 0)'
of rate '[.[] | .trial // empty | select(.purpose == "latency") | .latency.min_ns] | length == 2 and all(. > 0)'

# Between two cards with nothing but the cable in between; an 82540 of QEMU's hears nothing in its first second.
in_guest "volley-lab traffic pci:0000:00:02.0 pci:0000:00:04.0 --rate 1kpps --packets 500 --seconds 1 --frame-bytes 64,1518 --directions 2 --out /tmp/traffic.json" >"$work/traffic.log" || { cat "$work/traffic.log"; exit 1; }
in_guest "cat /tmp/traffic.json" >"$work/traffic.json"
jq -e '[.streams[] | [.offered, .sequence.unique, .sequence.lost, .sequence.duplicates, .sequence.reordered]] == [[500, 500, 0, 0, 0], [500, 500, 0, 0, 0]]' "$work/traffic.json" >/dev/null ||
    { cat "$work/traffic.log"; exit 1; }

# Cards that are not there, and such as the kernel has, are refused by their address.
# refused NAME REASON
refused() {
    code=4 lab "$1" volley
    of "$1" "[.[] | .failure // empty | .reason] == [\"$2\"]"
}
refused nowhere "port pci 0000:00:09.0: there is no such card in this host"
in_guest "for module in $own; do insmod /modules/\$module.ko || break; done"
in_guest 'card=0000:00:04.0; echo $card >/sys/bus/pci/drivers/vfio-pci/unbind && echo >/sys/bus/pci/devices/$card/driver_override && echo $card >/sys/bus/pci/drivers_probe'
code=4 lab taken volley
of taken '[.[] | .failure // empty | .reason] | length == 3 and all(. == "port pci 0000:00:04.0: the kernel'"'"'s driver virtio-pci has it: bind it to vfio-pci first")'

# The end leaves no hugepage behind.
[ -z "$(in_guest "ls /dev/hugepages")" ] || { in_guest "ls /dev/hugepages"; exit 1; }
echo "ok $name: $(jq -c '.answer // empty | [.subject.device, (.low_pps | floor)]' "$work/rate.jsonl" | tr '\n' ' ')of packets a second each way"
