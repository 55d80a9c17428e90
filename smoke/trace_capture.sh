#!/usr/bin/env bash
# A ping's walk through the graph, the packets of a capture, and counters that equal what was sent.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
# Nobody but the test sends anything.
for host in "$a" "$b"; do on "$host" sysctl -qw net.ipv6.conf.all.disable_ipv6=1; done
on "$r" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
{
    two_ports af_packet
    for number in 1 2; do
        mac=$(ip -n "vly-$$-$([ $number = 1 ] && echo a || echo b)" -j link show eth0 | jq -r '.[0].address')
        printf '[[neighbor]]\naddress = "10.0.%s.2"\nport = "p%s"\nmac = "%s"\n' $number $number "$mac"
    done
} >"$work/router.toml"
router router
for number in 1 2; do
    host=$([ $number = 1 ] && echo "$a" || echo "$b")
    mac=$(json ".[] | select(.name == \"p$number\").mac" router show ports)
    ip -n "$host" neigh replace "10.0.$number.1" lladdr "$mac" dev eth0 nud permanent
done
until_true pings "$a" 10.0.2.2

ctl router trace start --port p1 --count 2 >/dev/null
on "$a" ping -q -c 2 -i 0.2 -W 2 10.0.2.2 >/dev/null
two_traced() { [ "$(json '.packets | length' router trace show)" = 2 ]; }
until_true two_traced
walk=$(json '.packets[0].steps[].node' router trace show | tr '\n' ' ')
for node in ethernet-input ip4-input ip4-lookup ip4-rewrite interface-output; do
    [[ " $walk" == *" $node "* ]] || fail "$node is missing in: $walk"
done
ctl router trace show | has ip4-lookup || fail "no walk to read"

# Only what was asked for is followed, with what decided; each filter has a packet beside those that it wants.
printf 'acl append edge deny protocol udp destination_port 99\nport set p2 acl_out edge\nroute add 198.51.100.0/24 blackhole\n' >"$work/commands"
ctl router acl add edge default permit >/dev/null
ctl router exec "$work/commands" >/dev/null
say() { printf 'x' | on "$a" socat - "UDP-SENDTO:$1:$2,sp=$3"; }
# traced ARGUMENTS: whither what was traced went, of four packets and a ping.
traced() {
    ctl router trace start "$@" --count 9 >/dev/null
    say 10.0.2.2 99 1001; say 10.0.2.2 98 1002; say 198.51.100.9 97 1003; say 10.0.2.2 99 1004
    on "$a" ping -q -c 1 -W 2 10.0.2.2 >/dev/null
    ctl router trace stop >/dev/null
    # That nobody listens there, host b tells by ICMP.
    json '[.packets[].steps[0].detail | select(test("ICMP (?!echo)") | not) | capture("(?<what>UDP [0-9]+ > [0-9]+|ICMP echo [a-z]+)").what] | join(",")' router trace show
}
wants() { [ "$1" = "$2" ] || fail "traced: $2, not $1"; }
wants 'UDP 1001 > 99,UDP 1004 > 99' "$(traced --destination-port 99)"
wants 'UDP 1003 > 97' "$(traced --host 198.51.100.0/24)"
wants 'UDP 1002 > 98' "$(traced --source 10.0.1.2 --destination 10.0.2.2 --protocol udp --source-port 1002)"
wants 'ICMP echo request,ICMP echo reply' "$(traced --protocol icmp)"
wants 'ICMP echo reply' "$(traced --port p2 --protocol 1)"
wants 'UDP 1001 > 99,UDP 1003 > 97,UDP 1004 > 99' "$(traced --reason any)"
wants 'UDP 1003 > 97' "$(traced --reason blackhole)"
wants 'UDP 1001 > 99,UDP 1004 > 99' "$(traced --node acl-output)"
decided() { json "[.packets[0].steps[] | select(.node == \"$1\").decisions[] | \"\(.what) \(.said)\"] | join(\"; \")" router trace show; }
[[ "$(decided acl-output)" == 'list edge; rule number 0, { action = "deny", protocol = "udp", destination_port = 99 }; dropped '* ]] || fail "no rule: $(decided acl-output)"
[[ "$(decided ip4-lookup)" == *'route 10.0.2.2: connected 10.0.2.0/24, port p2'* ]] || fail "no route: $(decided ip4-lookup)"
for wrong in '--host p1' '--protocol upd' '--reason no-rout' '--node acl-output --reason no-route' '--source-port 65536'; do
    ! ctl router trace start $wrong >/dev/null 2>"$work/wrong" && has '^error: ' "$work/wrong" || fail "taken: $wrong"
done
ctl router port set p2 acl_out none >/dev/null
ctl router route del 198.51.100.0/24 >/dev/null

ctl router capture start --node ip4-rewrite --exit output --count 100 >/dev/null
on "$a" ping -q -c 3 -i 0.2 -W 2 -s 200 10.0.2.2 >/dev/null
all_six() { [ "$(json .captured router capture show)" = 6 ]; }
until_true all_six
ctl router capture save "$work/captured.pcap" >/dev/null
seen=$(tshark -r "$work/captured.pcap" -T fields -e icmp.type -e ip.src -e ip.ttl -e ip.len 2>/dev/null)
[ "$seen" = "$(for _ in 1 2 3; do printf '8\t10.0.1.2\t63\t228\n0\t10.0.2.2\t63\t228\n'; done)" ] || fail "captured: $seen"
ctl router capture stop >/dev/null

# As they come, for Wireshark: at a node, and what is dropped and why; a port is an interface of its own.
live() { ctl router capture live --write "$work/$1.pcapng" "${@:2}" & daemons+=($!); until_true test -s "$work/$1.pcapng"; }
live node --node ip4-rewrite --exit output --port p1 --count 3
ctl router route add 198.51.100.0/24 blackhole >/dev/null
live drops --count 2
running() { [ "$(json .running router capture show)" = true ]; }
until_true running
on "$a" ping -q -c 3 -i 0.2 -W 2 10.0.2.2 >/dev/null
on "$a" ping -q -c 2 -i 0.2 -W 1 198.51.100.9 >/dev/null || true
wait "${daemons[-2]}" "${daemons[-1]}" || fail "a live capture failed"
told() { tshark -r "$work/$1.pcapng" -T fields -e frame.interface_name -e ip.dst -e frame.comment 2>/dev/null; }
[ "$(told node | sort | uniq -c | sed 's/^ *//')" = "3 p1"$'\t10.0.2.2\tfrom p1, node ip4-rewrite, exit output' ] || fail "live: $(told node)"
told drops | has '^p1.198.51.100.9.dropped by ip4-lookup: blackhole, from p1' || fail "live: $(told drops)"
[ "$(told drops | wc -l)" = 2 ] || fail "live: $(told drops)"
ctl router extcap --extcap-interfaces | has '^interface {value=volley:p1}{display=Volley: p1 (af_packet), received}$' || fail "Wireshark is told of no port"
mkfifo "$work/fifo"
ctl router extcap --capture --extcap-interface volley:p1 --fifo "$work/fifo" & daemons+=($!)
timeout 20 tshark -i - -c 2 -T fields -e frame.interface_name -e ip.dst <"$work/fifo" >"$work/extcap" 2>/dev/null & reader=$!
until_true running
on "$a" ping -q -c 2 -i 0.2 -W 2 10.0.2.2 >/dev/null
wait $reader || fail "nothing came by extcap"
has '^p1.10.0.2.2$' "$work/extcap" || fail "by extcap: $(cat "$work/extcap")"
! ctl router capture live --node nowhere >/dev/null 2>"$work/wrong" && has 'there is no node `nowhere`' "$work/wrong" || fail "a node that is not there: $(cat "$work/wrong")"
ctl router top --times 1 --rows 3 | has '^p1 ' || fail "top shows no port"
[ "$(ctl router top --times 2 --json | jq -s 'map(.ports | length) | add')" = 4 ] || fail "top tells no program of ports"

# 10 pings there and back, 7 packets nowhere.
ctl router counters clear >/dev/null
on "$a" ping -q -c 10 -i 0.05 -W 2 10.0.2.2 >/dev/null
on "$a" ping -q -c 7 -i 0.05 -W 2 192.0.2.9 >/dev/null || true
is() { [ "$3" = "$2" ] || fail "$1: $3, not $2"; }
is "p1 received" 17 "$(json '.[] | select(.name == "p1").rx.packets' router show ports)"
is "p1 sent" 17 "$(json '.[] | select(.name == "p1").tx.packets' router show ports)"
is "p2 received" 10 "$(json '.[] | select(.name == "p2").rx.packets' router show ports)"
is "p2 bytes sent" 980 "$(json '.[] | select(.name == "p2").tx.bytes' router show ports)"
is "packets in ip-express" 27 "$(json '.[] | select(.name == "ip-express").packets' router show nodes)"
is "no route" 7 "$(json '.[] | select(.name == "ip4-lookup").exits[] | select(.name == "no-route").packets' router show nodes)"
printf 'x' | on "$a" socat - UDP-SENDTO:10.0.2.2:9,ttl=1
is "expired" 1 "$(json '.[] | select(.name == "ip4-rewrite").exits[] | select(.name == "ttl-expired").packets' router show nodes)"
on "$a" /usr/bin/python3 - <<'END'
import socket
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(("eth0", 0))
for _ in range(5):
    link.send(b"\2\0\0\0\0\x63" + b"\2\0\0\0\0\x62" + b"\x08\0" + bytes(46))
END
dropped() { [ "$(json '.[] | select(.node == "ethernet-input" and .reason == "not-for-us" and .port == "p1").packets' router show errors)" = 5 ]; }
until_true dropped
echo "ok $name"
