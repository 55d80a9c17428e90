#!/usr/bin/env bash
# ICMP redirects (RFC 1812 section 5.2.7.2): host a sends by us what its neighbour 10.0.1.9 would take at once. It is told
# where that is wanted, and Linux goes the better way from then on.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
on "$a" sysctl -qw net.ipv4.conf.all.accept_redirects=1 net.ipv4.conf.eth0.accept_redirects=1
two_ports af_packet >"$work/router.toml"
cat >>"$work/router.toml" <<'EOF'
[[neighbor]]
address = "10.0.1.9"
port = "p1"
mac = "02:00:00:00:00:09"
[[route]]
prefix = "10.9.0.0/16"
via = "10.0.1.9"
EOF
# Nobody needs to be there: who is asked about is the way that a goes.
ip -n "$a" neigh add 10.0.1.9 lladdr 02:00:00:00:00:09 dev eth0 nud permanent
on "$a" tcpdump -lnvi eth0 icmp >"$work/heard.log" 2>"$work/tcpdump.log" &
daemons+=($!)
until_true grep -q listening "$work/tcpdump.log"
router router
until_true pings "$a" 10.0.2.2

way() { ip -n "$a" route get "$1"; }
sends() { on "$a" ping -c 1 -W 1 "$1" >/dev/null; way "$1" | has "via $2"; }
for _ in 1 2 3; do sends 10.9.0.1 10.0.1.1 || fail "it was told, and nobody wanted that: $(way 10.9.0.1)"; done
ctl router port set p1 redirects on
until_true sends 10.9.0.1 10.0.1.9
way 10.9.0.1 | has redirected || fail "a does not say that it was redirected: $(way 10.9.0.1)"
until_true has '10.0.1.1 > 10.0.1.2: ICMP redirect 10.9.0.1 to host 10.0.1.9' "$work/heard.log"
# What goes on to b has no better way, nor has what b sends.
pings "$a" 10.0.2.2 >/dev/null
way 10.0.2.2 | has "via 10.0.1.1" || fail "a goes another way to b: $(way 10.0.2.2)"
echo "ok $name"
