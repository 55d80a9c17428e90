#!/usr/bin/env bash
# Access lists that keep connections: what inside begins is answered, nobody outside begins anything; connections stay when the
# configuration is applied anew, and end with `clear connections`, or when their list goes.
#
#   host a (inside) ── p1 │ volleyd │ p2, which has the lists ── host b (outside)
. "$(dirname "$0")/lib.sh"
for tool in socat traceroute jq; do command -v $tool >/dev/null || skip "$tool is missing"; done
fail() { echo "$1"; ctl router show connections; ctl router show acl; ctl router show errors; exit 1; }
hosts
ip -n "$a" addr add 2001:db8:1::2/64 dev eth0 nodad
ip -n "$b" addr add 2001:db8:2::2/64 dev eth0 nodad
ip -n "$a" route add default via 2001:db8:1::1
ip -n "$b" route add default via 2001:db8:2::1
{
    two_ports af_packet | sed 's/^count = 1/count = 2/
        s/^addresses = \["10.0.1.1\/24"\]/addresses = ["10.0.1.1\/24", "2001:db8:1::1\/64"]/
        s/^addresses = \["10.0.2.1\/24"\]/addresses = ["10.0.2.1\/24", "2001:db8:2::1\/64"]\nacl_in = "inward"\nacl_out = "outward"/'
    cat <<'TOML'
[acl.outward]
[[acl.outward.rule]]
action = "deny"
protocol = "tcp"
destination_port = 25
[[acl.outward.rule]]
action = "reflect"
[acl.inward]
[[acl.inward.rule]]
action = "permit"
protocol = "icmp6"
icmp_type = 135
[[acl.inward.rule]]
action = "permit"
protocol = "icmp6"
icmp_type = 136
[connections]
max = 1024
TOML
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
until_true pings "$a" 2001:db8:2::2
! on "$b" ping -c 2 -i 0.2 -W 1 10.0.1.2 >/dev/null || fail "b pings a"
! on "$b" ping -c 2 -i 0.2 -W 1 2001:db8:1::2 >/dev/null || fail "b pings a by IPv6"
# What the router sends itself begins one, too.
ctl router ping 10.0.2.2 --count 1 | has '1 received' || fail "the router is not answered"
for host in "$a" "$b"; do
    on "$host" socat TCP-LISTEN:7000,fork,reuseaddr SYSTEM:'echo $SOCAT_PEERADDR' & daemons+=($!)
done
on "$b" socat UDP-RECVFROM:7001,fork SYSTEM:'echo $SOCAT_PEERADDR\:$SOCAT_PEERPORT' & daemons+=($!)
on "$b" socat TCP-LISTEN:25,fork,reuseaddr SYSTEM:'echo mail' & daemons+=($!)
hears() { on "$1" timeout 5 socat -T 2 - "$2" </dev/null 2>/dev/null | has -Fx "$3"; }
until_true hears "$a" TCP:10.0.2.2:7000 10.0.1.2 || fail "a's connection is not answered"
udp_hears() { echo who | on "$a" timeout 3 socat -t 1 - UDP:10.0.2.2:7001,sourceport=4000 | has -Fx 10.0.1.2:4000; }
until_true udp_hears || fail "a's datagram is not answered"
! on "$b" timeout 2 socat - TCP:10.0.1.2:7000,connect-timeout=1 </dev/null >/dev/null 2>&1 || fail "b begins a connection to a"
! on "$a" timeout 2 socat - TCP:10.0.2.2:25,connect-timeout=1 </dev/null >/dev/null 2>&1 || fail "a sends mail"
# Errors about what left come in: nobody listens at this port of b's, and each hop of the way tells.
on "$a" ping -c 2 -i 0.2 -W 2 -s 4000 10.0.2.2 >/dev/null || fail "a packet in pieces is lost"
traced() { on "$a" traceroute -n -q 1 -w 1 -m 4 10.0.2.2 >"$work/traced"; has ' 2  10.0.2.2 ' "$work/traced"; }
until_true traced || fail "$(cat "$work/traced")"

# A session that stays open while all else happens.
mkfifo "$work/talk"
on "$a" socat -u TCP:10.0.2.2:7002,retry=50,interval=0.1 - >"$work/heard" & daemons+=($!)
on "$b" socat -u OPEN:"$work/talk",rdwr TCP-LISTEN:7002,reuseaddr & daemons+=($!)
says() { echo "$1" >"$work/talk"; until_true has "$1" "$work/heard"; }
says before || fail "the session does not begin"
shown() { ctl router show connections --port p2 --address 10.0.2.2 | has -P ' *p2 +tcp +10\.0\.1\.2:\d+ +10\.0\.2\.2:7002 .* established '; }
shown || fail "the session is not shown"
[ "$(json '.[] | select(.name == "inward") | .answer_packets > 5' router show acl)" = true ] || fail "answers are not counted"
ctl router show acl | has -P '^inward +answers +permit' || fail "answers are not among the list's counts"
ctl router show errors | has -P 'acl-input +denied' || fail "what was denied is not counted"

# What decided is told, before and afterwards; who asks begins none.
port=$(json '.connections[] | select(.destination == "10.0.2.2:7002" and .state == "established").source' router show connections | sed 's/.*://')
would() {
    local wanted=$1
    shift
    ctl router explain "$@" --json | jq -r '[.walks[0].steps[].decisions[] | select(.what == "connection" or .what == "dropped").said] | join(": ")' >"$work/would"
    has -Fx "$wanted" "$work/would" || fail "of $*: $(cat "$work/would")"
}
would 'would begin one' in p1 ip src 10.0.1.2 dst 10.0.2.2 / udp sport 4999 dport 53
would 'answers a known one: passes before rules are asked' in p2 ip src 10.0.2.2 dst 10.0.1.2 / tcp sport 7002 dport "$port" flags A
would 'The access list of the interface denies it.' in p2 ip src 10.0.2.2 dst 10.0.1.2 / tcp sport 7003 dport "$port" flags A
ctl router trace start --port p2 --protocol tcp --count 1 >/dev/null
says traced || fail "the session is gone"
told() { ctl router trace show | has 'connection: answers a known one: passes before rules are asked'; }
until_true told || { ctl router trace show; fail "a trace does not tell of the connection"; }

# The configuration applied anew, a rule more, and another change: the session goes on.
ctl router config apply "$work/router.toml" >/dev/null
ctl router acl insert outward 0 deny protocol udp destination_port 53 >/dev/null
ctl router acl append inward deny protocol udp >/dev/null
ctl router port set p1 redirects on >/dev/null
says changed || fail "a change ended the session"
shown || fail "a change lost the session"

# All end: what b says then is nobody's, until a says something.
ctl router clear connections --address 10.9.9.9 | has '^0 connections ended' || fail "others were meant"
says still || fail "others were meant"
ctl router clear connections | has -P '^[1-9]\d* connections ended' || fail "none ended"
[ "$(ctl router show connections --json | jq '[.connections[] | select(.destination == "10.0.2.2:7002")] | length')" = 0 ] || fail "it is shown still"
denied() { json '.[] | select(.name == "inward") | .other_packets' router show acl; }
before=$(denied)
echo lost >"$work/talk"
until_more() { [ "$(denied)" -gt "$before" ]; }
until_true until_more || fail "what answers nobody is let in"
! has lost "$work/heard" || fail "it was heard"

# A list that goes takes its connections along; those of others stay.
until_true hears "$a" TCP:10.0.2.2:7000 10.0.1.2
[ "$(json '.connections | length > 0' router show connections --port p2)" = true ] || fail "none is known"
ctl router port set p2 acl_out none >/dev/null
none() { [ "$(ctl router show connections --json | jq '.connections | length')" = 0 ]; }
until_true none || fail "connections outlive their list"
! hears "$a" TCP:10.0.2.2:7000 10.0.1.2 || fail "it is answered without a list that says so"
ctl router port set p2 acl_out outward >/dev/null
until_true hears "$a" TCP:10.0.2.2:7000 10.0.1.2 || fail "the list does not stand again"

# More than there is room for: nothing leaves without a connection.
on "$a" python3 - <<'PY'
import socket
for port in range(10000, 14000):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("10.0.1.2", port))
        s.sendto(b"x", ("10.0.2.2", 9))
PY
[ "$(json '.evicted > 500 and .taken <= 1024' router show connections --limit 1)" = true ] || fail "who makes room is not told"
until_true pings "$a" 10.0.2.2
ctl router port set p2 acl_in none acl_out none >/dev/null
ctl router acl del outward >/dev/null
ctl router show connections | has 'no list and no flow keeps connections' || fail "the table is there still"
pings "$b" 10.0.1.2 >/dev/null || fail "b is kept out by no list"
echo "ok $name"
