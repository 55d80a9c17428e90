#!/usr/bin/env bash
# Address translation: TCP, UDP, ping, pieces and traceroute leave as the router's address and find back; a forwarded port, also
# from inside; a flood of new connections costs nobody's session.
#
#   host a (inside) ── p1 │ volleyd │ p2 ── host b (outside), which has no route to a
. "$(dirname "$0")/lib.sh"
for tool in socat traceroute iperf3 jq; do command -v $tool >/dev/null || skip "$tool is missing"; done
fail() { echo "$1"; ctl router show connections; ctl router show errors; exit 1; }
hosts
ip -n "$b" route del default
{
    two_ports af_packet
    cat <<'TOML'
[nat.home]
outside = "p2"
inside = ["p1"]
[[nat.home.forward]]
protocol = "tcp"
port = 8080
to = "10.0.1.2"
to_port = 80
[connections]
max = 256
TOML
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
on "$b" socat TCP-LISTEN:7000,fork,reuseaddr SYSTEM:'echo $SOCAT_PEERADDR' & daemons+=($!)
on "$b" socat UDP-RECVFROM:7001,fork SYSTEM:'echo $SOCAT_PEERADDR\:$SOCAT_PEERPORT' & daemons+=($!)
on "$a" socat TCP-LISTEN:80,fork,reuseaddr SYSTEM:'echo inside for $SOCAT_PEERADDR' & daemons+=($!)
on "$b" iperf3 -s >/dev/null 2>&1 & daemons+=($!)
hears() { on "$1" timeout 5 socat -T 2 - "$2" </dev/null 2>/dev/null | has -Fx "$3"; }
until_true hears "$a" TCP:10.0.2.2:7000 10.0.2.1
udp_hears() { echo who | on "$a" timeout 3 socat -t 1 - UDP:10.0.2.2:7001,sourceport=4000 | has -Fx 10.0.2.1:4000; }
until_true udp_hears
until_true hears "$b" TCP:10.0.2.1:8080 "inside for 10.0.2.2"
until_true hears "$a" TCP:10.0.2.1:8080 "inside for 10.0.2.1"
on "$a" ping -c 3 -i 0.2 -W 2 -s 4000 10.0.2.2 >/dev/null || fail "a packet in pieces is lost"
traced() { on "$a" traceroute -n -q 1 -w 1 -m 4 10.0.2.2 >"$work/traced"; has ' 1  10.0.1.1 ' "$work/traced" && has ' 2  10.0.2.2 ' "$work/traced"; }
until_true traced || fail "$(cat "$work/traced")"
# So it is of packets that pass: those of an ordinary ping are longer than what a trace keeps of each.
ctl router trace start --protocol icmp --count 2 >/dev/null
on "$a" ping -q -c 1 -W 2 10.0.2.2 >/dev/null
passed() {
    ctl router trace show --json | jq -r '.packets[].steps[] | select(.node | test("nat44")) | "\(.node): \([.decisions[] | select(.what == "connection" or .what == "becomes").said] | join(": "))"' |
        sed 's/identifier [0-9]*/identifier ID/' >"$work/passed"
    diff - "$work/passed" >"$work/passed.diff" <<'END'
nat44-input: 
nat44-output: is in the table: 10.0.2.1 > 10.0.2.2, identifier ID
nat44-input: is in the table: 10.0.2.2 > 10.0.1.2, identifier ID
END
}
until_true passed || { cat "$work/passed.diff"; fail "a packet's translation is not traced"; }
# What would become of a packet is told: by which connection or forwarded port, and into what; it begins none.
would() {
    local wanted=$1
    shift
    ctl router explain "$@" --json | jq -r '[.walks[0].steps[].decisions[] | select(.what == "connection" or .what == "becomes").said] | join(": ")' >"$work/would"
    has -Fx "$wanted" "$work/would" || fail "of $*: $(cat "$work/would")"
}
began=$(ctl router show connections --json | jq .total)
would 'of a known connection: 10.0.2.1:4000 > 10.0.2.2:7001' in p1 ip src 10.0.1.2 dst 10.0.2.2 / udp sport 4000 dport 7001
would 'port 8080 of 10.0.2.1 is forwarded: 10.0.2.2:5 > 10.0.1.2:80' in p2 ip src 10.0.2.2 dst 10.0.2.1 / tcp sport 5 dport 8080 flags S
would 'would begin a connection: 10.0.2.1:4999 > 10.0.2.2:53' in p1 ip src 10.0.1.2 dst 10.0.2.2 / udp sport 4999 dport 53
# What answers it is our own.
would 'of no known connection, and no forwarded port: did not come in by a port inside: as it is' in p2 ip src 10.0.2.2 dst 10.0.2.1 / tcp sport 5 dport 9 flags S
[ "$(ctl router show connections --json | jq .total)" -le "$began" ] || fail "who asks what would be begins connections"
until_true on "$a" iperf3 -c 10.0.2.2 -n 5M
has_line() { ctl router show connections --address "$1" | has -P "$2"; }
has_line 10.0.2.2 'home +tcp +10\.0\.1\.2:\d+ +10\.0\.2\.2:7000 +10\.0\.2\.1:\d+ ' || fail "a connection is not shown"
ctl router explain in p1 ip dst 10.0.2.2 / udp sport 5555 dport 53 | has nat44-output || fail "it is not explained"

# A session is open; then everybody else's ports are asked for at once.
mkfifo "$work/talk"
on "$a" socat -u TCP:10.0.2.2:7002,retry=50,interval=0.1 - >"$work/heard" & daemons+=($!)
on "$b" socat -u OPEN:"$work/talk",rdwr TCP-LISTEN:7002,reuseaddr & daemons+=($!)
echo before >"$work/talk"
until_true has before "$work/heard"
on "$a" python3 - <<'PY'
import socket
for port in range(10000, 13000):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("10.0.1.2", port))
        s.sendto(b"x", ("10.0.2.2", 9))
PY
echo after >"$work/talk"
until_true has after "$work/heard" || fail "a flood ended a session"
until_true pings "$a" 10.0.2.2
[ "$(json '.evicted > 500 and .taken <= 256' router show connections --limit 1)" = true ] || fail "who makes room is not told"
ctl router nat del home >/dev/null
! on "$a" ping -c 1 -W 1 10.0.2.2 >/dev/null || fail "it is translated still"
ctl router show connections | has 'nothing is translated'
