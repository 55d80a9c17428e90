#!/usr/bin/env bash
# Flows over two next hops of which one answers nobody: they all take the other, until it answers.
. "$(dirname "$0")/lib.sh"
hosts
ip -n "$r" link add v3 type veth peer name eth1 netns "$b"
ip -n "$r" link set v3 up
ip -n "$b" link set eth1 up
for last in $(seq 16); do ip -n "$b" addr add "192.0.2.$last/32" dev lo; done
{
    two_ports af_packet
    cat <<EOF
[port.p3]
kind = "af_packet"
device = "v3"
addresses = ["10.0.3.1/24"]
[[route]]
prefix = "192.0.2.0/24"
via = ["10.0.2.2", "10.0.3.2"]
[arp]
retry = "100ms"
EOF
} >"$work/ecmp.toml"

# A flow to each of 16 addresses, all of which host b has.
each_flow_arrives() {
    local last
    for last in $(seq 16); do
        on "$a" ping -q -c 1 -W 1 "192.0.2.$last" >/dev/null || return 1
    done
}
received() { on "$b" cat /sys/class/net/eth1/statistics/rx_packets; }
# At least four of the sixteen flows come by eth1: more than what asks for addresses there.
shares() {
    local before
    before=$(received)
    each_flow_arrives && [ "$(received)" -ge $((before + 4)) ]
}

router ecmp
until_true pings "$a" 10.0.2.2
# Nobody has 10.0.3.2: once it was asked for in vain, every flow goes by way of 10.0.2.2.
until_true each_flow_arrives
each_flow_arrives || { echo "flows go to a next hop that does not answer"; exit 1; }
ip -n "$b" addr add 10.0.3.2/24 dev eth1
on "$b" sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth1.rp_filter=0
until_true shares
echo "ok $name"
