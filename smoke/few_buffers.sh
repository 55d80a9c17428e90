#!/usr/bin/env bash
# Ports whose rings take all packet buffers receive nothing: it is told before they are opened where that is known,
# and where only the device knows, when it is.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
two_ports af_xdp | sed 's/^buffers = .*/buffers = 4096/' >"$work/router.toml"
ip netns exec "$r" "$bin/volley" config check "$work/router.toml" >"$work/said" 2>&1 && fail "4096 buffers are taken for enough"
for said in 'memory.buffers' 'take 4096 of 4096' 'p1 2048, p2 2048' 'at least 4608'; do
    has -- "$said" <"$work/said" || { cat "$work/said"; fail "it does not say: $said"; }
done
on "$r" "$bin/volleyd" --config "$work/router.toml" --socket "$work/router.sock" 2>"$work/said" && fail "it starts"
has 'at least 4608' <"$work/said" || { cat "$work/said"; fail "volleyd does not say what it lacks"; }
sed -i 's/^buffers = .*/buffers = 4608/' "$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
kill "${daemons[-1]}"; wait "${daemons[-1]}" || fail "volleyd did not end well"

# How much the machine's end of a vhost socket takes, its driver knows.
printf '[memory]\nbuffers = 8192\n[port.link]\nkind = "vhost"\nsocket = "%s"\n' "$work/vhost" >"$work/host.toml"
router host
printf '[memory]\nbuffers = 512\n[port.link]\nkind = "virtio_user"\nsocket = "%s"\n' "$work/vhost" >"$work/machine.toml"
router machine
problem=$(json '.[0].problem' machine show ports)
echo "$problem" | has 'of 512 are left' || fail "show ports says: $problem"
ctl machine events --json | has few-buffers || fail "no event tells it"
echo "ok $name"
