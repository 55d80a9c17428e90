#!/usr/bin/env bash
# Tags, trunks, QoS and policing as Open vSwitch's database says: a VLAN is apart, and what a port sends has the rate that its row names.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ovsdb.bash"
vs add-br br0 -- add-port br0 v1 -- add-port br0 v2
until_true pings "$a" 10.0.9.2

# A tag: the port is in that VLAN alone, which the trunk carries.
vs add-port br0 v3 tag=10
! pings "$a" 10.0.9.3 >/dev/null || exit 1
send() { on "$1" python3 -c "import socket, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('eth0', 0))
link.send(bytes.fromhex(sys.argv[1]).ljust(64, b'\\0'))" "$2"; }
# passes FROM TO FRAME FILTER: a frame is seen there, by what tcpdump says of it.
passes() {
    rm -f "$work/dump"
    on "$2" timeout 10 tcpdump -n -e -i eth0 -c 1 "$4" >"$work/seen" 2>"$work/dump" &
    until_true has listening "$work/dump"
    send "$1" "$3"
    wait $!
}
passes "$a" "$c" ffffffffffff0600000000018100000a88b5 'ether proto 0x88b5'
! has vlan "$work/seen" || { cat "$work/seen"; exit 1; }
passes "$c" "$a" ffffffffffff06000000000388b5 'vlan 10'

# QoS: what the port sends has the rate of queue 0; then none.
vs set port v2 qos=@q -- --id=@q create qos type=linux-htb other-config:max-rate=10000000 queues:0=@q0 -- \
    --id=@q0 create queue other-config:max-rate=5000000 >/dev/null
on "$b" iperf3 -s >"$work/iperf.log" &
daemons+=($!)
rate() { on "$a" iperf3 -c 10.0.9.2 -t 3 -J | jq -e '.end.sum_received.bits_per_second | . > 4.2e6 and . < 5.1e6'; }
until_true rate
# A flow chooses another queue, which is slower and marks; what no flow chooses for is as it was.
vs set queue "$(vs get qos "$(vs get port v2 qos)" queues:0)" other-config:max-rate=9000000 -- \
    add qos "$(vs get port v2 qos)" queues 1=@q1 -- --id=@q1 create queue other-config:max-rate=2000000 dscp=46 >/dev/null
ovs-ofctl add-flow "unix:$work/br0.mgmt" 'priority=9,udp,tp_dst=7,actions=set_queue:1,NORMAL'
rm -f "$work/dump"
on "$b" timeout 10 tcpdump -n -v -i eth0 -c 2 udp port 7 or udp port 8 >"$work/seen" 2>"$work/dump" &
until_true has listening "$work/dump"
on "$a" bash -c 'echo one >/dev/udp/10.0.9.2/7; sleep 0.2; echo two >/dev/udp/10.0.9.2/8'
wait $!
[ "$(grep -c 'tos 0xb8' "$work/seen")" = 1 ] || { cat "$work/seen"; exit 1; }
queued() { ctl router qos show v2 --statistics | grep -A1 'class htb 1:2 ' | has 'Sent [1-9]'; }
until_true queued
vs clear port v2 qos -- set Interface v1 ingress_policing_rate=1000
is length 0 qos && is '.[0].rate' 1mbit policers
# Thousands of packets: as many at once, and as many a second, of however long ones.
vs set Interface v1 ingress_policing_kpkts_rate=1 ingress_policing_kpkts_burst=1
until_true is '.[0] | "\(.rate) \(.packet_rate) \(.packet_burst)"' '1mbit 1000 1000' policers
vs set Interface v1 ingress_policing_rate=0
until_true is '.[0] | "\(.rate) \(.packet_rate) \(.packet_burst)"' 'null 1000 1000' policers
on "$a" python3 -c "import socket
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('eth0', 0))
for number in range(5000):
    link.send(bytes.fromhex('ffffffffffff06000000000188b5').ljust(60 + number % 1000, b'\0'))"
until_true is '[.[0].colours[].packets] | add >= 5000' true policers
is '.[0].colours | map({(.colour): .packets}) | add | .green >= 1000 and .green < 4500 and .red >= 500' true policers ||
    { ctl router show policers; exit 1; }

# What no scheduler is told, in the log and in the row; the port goes on.
vs set port v2 qos=@q -- --id=@q create qos type=linux-netem >/dev/null
column Interface v2 error '.*linux-netem. is no type that is done here.*'
pings "$a" 10.0.9.2
vs clear port v2 qos -- --all destroy qos -- --all destroy queue
column Interface v2 error '\[\]'
vs del-br br0
is length 0 ports && is length 0 bridge && is length 0 policers
echo "ok $name"
