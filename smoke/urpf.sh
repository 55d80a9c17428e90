#!/usr/bin/env bash
# Reverse path checks against the Linux stack: sources without a route, asymmetric ones, equal ways, the default route.
. "$(dirname "$0")/lib.sh"
hosts
for host in "$a:1" "$b:2"; do
    ip -n "${host%:*}" addr add "2001:db8:${host##*:}::2/64" dev eth0 nodad
    ip -n "${host%:*}" route add default via "2001:db8:${host##*:}::1"
    on "${host%:*}" sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth0.rp_filter=0
done
{
    two_ports af_packet | sed 's/\(10.0.\)\(.\)\(.1.24"\)\]/\1\2\3, "2001:db8:\2::1\/64"]/'
    # b's networks; one that both lead to.
    route() { printf '[[route]]\nprefix = "%s"\nvia = %s\n' "$@"; }
    route 10.7.0.0/16 '"10.0.2.2"'
    route 2001:db8:7::/48 '"2001:db8:2::2"'
    route 10.8.0.0/16 '["10.0.1.2", "10.0.2.2"]'
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
until_true pings "$a" 2001:db8:2::2
ctl router port set p1 urpf strict

# Host a says something to b from an address; whether b hears it.
for address in 10.7.0.1/32 10.8.0.1/32 10.9.0.1/32 2001:db8:7::1/128 2001:db8:9::1/128; do
    ip -n "$a" addr add "$address" dev lo
done
port=7000
heard() {
    local from=$1 to=UDP4:10.0.2.2 tries=$2 receive=UDP4-RECV
    port=$((port + 1))
    if [[ $from == *:* ]]; then from="[$from]" to=UDP6:[2001:db8:2::2] receive=UDP6-RECV; fi
    ip netns exec "$b" socat -u "$receive:$port" "OPEN:$work/heard-$port,creat" 2>/dev/null &
    daemons+=($!)
    for _ in $(seq "$tries"); do
        on "$a" socat -u - "$to:$port,bind=$from" <<<hello
        sleep 0.1
        [ ! -s "$work/heard-$port" ] || return 0
    done
    return 1
}
passes() { heard "$1" 100 || { echo "$1 did not pass: $2"; ctl router show errors; exit 1; }; }
stops() { ! heard "$1" 10 || { echo "$1 passed: $2"; exit 1; }; }
counted() { ctl router show errors | has "urpf-input.*$1"; }

passes 10.0.1.2 "a neighbour"
passes 2001:db8:1::2 "a neighbour"
stops 10.9.0.1 "it has no route"
stops 2001:db8:9::1 "it has no route"
counted no-reverse-route
stops 10.7.0.1 "its route leads elsewhere"
stops 2001:db8:7::1 "its route leads elsewhere"
counted wrong-interface
passes 10.8.0.1 "one of its ways leads back"

ctl router port set p1 urpf loose
passes 10.7.0.1 "it has a route"
passes 2001:db8:7::1 "it has a route"
stops 10.9.0.1 "it has no route"

# The default route counts where that is said.
ctl router route add 0.0.0.0/0 via 10.0.1.2
stops 10.9.0.1 "the default route does not count"
ctl router port set p1 urpf strict allow_default
passes 10.9.0.1 "the default route leads back"
ctl router port set p1 urpf off
passes 2001:db8:9::1 "nothing is checked"
echo "ok $name"
