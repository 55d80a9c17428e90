#!/usr/bin/env bash
# What a router may lack that no simulation has: a disk with room, descriptors, time. A full disk costs what was to be
# written, and the file that was there stays whole; without descriptors nothing opens, and what is refused says why;
# a process that was stopped goes on. Packets pass meanwhile, and all is well once there is enough again.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; cat "$work/said" 2>/dev/null; tail -n 20 "$work/router.log"; exit 1; }
mkdir "$work/disk"
mount -t tmpfs -o size=512k,mode=755 tmpfs "$work/disk" || skip "no tmpfs"
trap 'outcome=$?; umount -l "$work/disk"; clean_up $outcome' EXIT
hosts
{ two_ports af_packet; printf '[state]\nfolder = "%s/disk/state"\n' "$work"; } >"$work/disk/router.toml"
ln -s disk/router.toml "$work/router.toml"
ip netns exec "$r" "$bin/volleyd" --config "$work/disk/router.toml" --socket "$work/router.sock" 2>"$work/router.log" &
daemons+=($!)
volleyd=$!
passes() { on "$a" ping -c 3 -i 0.2 -W 2 10.0.2.2 >"$work/said" || fail "packets do not pass: $1"; }
told() { has -- "$1" <"$work/router.log"; }
has_route() { ctl router show routes | has 20.7.0.0/16; }
until_true pings "$a" 10.0.2.2

# A disk without room: the configuration cannot be saved, what tables have cannot be kept.
before=$(cat "$work/disk/router.toml")
dd if=/dev/zero of="$work/disk/filler" bs=4k 2>/dev/null || true
ctl router port set p1 mtu 1400
! ctl router config save >"$work/said" 2>&1 || fail "saved on a full disk"
has -i 'space' <"$work/said" || fail "it does not say why it is not saved"
[ "$(cat "$work/disk/router.toml")" = "$before" ] || fail "the file that was there is gone"
for net in $(seq 1 250); do for more in $(seq 0 39); do echo "20.$net.$((more * 4)).0/22 10.0.2.2"; done; done >"$work/table"
echo '20.7.0.0/16 10.0.2.2' >>"$work/table"
ctl router route load "$work/table" >/dev/null
until_true told 'state-unwritten' || fail "no event tells of state that is not kept"
has_route || fail "routes are not taken"
passes "the disk is full"
rm "$work/disk/filler"
ctl router config save >"$work/said" 2>&1 || fail "not saved with room again"
grep -q 'mtu = 1400' "$work/disk/router.toml" || fail "what was saved is not there"

# No descriptors: what opens some is refused with the reason, what is there goes on, and who asks is answered again.
limit() { prlimit --pid "$volleyd" --nofile="$1:"; }
usual=$(prlimit --pid "$volleyd" --nofile --noheadings -o SOFT | tr -d ' ')
limit $(($(find "/proc/$volleyd/fd" -type l | wc -l) + 1))
! ctl router port add t9 tap device t9 >"$work/said" 2>&1 || fail "a tap without a descriptor"
has -i 'too many open files\|descriptor' <"$work/said" || fail "it does not say what it lacks"
passes "there are no descriptors"
limit "$usual"
until_true ctl router port add t9 tap device t9 || fail "descriptors again, and no tap"
ctl router port del t9

# Stopped for longer than workers may be silent: nobody is called stuck, and all goes on.
kill -STOP "$volleyd"
! on "$a" ping -c 1 -W 1 10.0.2.2 >/dev/null || fail "somebody else forwards"
sleep 5.5
kill -CONT "$volleyd"
until_true pings "$a" 10.0.2.2
! told 'worker-stuck' || fail "a process that was stopped is taken for a stuck worker"
kill -0 "$volleyd" || fail "it does not live"
has_route || fail "routes are gone"
echo "ok $name"
