#!/usr/bin/env bash
# The last packets of each reason for a drop: which they were, where they came in, and what is said of them.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
for host in "$a" "$b" "$r"; do on "$host" sysctl -qw net.ipv6.conf.all.disable_ipv6=1; done
{
    two_ports af_packet
    cat <<'END'
acl_out = "web"
[acl.web]
default = "permit"
rule = [{ action = "deny", protocol = "udp", destination_port = 99 }]
END
} >"$work/router.toml"
router router
[ "$(ctl router why-dropped --node acl-output --json)" = '[]' ] || fail "something was dropped before anything was sent"
until_true pings "$a" 10.0.2.2
printf 'x' | on "$a" socat - UDP-SENDTO:10.0.2.2:99
why() { ctl router why-dropped --json | jq -c '[.[] | [.node, .reason, .packets, (.last | length)]]'; }
denied() {
    ctl router why-dropped --node acl-output --json |
        jq -e '.[0] | .reason == "denied" and .packets == 1 and (.last | length) == 1 and .last[0].port == "p1" and (.last[0].detail | test("10.0.1.2 > 10.0.2.2 .*> 99 len 1"))' >/dev/null
}
until_true denied || fail "kept: $(why)"
ctl router why-dropped | has -P '^acl-output denied  1 packet: The access list' || { ctl router why-dropped; fail "no reason to read"; }
ctl router why-dropped | has -P '^  [0-9.]+ s ago  from p1  .* bytes  IPv4 10.0.1.2 > 10.0.2.2' || { ctl router why-dropped; fail "no packet to read"; }

# So is a packet whose sender is told by ICMP, as who pings what no route leads to: in all three places. The host may
# ask for more that is nowhere by itself.
ctl router trace start --reason no-route --count 1 >/dev/null
on "$a" ping -q -c 1 -W 2 203.0.113.9 >/dev/null || true
no_route() { ctl router why-dropped --node ip4-lookup --reason no-route --json | jq -e '.[0] | .packets >= 1 and any(.last[]; .port == "p1" and (.detail | test("10.0.1.2 > 203.0.113.9 ")))' >/dev/null; }
until_true no_route || fail "kept: $(why)"
ctl router show errors | has -P '^ *[1-9]\d*  ip4-lookup +no-route +p1$' || { ctl router show errors; fail "no-route is not among errors"; }
ctl router show errors | has 'The sender is told' || fail "that the sender is told is not told"
[ "$(json '.packets[0].steps | map(select(.exit == "no-route").node)[0]' router trace show)" = ip4-lookup ] || fail "no packet without a route is traced"
[ "$(json '.[] | select(.name == "p1").rx.drops' router show ports)" = 1 ] || fail "a packet that was answered is a drop of its port"

# Of very many those that come last, never more than four a worker, while all are counted.
on "$a" python3 - <<'END'
import socket
link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(500):
    link.sendto(b"x" * (100 + number), ("10.0.2.2", 99))
END
many() { ctl router why-dropped --port p1 --reason denied --json | jq -e '.[0].packets == 501 and (.[0].last | length) <= 4 and ([.[0].last[].age_ms] | . == sort)' >/dev/null; }
until_true many || fail "kept of many: $(why)"
[ "$(ctl router why-dropped --port p2 --reason denied --json | jq '[.[].packets] | add // 0')" = 0 ] || fail "what came in by p1 is p2's"

# A packet that was dropped can be asked about again, by its own octets: those that are not kept are no headers.
read -r bytes hex <<<"$(ctl router why-dropped --reason denied --json | jq -r '.[0].last[0] | "\(.bytes) \(.hex)"')"
while [ ${#hex} -lt $((2 * bytes)) ]; do hex+=00; done
outcome=$(ctl router explain in p1 ether type 0x0800 / hex "${hex:28}" --json | jq -r .outcome)
[ "$outcome" = "dropped by acl-output: denied" ] || fail "asked again: $outcome"
for wrong in "--port p9" "--node ip4-lokup" "--reason nonsense"; do
    # shellcheck disable=SC2086
    ! ctl router why-dropped $wrong >/dev/null 2>&1 || fail "taken: $wrong"
done
ctl router counters clear >/dev/null
[ "$(ctl router why-dropped --reason denied --json)" = '[]' ] || fail "counters were cleared, and it is shown still"
echo "ok $name"
