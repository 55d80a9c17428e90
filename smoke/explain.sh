#!/usr/bin/env bash
# What is said of a packet is what becomes of it, and saying it changes nothing: rules, policers, classes, VLANs, bridges.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
for host in "$a" "$b" "$r"; do on "$host" sysctl -qw net.ipv6.conf.all.disable_ipv6=1; done
{
    two_ports af_packet
    cat <<'END'
acl_out = "web"
police_in = "little"
[port.p2.qos]
kind = "htb"
default = "1:30"
class = [{ id = "1:10", rate = "2mbit" }, { id = "1:30", rate = "7mbit" }]
filter = [{ class = "1:10", dscp = 46 }]
[acl.web]
default = "permit"
rule = [{ action = "permit", protocol = "udp", destination_port = 53 }, { action = "deny", protocol = "udp", destination_port = 99 }]
[policer.little]
rate = "8kbit"
burst = "500b"
[port.v7]
kind = "vlan"
parent = "p1"
vlan = 7
[port.x1]
kind = "vxlan"
local = "10.0.2.1"
remote = "10.0.2.2"
vni = 42
[bridge.br0]
ports = ["v7", "x1"]
END
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
told() { ctl router explain "$@" --json; }
is() { told "${@:2}" | jq -e "$1" >/dev/null || { told "${@:2}" | jq .; fail "of ${*:2}, this is not so: $1"; }; }
decided() { local node=$1 what=$2; shift 2; told "$@" | jq -r ".walks[0].steps[] | select(.node == \"$node\").decisions[] | select(.what == \"$what\").said"; }

# Each table that decided is named, and the frame that would leave is the one that does.
dns=(in p1 ip src 10.0.1.2 dst 10.0.2.2 ttl 9 dscp 46 / udp sport 7 dport 53 / data 30)
[ "$(told "${dns[@]}" | jq -r .outcome)" = "sent by p2" ] || { told "${dns[@]}"; fail "it is not sent"; }
decided ip4-lookup route "${dns[@]}" | has '10.0.2.2: connected 10.0.2.0/24' || fail "another route: $(decided ip4-lookup route "${dns[@]}")"
decided ip4-rewrite 'next hop' "${dns[@]}" | has '10.0.2.2 at .* out of p2' || fail "another next hop"
decided acl-output rule "${dns[@]}" | has 'number 0, .*"permit"' || fail "another rule: $(decided acl-output rule "${dns[@]}")"
decided shape class "${dns[@]}" | has 'htb 1: > class 1:10' || fail "another class: $(decided shape class "${dns[@]}")"
decided shape class in p1 ip dst 10.0.2.2 / udp dport 53 | has 'class 1:30' || fail "the default class is another"
is '.outcome == "dropped by acl-output: denied"' in p1 ip dst 10.0.2.2 / udp dport 99
decided acl-output rule in p1 ip dst 10.0.2.2 / udp dport 99 | has 'number 1, .*"deny"' || fail "another rule denies"
is '.walks[0].steps | any(.node == "icmp4-error")' in p1 ip src 10.0.1.2 dst 10.0.2.2 ttl 1 / udp
is '.sent[0].port == "p1" and (.sent[0].packet | test("time exceeded"))' in p1 ip src 10.0.1.2 dst 10.0.2.2 ttl 1 / udp
is '.brings_about[0] | test("asks who has 10.0.2.77 on p2")' in p1 ip dst 10.0.2.77
is '.port == "v7" and (.walks[0].steps | any(.node == "l2-learn"))' in v7 ether src 02:00:00:00:00:33 dst 02:00:00:00:00:44 / ip dst 10.9.9.9
# Into a tunnel: which one, and the next hop on the way to its other end.
bridged=(in v7 ether src 02:00:00:00:00:33 dst 02:00:00:00:00:44 / ip dst 10.9.9.9)
of_tunnel() { told "${bridged[@]}" | jq -r ".walks[].steps[] | select(.node == \"tunnel-encap\").decisions[] | select(.what == \"$1\").said"; }
of_tunnel tunnel | has 'by x1, its own interface in VRF' || { told "${bridged[@]}"; fail "another tunnel: $(of_tunnel tunnel)"; }
of_tunnel 'next hop' | has '10.0.2.2 at .* out of p2' || fail "another next hop of a tunnel: $(of_tunnel 'next hop')"
is '.sent | any(.port == "p2" and (.packet | test("VXLAN|vxlan|4789")))' "${bridged[@]}"
told "${dns[@]}" | jq -r .hex >"$work/in.hex"
told "${dns[@]}" | jq -r '.sent[0].hex' >"$work/out.hex"
on "$b" timeout 20 tcpdump -Q in -i eth0 -c 1 -w "$work/left.pcap" 'udp dst port 53' 2>"$work/tcpdump.log" &
until_true grep -q listening "$work/tcpdump.log"
on "$a" python3 -c 'import socket, sys; link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); link.bind(("eth0", 0)); link.send(bytes.fromhex(sys.argv[1]))' "$(cat "$work/in.hex")"
wait $!
[ "$(tshark -r "$work/left.pcap" -T fields -e frame.len 2>/dev/null)" = $(($(wc -c <"$work/out.hex") / 2)) ] || fail "another length"
[ "$(ctl router explain --pcap "$work/left.pcap" in p2 --json | jq -r .hex)" = "$(cat "$work/out.hex")" ] || fail "what left is not what was said"
# Packets that really pass are told likewise, the router's own answers as well.
traced() { ctl router trace show --json | jq -r "[.packets[].steps[] | select(.node == \"$1\").decisions[] | select(.what == \"$2\").said] | join(\"; \")"; }
ctl router trace start --source 10.0.1.2 --destination 10.0.2.2 --count 2 >/dev/null
for dscp in 46 0; do on "$a" ping -q -c 1 -W 2 -Q $((dscp * 4)) 10.0.2.2 >/dev/null || true; done
by_class() { [ "$(traced shape class)" = '1:10; 1:30, the default: no filter takes it' ]; }
until_true by_class || fail "classes traced: $(traced shape class)"
is '.outcome | test("sent by p1; refused by ip4-lookup: no-route")' in p1 ip src 10.0.1.2 dst 203.0.113.9 / udp
is '[.walks[0].steps[] | select(.node == "ip4-lookup").detail] | last | test("^IPv4 10.0.1.1 > 10.0.1.2 .* ICMP net unreachable")' in p1 ip src 10.0.1.2 dst 203.0.113.9 / udp

# Thirty questions change nothing: no counter, token, station, neighbour, and nothing is sent.
ctl router counters clear >/dev/null
for _ in $(seq 30); do echo 'explain in p2 ip src 10.0.2.2 dst 10.0.1.77 / udp / data 300'; done >"$work/many"
neighbors() { ctl router show neighbors --json | jq -c '[.[] | [.address, .state]]'; }
# A neighbour's state changes with time alone, too; what questions change they change each time.
changes_nothing() { local before; before=$(neighbors) && ctl router exec "$work/many" >/dev/null && [ "$(neighbors)" = "$before" ]; }
changes_nothing || changes_nothing || changes_nothing || fail "neighbours are others now"
is '.outcome | test("dropped") | not' in p2 ip src 10.0.2.2 dst 10.0.1.2 / udp / data 300
[ "$(json 'map(.rx.packets + .tx.packets) | add' router show ports)" -lt 20 ] || fail "ports counted questions"
[ "$(json '[.[] | select(.node == "policer-input")] | length' router show errors)" = 0 ] || fail "questions took tokens"
[ "$(json .total router mac show)" = 0 ] || fail "a station was learned of a question"
[ "$(json '[.[].colours[].packets] | add' router show policers)" -lt 20 ] || fail "a policer counted questions"

# What is wrong is told with what would be right.
wrong() { ! ctl router explain "${@:2}" >"$work/wrong" 2>&1 || fail "taken: ${*:2}"; has -- "$1" "$work/wrong" || { cat "$work/wrong"; fail "not told: $1"; }; }
wrong 'there is no port `p9`' in p9 ip dst 10.0.0.1
wrong 'did you mean `p1`' in p1x ip dst 10.0.0.1
wrong 'by which port does it come in' ip dst 10.0.0.1
wrong 'is no layer: expected ether' in p1 ipx
wrong 'it is no pcap file' --pcap "$work/router.toml"
printf '\n\r\r\n\034\000\000\000' >"$work/other.pcapng"
wrong 'it is a pcapng file, not a pcap file: `editcap -F pcap` makes one of it' --pcap "$work/other.pcapng"
wrong 'a frame of 9400 octets' in p1 hex "$(printf '%018800d' 0)"
echo "ok $name"
