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
vs clear port v2 qos -- set Interface v1 ingress_policing_rate=1000
is length 0 qos && is '.[0].rate' 1mbit policers

# What no scheduler is told, in the log and in the row; the port goes on.
vs set port v2 qos=@q -- --id=@q create qos type=linux-netem >/dev/null
column Interface v2 error '.*linux-netem. is no type that is done here.*'
pings "$a" 10.0.9.2
vs clear port v2 qos -- --all destroy qos -- --all destroy queue
column Interface v2 error '\[\]'
vs del-br br0
is length 0 ports && is length 0 bridge && is length 0 policers
echo "ok $name"
