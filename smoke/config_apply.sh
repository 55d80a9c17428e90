#!/usr/bin/env bash
# Configurations are applied as a whole or not at all, undone unless confirmed, and packets flow on.
. "$(dirname "$0")/lib.sh"
hosts
{
    two_ports af_packet
    # A file is applied with its socket: that is no change to a router that has the same one.
    printf '[api]\nsocket = "%s"\n' "$work/router.sock"
    printf '[[route]]\nprefix = "172.16.0.0/16"\nvia = "10.0.2.2"\n'
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
fail() { echo "$1"; exit 1; }
# exits CODE COMMAND...: what it says is in $work/said.
exits() {
    local code=0
    "${@:2}" >"$work/said" 2>&1 || code=$?
    [ $code = "$1" ] || { cat "$work/said"; fail "exit code $code, not $1: ${*:2}"; }
}
routes() { json .total router show routes; }
config() { ctl router config "$@"; }
new() { cp "$work/router.toml" "$work/new.toml"; cat >>"$work/new.toml"; }
before=$(routes)

# One bad port: nothing of the file is applied, and the flow does not notice.
printf '[[route]]\nprefix = "172.20.0.0/16"\nvia = "10.0.2.2"\n[port.p3]\nkind = "af_packet"\ndevice = "nosuch0"\n' | new
ip -n "$b" route add local 172.16.0.0/16 dev lo
exits 1 /usr/bin/python3 "$(dirname "$0")/numbered.py" "$a" "$b" 500 "$bin/volley" --socket "$work/router.sock" config apply "$work/new.toml"
grep -q nosuch0 "$work/said" || { cat "$work/said"; false; } || fail "the bad device is not named"
# What got lost is the router's, a device's, or the kernel's: the second column is what its backlog of a core dropped since it started.
tell_losses() {
    cat "$work/said" /proc/net/softnet_stat
    ctl router show errors
    ctl router show device-counters
    for host in "$a" "$b"; do on "$host" nstat -as; ip -n "$host" -s link show eth0; done
}
grep -q ' 0 lost' "$work/said" || { tell_losses; fail "the flow noticed"; }
[ "$(routes)" = "$before" ] || fail "a part of a bad configuration was applied"
[ "$(json '.[].name' router show ports | tr '\n' ' ')" = "p1 p2 " ] || fail "a port is left over"

# A mistake is told with its file, line and a suggestion, and without a router.
printf '[[route]]\nprefix = "172.20.0.0/16"\nvai = "10.0.2.2"\n' | new
exits 1 "$bin/volley" config check "$work/new.toml"
grep -q "new.toml:[0-9]" "$work/said" && grep -q 'via' "$work/said" || { cat "$work/said"; fail "a poor message"; }
exits 2 ctl router config aply "$work/new.toml"
exits 3 "$bin/volley" --socket "$work/nobody.sock" show ports

# Undone in time; kept when confirmed; undone on demand.
printf '[[route]]\nprefix = "172.20.0.0/16"\nvia = "10.0.2.2"\n' | new
config diff "$work/new.toml" | has 172.20.0.0/16 || fail "no diff"
[ "$(routes)" = "$before" ] || fail "a diff changed something"
config apply "$work/new.toml" --confirm-within 1s >/dev/null
[ "$(routes)" = $((before + 1)) ] || fail "not applied"
is_back() { [ "$(routes)" = "$before" ]; }
until_true is_back
config apply "$work/new.toml" --confirm-within 1s >/dev/null
config confirm >/dev/null
sleep 1.5
[ "$(routes)" = $((before + 1)) ] || fail "confirmed and still undone"
config rollback >/dev/null
is_back || fail "not rolled back"

# A file of commands, all or nothing; what runs is saved and is what a restart would read.
printf 'route add 172.17.0.0/16 via 10.0.2.2\nroute add 172.18.0.0/16 via 10.9.9.9\n' >"$work/commands"
exits 1 ctl router exec "$work/commands"
is_back || fail "half of a file of commands was run"
printf 'route add 172.17.0.0/16 via 10.0.2.2\nport set p2 mtu 1400\n' >"$work/commands"
ctl router exec "$work/commands" >/dev/null
sed -i 's/^prefix = "172.16.*/# A network behind the second host.\n&   # of the first floor/; 1i # This router is the demo.\n' "$work/router.toml"
cp "$work/router.toml" "$work/commented.toml"
config save >/dev/null
grep -q '172.17.0.0/16' "$work/router.toml" || fail "not saved"
# … which changes only what changed: comments stay, and the order.
diff "$work/commented.toml" "$work/router.toml" | grep '^[<>]' >"$work/said" || true
grep -q '^> version = 1$' "$work/said" || fail "what is saved does not say its version"
# That takes two lines: itself, and an empty one.
! grep '^<' "$work/said" && [ "$(wc -l <"$work/said")" -le 7 ] || { cat "$work/said"; fail "save changed more than what changed"; }
config diff "$work/router.toml" | has 'nothing changes' || fail "saved is not what runs"
exits 1 on "$a" ping -c 1 -W 1 -M do -s 1400 10.0.2.2

ctl router port set p2 down >/dev/null
! pings "$a" 10.0.2.2 >/dev/null || fail "p2 is down and forwards"
ctl router port set p2 up >/dev/null
until_true pings "$a" 10.0.2.2

# Two ports whose addresses change places in one file: each network follows, with its broadcast address.
config save >/dev/null
sed 's/10\.0\.1\.1\/24/FIRST/; s/10\.0\.2\.1\/24/10.0.1.1\/24/; s/FIRST/10.0.2.1\/24/' "$work/router.toml" >"$work/new.toml"
config apply "$work/new.toml" >/dev/null
for host in "$a:2" "$b:1"; do
    number=${host##*:} host=${host%:*}
    ip -n "$host" addr flush dev eth0 scope global
    ip -n "$host" addr add "10.0.$number.2/24" dev eth0
    ip -n "$host" route replace default via "10.0.$number.1"
    ctl router lookup "10.0.$number.255" | has 'not routed' || fail "10.0.$number.255 is a host's by now"
done
until_true pings "$a" 10.0.1.2
until_true pings "$b" 10.0.2.2
echo "ok $name"
