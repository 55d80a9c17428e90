#!/usr/bin/env bash
# Two sites and a map server, each a router of its own: hosts find each other by asking, over IPv4 and IPv6; what is
# asked and told is what tshark reads of it; a site moves; a wrong key is refused; an entry runs out.
#
#   host a 10.1.0.2 ── west ── w0|w1 ── core (map server, underlay) ── e1|e0 ── east ── host b 10.2.0.2
#                                                    └── n1|n0 ── north ── host c 10.2.0.2, where b's site moves to
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lisp.bash"
command -v tshark >/dev/null || skip "tshark is missing"
lisp_wires
site west 1 1 secret-w; site east 2 2 secret-e; site north 3 2 secret-e
core 'proxy_reply = false'
on "$r" timeout 250 tcpdump -i w1 -U -w "$work/west.pcap" 'udp port 4342 or udp port 4341' 2>"$work/tcpdump.txt" & tracing=$!; daemons+=($tracing)
until_true grep -q listening "$work/tcpdump.txt"
for one in core west east; do router $one; done
registered() { [ "$(json "[.[] | select(.told_by != null)] | length" core show lisp-sites)" = "$1" ]; }
until_true registered 4 || fail "the sites did not register"
until_true state west registered

# The first packet waits for the answer: not one of them is lost.
until_true on "$a" ping -c 1 -W 1 10.1.0.1
until_true on "$b" ping -c 1 -W 1 10.2.0.1
on "$a" ping -c 3 -i 0.2 -W 5 10.2.0.2 >"$work/ping.txt" || fail "a does not reach b"
until_true on "$a" ping -c 1 -W 2 2001:db8:b2::2
learned() { ctl west show lisp-cache | has "10.2.0.0/16.*learned.*$1"; }
learned 192.0.2.6 || fail "nothing was learned"

# No route to the locator any more: it is left out, and back with the route.
ctl west route del 192.0.2.4/30
until_true learned 'no route'
ctl west route add 192.0.2.4/30 via 192.0.2.1
until_true learned 'used'

# b's site moves to north: the map server tells east, which has west ask again.
router north
until_true learned 192.0.2.10
until_true on "$a" ping -c 1 -W 2 10.2.0.2
count() { json "[.messages[] | select(.message == \"$2\") | .count] | add // 0" "$1" show lisp; }
[ "$(count west 'solicit-map-request heard')" -gt 0 ] || fail "nobody had west ask again"
[ "$(count core 'map-notify-ack heard')" -gt 0 ] || fail "nobody confirmed the move"

# A wrong key: nothing is taken, and that is counted; the right one again.
ctl north lisp_server add 192.0.2.9 key guess
refused() { [ "$(count core 'map-register refused: wrong key')" -gt 0 ]; }
until_true refused || fail "a wrong key was taken"
ctl north lisp_server add 192.0.2.9 key secret-e

# What nobody asked for teaches nothing: forged answers, with nonces that were guessed.
on "$r" /usr/bin/python3 "$root/smoke/lisp_forged.py" || fail "the forger failed"
until_true sh -c "'$bin/volley' --socket '$work/west.sock' show lisp --json | grep -q 'nobody asked for'"
ctl west show lisp-cache | has 6.6.6.6 && fail "a forged answer was believed"

# What is no site's is a hole in the map, as wide as can be.
on "$a" ping -c 1 -W 1 10.9.0.1 >/dev/null && fail "who is nowhere answered"
hole() { ctl west show lisp-cache | has '10.8.0.0/13.*native'; }
until_true hole || fail "no hole"

# West is killed, and the map server before it: west knows what it had learned, and packets go at once.
before=$(stat -c %Y.%y "$work/west.state/mappings")
written() { [ "$(stat -c %Y.%y "$work/west.state/mappings")" != "$before" ]; }
until_true written
for number in 1 2; do kill -9 "${daemons[$number]}"; wait "${daemons[$number]}" 2>/dev/null || true; done
router west
learned 192.0.2.10 || fail "what was learned is gone"

# tshark reads each message, and finds no fault.
kill $tracing; wait $tracing 2>/dev/null || true
read_all() { tshark -r "$work/west.pcap" "$@" 2>/dev/null; }
read_all -Y '_ws.malformed || _ws.expert.severity >= 0x00800000' | has . && { read_all -Y _ws.malformed -V | head -60; fail "tshark finds faults"; }
for type in 1 2 3 4 8; do read_all -Y "lisp.type == $type" | has . || fail "no message of type $type"; done
read_all -Y 'lisp-data && icmp' | has . || fail "no packet between locators"
echo "ok $name"
