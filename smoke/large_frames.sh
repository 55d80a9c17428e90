#!/usr/bin/env bash
# Frames of up to 64 KiB, as Linux hands them over, pass the router whole where the link takes them, and are cut where it
# does not: what arrives is what was sent, by both families, as a stream and as datagrams, and every checksum is right.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/chain.bash"
. "$(dirname "$0")/bulk.bash"
# The mean length of what a port sent since it was asked last.
sent_before="0 0"
mean() {
    local now
    now=$(json ".[] | select(.name == \"$2\") | .tx | \"\(.bytes) \(.packets)\"" "$1" show ports)
    echo "$now $sent_before" | awk '{ printf "%d\n", ($2 > $4 ? ($1 - $3) / ($2 - $4) : 0) }' >"$work/mean"
    sent_before=$now mean=$(<"$work/mean")
}
stop() { kill "${daemons[@]}"; wait "${daemons[@]}" || true; daemons=(); }
hosts
large
ip -n "$a" addr add 2001:db8:1::2/64 dev eth0 nodad
ip -n "$a" route add default via 2001:db8:1::1
ip -n "$b" addr add 2001:db8:2::2/64 dev eth0 nodad
ip -n "$b" route add default via 2001:db8:2::1
six() { sed 's,"10.0.\([12]\).1/24",&\, "2001:db8:\1::1/64",'; }

# Routed, past an access list; then a scheduler at one port has all frames cut as they come.
two_ports af_packet | six | sed 's/^device = "v1"/&\nacl_in = "web"/' >"$work/router.toml"
printf '[[acl.web.rule]]\naction = "permit"\n' >>"$work/router.toml"
router router
passes routed 10.0.2.2 2001:db8:2::2
mean router p2
[ "$mean" -gt 5000 ] || fail "frames are cut: $mean octets on average"
ctl router qos set p1 fq_codel >"$work/set"
passes shaped 10.0.2.2
mean router p2
[ "$mean" -le 1514 ] || fail "frames are not cut where one is shaped: $mean octets on average"
ctl router qos del p1 >"$work/set"
passes unshaped 10.0.2.2
mean router p2
[ "$mean" -gt 5000 ] || fail "frames are cut for ever: $mean octets on average"
# Who sends what fits its link has it put together where it leaves.
on "$a" ethtool -K eth0 tso off gso off >/dev/null
passes "put together" 10.0.2.2 2001:db8:2::2
merged=$(json '[.[] | select(.counter == "tx_merged").value] | add' router show device-counters --port p2)
[ "$merged" -gt 1000 ] || fail "packets are not put together: $merged"
large
stop

# A link with tags: whole. Shared memory: cut, where it leaves.
ip -n "$r" link add x0 type veth peer name x1
for end in x0 x1; do ip -n "$r" link set $end mtu 1600 up; done
trunk() { printf 'kind = "vlan"\nparent = "x"\nvlan = 7\n[port.x]\nkind = "af_packet"\ndevice = "%s"\nmtu = 1600\n' "$1"; }
trunk x0 | half left 1 2
trunk x1 | half right 2 1
router left
router right
mean left x
passes tagged 10.0.2.2
mean left x
[ "$mean" -gt 5000 ] || fail "tagged frames are cut: $mean octets on average"
stop
shared() { printf 'kind = "memif"\nsocket = "%s"\nrole = "%s"\n' "$work/memif" "$1"; }
shared server | half left 1 2
shared client | half right 2 1
router left
router right
mean right host
passes memif 10.0.2.2
mean right host
[ "$mean" -le 1514 ] || fail "memif carried large frames: $mean octets on average"
echo "ok $name"
