#!/usr/bin/env bash
# Two leaves, two spines, each a router of ours with FRR beside it: OSPF finds both ways, packets of many
# flows take both, and when a spine dies traffic goes on over the other (docs/frr.md draws it).
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/frr.bash"
fail() { echo "$1"; exit 1; }
frr_is_there
hosts
# The link of leaf N to spine M is 10.N.M.0/24.
fabric_wires

# fabric NUMBER NAME PORT=DEVICE=ADDRESS…: a router, and FRR with OSPF on all its ports.
fabric() {
    local number=$1 name=$2 port device address space
    shift 2
    space=$(frr_name "$number")
    frr_space "$number"
    fabric_head "$number" >"$work/$name.toml"
    printf 'fpm address 127.0.0.1\nrouter ospf\n ospf router-id 10.255.0.%s\nexit\n' "$number" >"$work/frr$number.conf"
    for port in "$@"; do
        IFS== read -r port device address <<<"$port"
        frr_port "$port" "$device" "$address/24" "$space" >>"$work/$name.toml"
        printf 'interface %s\n ip ospf area 0\n ip ospf hello-interval 1\n ip ospf dead-interval 4\n ip ospf network %s\nexit\n' \
            "$port" "$([ "$port" = host ] && echo broadcast || echo point-to-point)" >>"$work/frr$number.conf"
    done
    fabric_router "$number" "$name" zebra ospfd
}
for n in 1 2; do fabric $n "leaf$n" "host=v$n=10.0.$n.1" "s1=l${n}s1=10.$n.1.1" "s2=l${n}s2=10.$n.2.1"; done
for m in 1 2; do fabric $((m + 2)) "spine$m" "l1=s${m}l1=10.1.$m.2" "l2=s${m}l2=10.2.$m.2"; done

# Each leaf has two ways to the other's host, and packets pass.
ways() { json "[.routes[] | select(.prefix == \"$2\") | .next_hops[] | select(.usable)] | length" "$1" show routes --source dynamic; }
has_ways() { [ "$(ways "$1" "$2")" = "$3" ]; }
until_true has_ways leaf1 10.0.2.0/24 2
until_true has_ways leaf2 10.0.1.0/24 2
until_true pings "$a" 10.0.2.2

# Many flows take both spines: datagrams of 40 ports, each of which comes back.
ip netns exec "$b" python3 -c '
import socket
echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
echo.bind(("10.0.2.2", 7))
while True:
    echo.sendto(*echo.recvfrom(64))' &
daemons+=($!)
disown $!
flows() { on "$a" timeout 60 python3 -c '
import socket, sys
for port in range(20000, 20040):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as flow:
        flow.bind(("10.0.1.2", port))
        flow.settimeout(2)
        flow.sendto(b"flow", ("10.0.2.2", 7))
        try:
            flow.recv(64)
        except OSError:
            sys.exit(f"nothing comes back to port {port}")'; }
until_true flows
passed() { json '.[] | select(.name == "l1") | .rx.packets' "spine$1" show ports; }
before=(- "$(passed 1)" "$(passed 2)")
flows
# More than OSPF says in the meantime.
for m in 1 2; do [ $(($(passed $m) - before[m])) -ge 8 ] || fail "spine $m is idle"; done

# One dies: the way over it goes, traffic goes on.
kill -9 "${routers[spine1]}"
until_true has_ways leaf1 10.0.2.0/24 1
until_true has_ways leaf2 10.0.1.0/24 1
flows || fail "a spine took traffic with it"
echo "ok $name"
