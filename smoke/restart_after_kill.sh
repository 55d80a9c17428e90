#!/usr/bin/env bash
# After kill -9 a restart just works; after SIGTERM nothing is left: no socket, no huge pages, no files.
# Alone: it looks for what the whole machine has left over.
. "$(dirname "$0")/lib.sh"
hosts
two_ports af_packet >"$work/router.toml"
# What a process could leave outside its memory.
traces() {
    find /dev/hugepages /run/dpdk /tmp/dpdk "${XDG_RUNTIME_DIR:-/run}/dpdk" -name '*volley*' 2>/dev/null | sort -u
    ip netns list | awk '{ print "namespace " $1 }' | grep -F "vly-$$-"
    ip -n "$r" -o link | awk '{ print $2 }'
}
until_true ip -n "$r" link show v2
before=$(traces)

router router
until_true pings "$a" 10.0.2.2
kill -9 "${daemons[-1]}"
wait "${daemons[-1]}" 2>/dev/null || true
! pings "$a" 10.0.2.2 >/dev/null || { echo "something still forwards"; exit 1; }

router router
until_true pings "$a" 10.0.2.2
# A second router does not take the socket of one that lives.
! on "$r" "$bin/volleyd" --config "$work/router.toml" --socket "$work/router.sock" 2>"$work/second" ||
    { echo "a second router started on the same socket"; exit 1; }
grep -q "$work/router.sock" "$work/second" || { cat "$work/second"; exit 1; }
pings "$a" 10.0.2.2 >/dev/null

for signal in TERM INT; do
    kill -s "$signal" "${daemons[-1]}"
    wait "${daemons[-1]}" || { echo "SIG$signal: exit code $?"; exit 1; }
    [ ! -e "$work/router.sock" ] || { echo "SIG$signal leaves its socket"; exit 1; }
    [ "$(traces)" = "$before" ] || { diff <(traces) - <<<"$before"; exit 1; }
    router router
    until_true pings "$a" 10.0.2.2
done
echo "ok $name"
