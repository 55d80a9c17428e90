#!/usr/bin/env bash
# Streams between virtual machines behind the kernel's bridge, emulated whatever the host has: netperf's and iperf's numbers, and that they
# are read with what emulation is. A guest that does not boot is a failure, with its console in the results; nothing is left behind, whenever
# the lab is interrupted or killed. (Over vhost-user: lab_scenarios_beside.sh has the lab's, vm_vhost.sh restarts of either side.)
# Two: two emulated machines leave little of two cores for others.
. "$(dirname "$0")/lib.sh"
command -v qemu-system-x86_64 >/dev/null || skip "qemu-system-x86_64 is missing: make setup-tests"
VOLLEY_GUEST_KERNEL=$("$root/scripts/guest-kernel" 2>"$work/kernel.log") || skip "there is no kernel for the guests: $(tail -n 1 "$work/kernel.log")"
export VOLLEY_GUEST_KERNEL VOLLEY_GUEST_ACCEL=tcg XDG_CACHE_HOME=$work TMPDIR=$work
cat >"$work/vms.toml" <<'END'
name = "vms"
title = "VMs"
about = "As little as will do."
[[function]]
kind = "bridge"
wire_mbps = 20
[link]
kind = "veth"
[sweep]
endpoint = ["vm"]
[measure]
search = "stream"
trial_s = 1
duration_sum_s = 1
write_bytes = 256
socket_bytes = 32768
transaction_bytes = 1
datagram_mbps = 5
[campaign]
restarts = 1
END
# As little as tells that something was measured, between namespaces as well.
sed '/_bytes = /d; /datagram/d; s/endpoint = .*/endpoint = ["vm", "namespace"]/' "$work/vms.toml" >"$work/both.toml"
# run NAME DEVICE [SCENARIO]
run() { exec "$bin/volley-lab" run "$work/${3:-vms}.toml" --devices "$2" --out "$work/$1" >"$work/out.txt" 2>>"$work/progress.log"; }
nothing_is_left() { ! pgrep -f "$work/volley" && ! compgen -G "$work/volley-*"; }

(run done linux-bridge) || { cat "$work/out.txt"; exit 1; }
until_true nothing_is_left
sweep_has 'done' '[.[] | .stream // empty | select(.ways)] | length == 1 and all(.ways[0].bps > 1e6 and .ways[0].bps < 20e6 and .round_trips.answered > 20)'
sweep_has 'done' '[.[] | .stream // empty | select(.ways) | .verdicts[].verdict] == ["emulated_ends"]'
sweep_has 'done' '[.[] | .quantity // empty | .metric] | sort == ["TCP stream, small writes", "TCP transaction", "UDP jitter one way", "UDP lost one way"]'
sweep_has 'done' '[.[] | .quantity // empty | select(.metric != "UDP lost one way")] | all(.values[0] > 0 and (.note | contains("emulated")))'
sweep_has 'done' '[.[] | .campaign // empty | .host["virtual machines"]] | all(contains("emulated by software (TCG: asked for)"))'
has 'its ends were emulated' "$work/done/report.html"
has 'a virtual machine: Linux .*, virtio-net over a tap' "$work/done/raw.jsonl"

# One that does not boot in time, which is no matter of ends of another kind, and one that cannot.
VOLLEY_GUEST_BOOT_S=1 ends 4 eval "(run late linux-bridge both)"
sweep_has late '[.[] | .failure // empty | [.refused, (.reason | contains("the guest at end 0 did not boot within 1 s (emulated"))]] == [[false, true]]'
sweep_has late '[.[] | .stream // empty | select(.ways) | .subject.axes.endpoint] == ["namespace"]'
[ -e "$work/late/guest-linux-bridge-1.log" ]
mkdir -p "$work/kernel/boot" "$work/kernel/lib/modules/1"
echo "no kernel" >"$work/kernel/boot/vmlinuz-1"
VOLLEY_GUEST_KERNEL=$work/kernel ends 4 eval "(run none linux-bridge)"
sweep_has none '[.[] | .failure // empty | [.refused, (.reason | contains("Linux 1 has no virtio_pci"))]] == [[false, true]]'
VOLLEY_GUEST_KERNEL=$work/nowhere ends 4 eval "(run nowhere linux-bridge)"
sweep_has nowhere '[.[] | .failure // empty | [.refused, (.reason | contains("there is no boot/vmlinuz-* in VOLLEY_GUEST_KERNEL="))]] == [[true, true]]'

# The bridge of a guest's kernel, which has schedulers that the host's may lack; such a device is joined to no guests.
sed -i 's/wire_mbps = .*/bottleneck_mbps = 20/; s/\(endpoint = .*\)/\1\nscheduler = ["sfq"]/' "$work/both.toml"
(run guest linux-bridge-guest both) || { cat "$work/out.txt"; exit 1; }
sweep_has guest '[.[] | .failure // empty | [.refused, .subject.axes.endpoint]] == [[true, "vm"]]'
sweep_has guest '[.[] | .stream // empty | select(.ways)] | length == 1 and all(.ways[0].bps > 5e5 and .ways[0].bps < 21e6 and [.verdicts[].verdict] == ["emulated_device"])'
sweep_has guest '[.[] | .device // empty | .commands | (.[0] | contains("the device is in a virtual machine: Linux")) and any(contains("handle 10: sfq"))] == [true]'
until_true nothing_is_left

# Interrupted as soon as both guests are there, and killed.
for signal in INT KILL; do
    (run stopped$signal linux-bridge) &
    lab=$!
    until_true eval "[ \$(pgrep -c -f 'qemu.*$work/volley-lab-$lab') = 2 ]"
    kill -$signal $lab
    wait $lab 2>/dev/null || true
    until_true eval "! pgrep -f 'qemu.*$work/volley'"
done
echo "ok $name: $(jq -rs '[.[] | .stream // empty | select(.ways) | .ways[0].bps / 1e6 | floor] | join(", ")' "$work/done/raw.jsonl") Mbit/s of 20"
