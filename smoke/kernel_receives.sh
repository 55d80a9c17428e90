#!/usr/bin/env bash
# `kernel_receives = false`: with Linux forwarding beside the router, which has its addresses too, each ping is answered once;
# by default, twice. What the kernel gets changes at run time, and a router that is killed leaves it as it was.
. "$(dirname "$0")/lib.sh"
release=$(uname -r)
[ "$(printf '6.6\n%s\n' "$release" | sort -V | head -1)" = 6.6 ] || skip "needs Linux 6.6, not $release"
hosts
# The kernel beside the router, with the same addresses and routes.
for number in 1 2; do ip -n "$r" addr add "10.0.$number.1/24" dev "v$number"; done
on "$r" sysctl -qw net.ipv4.ip_forward=1
two_ports af_packet >"$work/router.toml"
router router

# answers WANTED: of five pings there and back, as many.
answers() {
    on "$a" ping -c 5 -i 0.01 -W 2 10.0.2.2 >"$work/ping" || return 1
    [ "$(grep -c ' bytes from ' "$work/ping")" = "$1" ]
}
twice() { on "$a" ping -c 5 -i 0.05 10.0.2.2 | has 'DUP!'; }
until_true twice
for port in p1 p2; do ctl router port set $port kernel_receives false >"$work/said"; done
has -x '~ port p2: kernel_receives true -> false' "$work/said"
until_true answers 5
for _ in 1 2 3; do ! twice || exit 1; done
# The kernel's own IP hears of none of them.
kernel_got() { on "$r" nstat -asz IpInReceives | awk '/IpInReceives/ { print $2 }'; }
before=$(kernel_got)
until_true answers 5
[ "$(kernel_got)" = "$before" ]

# Back again, and once more; then the router is killed.
ctl router port set p1 kernel_receives true
ctl router port set p2 kernel_receives true
until_true twice
ctl router port set p1 kernel_receives false
kill -9 "${daemons[-1]}"
until_true on "$a" ping -c 1 -W 1 10.0.2.2
before=$(kernel_got)
until_true answers 5
[ "$(kernel_got)" -ge $((before + 10)) ]
echo "ok $name"
