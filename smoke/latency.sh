#!/usr/bin/env bash
# An idle router is woken by what comes, not by a timer: packets with pauses between them take no
# longer than their way, and meanwhile its workers sleep.
# Two: it measures times.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
# The median of 300 round trips in microseconds; each finds the worker asleep.
median_us() {
    on "$a" ping -c 300 -i 0.01 -W 2 10.0.2.2 | sed -n 's/.*time=\([0-9.]*\) ms/\1/p' | sort -n |
        awk '{ times[NR] = $1 } END { print int(times[int((NR + 1) / 2)] * 1000) }'
}
# Of 10 ms of silence; a machine that disturbs a measurement gets two more.
answers_at_once() {
    local median
    for _ in 1 2 3; do
        median=$(median_us)
        echo "$1: half of the round trips take $median us or less"
        [ "$median" -ge 500 ] || return 0
    done
    fail "$1: it sleeps through what comes"
}
sleeps() { ctl router show workers --json | jq '[.[].sleeps] | add'; }
for kind in af_packet af_xdp tap; do
    hosts
    if [ "$kind" = tap ]; then tap_and_veth; else two_ports "$kind"; fi >"$work/router.toml"
    router router
    [ "$kind" != tap ] || tap_host
    until_true pings "$a" 10.0.2.2
    answers_at_once "$kind"
    before=$(sleeps)
    sleep 2
    slept=$(($(sleeps) - before))
    echo "$kind: $slept rests in 2 s of silence"
    # Naps would be 500 at least; a host says something now and then.
    [ "$slept" -lt 100 ] || fail "$kind: it looks whether something came"
    kill "${daemons[-1]}"; wait "${daemons[-1]}" || true
    for space in "$a" "$b" "$r"; do ip netns del "$space" 2>/dev/null || true; done
    a=vly-$$-a
done
echo "ok $name"
