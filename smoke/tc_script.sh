#!/usr/bin/env bash
# A tc script typed on the router does what tc would do to devices of the names of its ports: all of its lines or none, each wrong one told by its
# number; what is not named is kept by `change` and not by `replace`; it is shown as tc shows it, and packets take it.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; ctl router qos show; exit 1; }
hosts
two_ports af_packet >"$work/router.toml"
router router
# tc LINE...: they are done; refused TEXT LINE...: none of them is, and why says TEXT.
tc() { printf '%s\n' "$@" | ctl router qos import - >"$work/said.txt" 2>&1 || { cat "$work/said.txt"; fail "refused: $*"; }; }
refused() {
    local before
    before=$(ctl router qos show)
    ! printf '%s\n' "${@:2}" | ctl router qos import - >"$work/said.txt" 2>&1 || fail "taken: ${*:2}"
    has -- "$1" "$work/said.txt" || { cat "$work/said.txt"; fail "it does not say '$1': ${*:2}"; }
    [ "$(ctl router qos show)" = "$before" ] || fail "done in part: ${*:2}"
}
shows() { ctl router qos show p2 | has -- "$1" || fail "not shown: $1"; }

# The tree of docs/shaping.md, line by line: a class is named before it is there. (A script begins with what may not be there.)
tc 'tc qdisc del dev p2 root'
tc 'tc qdisc add dev p2 root handle 1: htb default 20'
tc 'tc class add dev p2 parent 1: classid 1:1 htb rate 19mbit'
tc 'tc class add dev p2 parent 1:1 classid 1:10 htb rate 2mbit ceil 19mbit'
tc 'tc class add dev p2 parent 1:1 classid 1:20 htb rate 17mbit ceil 19mbit burst 32kbit'
tc 'tc qdisc add dev p2 parent 1:20 handle 20: fq_codel target 5ms limit 500'
tc 'tc filter add dev p2 parent 1: protocol ip u32 match ip dport 7 0xffff flowid 1:10'
shows '^qdisc htb 1: .*default 0x20'
shows '^qdisc fq_codel 20: parent 1:20 .*limit 500p .*target 5ms '
shows '^class htb 1:20 parent 1:1 .*rate 17Mbit ceil 19Mbit burst 4Kb'
until_true pings "$a" 10.0.2.2
took() { ctl router show qos --json | jq -e ".. | objects | select(.id? == \"$1\") | .sent_packets >= $2"; }
until_true took 1:20 3 || fail "packets take another class"

# `change` keeps what the line does not name, `replace` does not.
tc 'tc qdisc change dev p2 parent 1:20 handle 20: fq_codel target 100ms'
shows 'fq_codel 20: .*limit 500p .*target 100ms '
tc 'tc qdisc replace dev p2 parent 1:20 handle 20: fq_codel target 5ms'
shows 'fq_codel 20: .*limit 10240p .*target 5ms '

refused 'Exclusivity flag on' 'tc qdisc add dev p2 root handle 1: htb'
refused 'fw' 'tc filter add dev p2 parent 1: handle 6 fw flowid 1:10'
refused 'nosuch0' 'tc qdisc add dev nosuch0 root sfq'
refused 'bands' 'tc qdisc replace dev p1 root prio bands 1'
# Every line's fault at once, with its number, and what is right among them is not done either.
refused ':1' 'tc qdisc add dev p1 root nonsense' 'tc class add dev p2 parent 1:1 classid 1:30 htb rate 1mbit' 'tc class add dev p2 parent 1:1 classid 1:40 htb rate never'
has ':3' "$work/said.txt" && ! has ':2' "$work/said.txt" || { cat "$work/said.txt"; fail "not each wrong line is told, or a right one is"; }

# What providers sell is a warning: more than the link has, and a rate above its ceil.
tc 'tc class add dev p2 parent 1:1 classid 1:30 htb rate 18mbit ceil 17mbit'
ctl router events --last 50 | has shaper-promise || fail "nobody is told of promises that cannot be kept"
tc 'tc qdisc add dev p1 root handle 5: tbf rate 1mbit burst 1000 latency 50ms' 'tc filter add dev p2 parent 1: u32 match u32 0 0 flowid 1:30'
ctl router qos show p1 | has '^qdisc tbf 5: root .*rate 1Mbit burst 1000b' || fail "the bucket is another"
until_true pings "$a" 10.0.2.2
until_true took 1:30 3
tc 'tc qdisc del dev p1 root' 'tc qdisc del dev p2 root'
[ -z "$(ctl router qos show)" ] || fail "something is left"
echo "ok $name"
