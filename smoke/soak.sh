#!/usr/bin/env bash
# A soak: a host of one port throws all that hostile hosts do, BGP is up over another, pings cross, and the configuration
# changes at random all the while. No ping and no session is lost; in the end memory, descriptors and threads are as they
# were after the first round, and packets are conserved to the last one. `make soak` takes an hour; SOAK_TABLE=FILE keeps
# what was thrown and lost.
# Two: what is lost is counted, and a router that gets no processor loses what its sockets cannot hold.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/frr.bash"
fail() { echo "$1"; exit 1; }
frr_is_there
phase=${SOAK_PHASE:-1} rounds=$((${SOAK_SECONDS:-12} / (6 * ${SOAK_PHASE:-1})))
b=$(frr_name 2) c=vly-$$-c
hosts
frr_space 1
mkdir -p "$work/frr2" && chmod 777 "$work/frr2"
ip netns add "$c"
ip -n "$r" link add v3 type veth peer name eth0 netns "$c"
ip -n "$r" link set v3 up
ip -n "$c" addr add 10.0.3.2/24 dev eth0
ip -n "$c" link set eth0 up
# configuration PIECE…: the two ports that carry, the hostile one, and what else there is now.
configuration() {
    printf '[workers]\ncount = 1\n[memory]\nbuffers = 8192\nroutes = 100000\nip6_routes = 10000\n'
    frr_port p1 v1 10.0.1.1/24 "$(frr_name 1)"
    frr_port p2 v2 10.0.2.1/24 "$(frr_name 1)"
    printf '[fpm]\nnetns = "%s"\n' "$(frr_name 1)"
    printf '[port.p3]\nkind = "af_packet"\ndevice = "v3"\naddresses = ["10.0.3.1/24", "10.103.0.1/16", "2001:db8:3::1/64"]\n'
    printf '%s\n' "$@"
}
configuration >"$work/router.toml"
router router
for n in 1 2; do
    printf 'fpm address 127.0.0.1\nrouter bgp 6500%s\n bgp router-id 10.0.2.%s\n no bgp ebgp-requires-policy\n neighbor 10.0.2.%s remote-as 6500%s\n neighbor 10.0.2.%s timers connect 1\n address-family ipv4 unicast\n  redistribute static\n exit-address-family\nexit\nip route 10.%s.0.0/16 blackhole\n' \
        $n $n $((3 - n)) $((3 - n)) $((3 - n)) $((n + 6)) >"$work/frr$n.conf"
    frr_start $n zebra staticd bgpd
done
has_route() { ctl router show routes --source dynamic | has 10.8.0.0/16; }
until_true has_route
until_true pings "$a" 10.0.2.2

# What may come and go; keys of p3 come first, as they stand in its table.
keys=('mtu = 1400' 'acl_in = "edge"' 'redirects = true' 'urpf = { ip4 = "loose" }' 'police_in = "slow"' 'qos = { kind = "fq_codel", rate = "5mbit", burst = "32kb" }')
pieces=($'[[route]]\nprefix = "100.64.0.0/10"\nvia = "10.0.3.9"' $'[[route]]\nprefix = "100.64.7.0/24"\nblackhole = true' $'[port.v7]\nkind = "vlan"\nparent = "p3"\nvlan = 7\naddresses = ["10.77.0.1/24"]'
    $'[port.vx]\nkind = "vxlan"\nvni = 42\nlocal = "10.0.3.1"\nremotes = ["10.0.3.2"]\nlearn_remotes = true\n[port.bv]\nkind = "bvi"\n[bridge.lan]\nports = ["vx", "bv"]' $'[vrf.red]' $'[port.ip]\nkind = "ipip"\nlocal = "10.0.3.1"\nremote = "10.0.3.2"\naddresses = ["10.79.0.1/30"]')
changes=0
change() {
    local some=() it
    for it in "${keys[@]}" "${pieces[@]}"; do [ $((RANDOM % 2)) = 0 ] || some+=("$it"); done
    some+=($'[acl.edge]\ndefault = "permit"\n[[acl.edge.rule]]\naction = "deny"\nprotocol = "tcp"' $'[policer.slow]\nrate = "1mbit"\nburst = "10kb"')
    configuration "${some[@]}" >"$work/next.toml"
    ctl router config apply "$work/next.toml" >"$work/apply.txt" 2>&1 || { cat "$work/next.toml" "$work/apply.txt"; fail "a change was refused"; }
    changes=$((changes + 1))
}
ours() { json '.[] | select(.name == "p3").mac' router show ports; }
heard() { json '.[] | select(.name == "port-rx").packets' router show nodes; }
footprint() {
    local pid=${daemons[0]}
    echo "$(awk '/VmRSS/ { print $2 }' "/proc/$pid/status") $(find "/proc/$pid/fd" -type l | wc -l) $(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)"
}
is_up() { frr 1 'show bgp neighbors 10.0.2.2 json' | jq -e '.[] | .bgpState == "Established" and .connectionsDropped == 0' >/dev/null; }
is_up || fail "BGP was not up to begin with"
table=${SOAK_TABLE:-$work/table.md}
printf '| thrown | for | frames received meanwhile | pings | lost | changes | BGP |\n|---|---|---|---|---|---|---|\n' >"$table"
kinds=('scan 2001:db8:3::2 2001:db8:3::1 2001:db8:3::/64' 'scan 10.0.3.2 10.103.0.1 10.103.0.0/16' 'answers - 10.103.0.1 10.103.0.0/16'
    'questions - 2001:db8:3::1 2001:db8:3::/64' 'questions - 10.103.0.1 10.103.0.0/16' '42 - 10.0.3.1 172.16.0.0/21')
sent=0 lost=0 began=$SECONDS warm=
declare -A frames pinged gone made spent
for ((round = 0; round < (rounds < 2 ? 2 : rounds); round++)); do
    for kind in "${kinds[@]}"; do
        before=$(heard) had=$changes from=$SECONDS
        # shellcheck disable=SC2086
        ip netns exec "$c" timeout $((phase + 60)) python3 "$root/smoke/scan.py" eth0 3000 "$(ours)" $kind &
        thrower=$!
        ip netns exec "$a" ping -q -i 0.1 -c $((phase * 10)) -W 10 10.0.2.2 >"$work/ping" &
        pinging=$!
        while kill -0 $pinging 2>/dev/null; do change; sleep 0.3; done
        wait $pinging || true
        kill $thrower
        wait $thrower 2>/dev/null || true
        read -r count came < <(awk '/packets transmitted/ { print $1, $4 }' "$work/ping")
        sent=$((sent + count)) lost=$((lost + count - came))
        frames[$kind]=$((${frames[$kind]:-0} + $(heard) - before)) pinged[$kind]=$((${pinged[$kind]:-0} + count))
        gone[$kind]=$((${gone[$kind]:-0} + count - came)) made[$kind]=$((${made[$kind]:-0} + changes - had)) spent[$kind]=$((${spent[$kind]:-0} + SECONDS - from))
        is_up || fail "BGP went down: $kind"
    done
    warm=${warm:-$(footprint)}
done
for kind in "${kinds[@]}"; do
    printf '| `%s` | %s s | %s | %s | %s | %s | up |\n' "$kind" "${spent[$kind]}" "${frames[$kind]}" "${pinged[$kind]}" "${gone[$kind]}" "${made[$kind]}" >>"$table"
done

# With nobody throwing, each packet that came has left, waits nowhere, or was taken: node by node, and arrow by arrow.
configuration >"$work/next.toml"
ctl router config apply "$work/next.toml" >/dev/null
conserved() {
    ctl router show nodes --json | jq -e '. as $all | ["ip4-fragment", "l2-flood", "mirror-input", "mirror-output", "shape"] as $makers
        | all($all[]; (.name as $n | $makers | index($n)) or .packets == ([.exits[].packets] | add // 0))
        and all($all[] | select(.name != "port-rx" and .name != "inject"); . as $to | .packets == ([$all[].exits[] | select(.to == $to.name).packets] | add // 0))'
}
until_true conserved || { ctl router show nodes --json | jq -c '.[] | select(.packets > 0)'; fail "packets are not conserved"; }
ended=$(footprint)
read -r kib descriptors threads <<<"$warm"
read -r kib2 descriptors2 threads2 <<<"$ended"
printf '\nIn %s s: %s changes, %s of %s pings lost; memory %s KiB after the first round and %s KiB in the end, descriptors %s and %s, threads %s and %s.\n' \
    $((SECONDS - began)) $changes $lost $sent "$kib" "$kib2" "$descriptors" "$descriptors2" "$threads" "$threads2" | tee -a "$table"
[ "$lost" = 0 ] || { cat "$table"; fail "$lost of $sent pings were lost"; }
[ "$descriptors2" -le "$descriptors" ] && [ "$threads2" -le "$threads" ] || fail "descriptors or threads are left"
[ "$kib2" -le $((kib + 16384)) ] || fail "memory grew by $((kib2 - kib)) KiB"
echo "ok $name"
