#!/usr/bin/env bash
# Two VRFs with the same addresses on both: each host reaches the router and its own neighbours, none
# reaches across, until a route leaks; IPv4 and IPv6. A VRF in use cannot be removed.
. "$(dirname "$0")/lib.sh"
hosts
# Both hosts get the same addresses, and each an address of its own behind it.
for host in "$a:1" "$b:2"; do
    number=${host##*:} host=${host%:*}
    ip -n "$host" addr flush dev eth0
    ip -n "$host" addr add 192.0.2.2/24 dev eth0
    ip -n "$host" -6 addr add 2001:db8::2/64 dev eth0 nodad
    ip -n "$host" addr add "10.0.$number.9/32" dev lo
    ip -n "$host" -6 addr add "2001:db8:$number::9/128" dev lo nodad
    ip -n "$host" route add default via 192.0.2.1 src "10.0.$number.9"
    ip -n "$host" -6 route add default via 2001:db8::1 src "2001:db8:$number::9"
done
cat >"$work/router.toml" <<'TOML'
[workers]
count = 1
[memory]
buffers = 8192
[vrf.red]
[vrf.blue]
[port.p1]
kind = "af_packet"
device = "v1"
vrf = "red"
addresses = ["192.0.2.1/24", "2001:db8::1/64"]
[port.p2]
kind = "af_packet"
device = "v2"
vrf = "blue"
addresses = ["192.0.2.1/24", "2001:db8::1/64"]
TOML
router router
reaches() { on "$1" ping -c 1 -W 1 -q "$2"; }
isolated() { if reaches "$@" >/dev/null; then echo "$* is reached"; exit 1; fi; }
for host in "$a" "$b"; do
    until_true reaches "$host" 192.0.2.1
    until_true reaches "$host" 2001:db8::1
done

# Nobody has a route to the other's own address, and it is never the other one that answers.
isolated "$a" 10.0.2.9
isolated "$a" 2001:db8:2::9
[ "$(json '[.[] | select(.address == "192.0.2.2") | .vrf] | sort | join(" ")' router show neighbors)" = "blue red" ]

# Each VRF leads to its own host by the same next hop; still none across.
for vrf in red:1 blue:2; do
    ctl router route add "10.0.${vrf#*:}.9/32" via 192.0.2.2 vrf "${vrf%:*}"
    ctl router route add "2001:db8:${vrf#*:}::9/128" via 2001:db8::2 vrf "${vrf%:*}"
done
isolated "$a" 10.0.2.9

# Red leaks to blue by blue's port, blue to red by red's table.
ctl router route add 10.0.2.9/32 via 192.0.2.2 port p2 vrf red
ctl router route add 2001:db8:2::9/128 via 2001:db8::2 port p2 vrf red
ctl router route add 10.0.1.9/32 via vrf red vrf blue
ctl router route add 2001:db8:1::9/128 via vrf red vrf blue
for target in 10.0.2.9 2001:db8:2::9; do until_true reaches "$a" "$target"; done
for target in 10.0.1.9 2001:db8:1::9; do until_true reaches "$b" "$target"; done
ctl router lookup 10.0.1.9 --vrf blue | has 'as VRF red says'
ctl router show routes --vrf red | has '10.0.2.9/32'

# Routes in bulk go into their VRF; one that ports and routes name stays.
ctl router route add-range 172.16.0.0/24 --count 1000 --via 192.0.2.2 --vrf blue >/dev/null
[ "$(json '[.[] | select(.name == "blue") | .ip4.routes >= 1000] | any' router show vrfs)" = true ]
[ "$(json .total router show routes --vrf red --source dynamic)" = 0 ]
if ctl router vrf del red 2>"$work/refused"; then echo "a VRF in use was removed"; exit 1; fi
has 'there is no VRF `red`' "$work/refused"

# Two ports change places in one change: each keeps its network, in the other VRF.
printf 'port set p1 vrf blue\nport set p2 vrf red\nroute del 10.0.2.9/32 vrf red\nroute del 2001:db8:2::9/128 vrf red\n' |
    ctl router exec - >/dev/null
for host in "$a" "$b"; do
    until_true reaches "$host" 192.0.2.1
    until_true reaches "$host" 2001:db8::1
done
ctl router exec - >/dev/null <<'COMMANDS'
port set p1 vrf red
port set p2 vrf blue
COMMANDS
for host in "$a" "$b"; do until_true reaches "$host" 192.0.2.1; done

# A shaped port tells packets of one VRF from those of another: what red sends leaves by its class.
ctl router exec - >/dev/null <<'COMMANDS'
qos set p1 htb default 1:20
qos class p1 1:10 rate 10mbit
qos class p1 1:20 rate 10mbit
qos filter p1 1:20 vrf blue
qos filter p1 1:10 vrf red
COMMANDS
of_class() { json ".[0].root | .. | objects | select(.id == \"1:$1\") | .sent_packets" router show qos; }
red=$(of_class 10)
until_true reaches "$a" 192.0.2.1
[ "$(of_class 10)" -gt "$red" ]
if ctl router qos filter p1 1:10 vrf green 2>"$work/refused"; then echo "a filter named no VRF"; exit 1; fi
has 'there is no vrf `green`' "$work/refused"
ctl router qos del p1

# A port moves to another VRF with all that it brings.
ctl router route del 10.0.2.9/32 vrf blue
ctl router route del 2001:db8:2::9/128 vrf blue
ctl router port set p2 vrf default
until_true reaches "$b" 192.0.2.1
isolated "$b" 10.0.1.9
echo "ok $name"
