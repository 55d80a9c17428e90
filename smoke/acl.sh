#!/usr/bin/env bash
# Access lists against the Linux stack: the first rule decides, for both families, in a VLAN too; counters tell; a list
# is replaced as a whole while packets flow, and a port without one is held to nothing.
. "$(dirname "$0")/lib.sh"
hosts
for host in "$a:1" "$b:2"; do
    ip -n "${host%:*}" addr add "2001:db8:${host##*:}::2/64" dev eth0 nodad
    ip -n "${host%:*}" route add default via "2001:db8:${host##*:}::1"
done
list() { printf '[acl.edge]\ndefault = "%s"\n' "$1"; }
rule() { printf '[[acl.edge.rule]]\n'; printf '%s\n' "$@"; }
ports() {
    two_ports af_packet | sed 's/\(10.0.\)\(.\)\(.1.24"\)\]/\1\2\3, "2001:db8:\2::1\/64"]/; s/^device = "v1"/&\nacl_in = "edge"/'
}
{
    ports
    list deny
    rule 'action = "deny"' 'protocol = "udp"' 'destination_port = "7000-7009"'
    rule 'action = "permit"' 'protocol = "udp"' 'source = "10.0.1.0/24"'
    rule 'action = "permit"' 'protocol = "icmp"' 'icmp_type = 8'
    rule 'action = "permit"' 'protocol = "icmp6"'
    rule 'action = "deny"' 'protocol = "tcp"' 'tcp_flags = "syn !ack"' 'destination_port = 8001'
    rule 'action = "permit"' 'protocol = "tcp"'
} >"$work/edge.toml"
router edge
until_true pings "$a" 10.0.2.2
until_true pings "$a" 2001:db8:2::2

# serve PORT, answers PORT: what host b has there, over TCP.
serve() {
    ip netns exec "$b" socat TCP-LISTEN:"$1",fork,reuseaddr SYSTEM:'echo hello' 2>/dev/null &
    daemons+=($!)
}
answers() { on "$a" timeout 2 socat -T1 - "TCP:10.0.2.2:$1,connect-timeout=1" </dev/null 2>/dev/null | has hello; }
serve 8000
serve 8001
until_true answers 8000
! answers 8001 || { echo "a connection was made that the list denies"; exit 1; }

# heard PORT TIMES: whether host b hears what a says over UDP, so many times at most.
heard() {
    ip netns exec "$b" socat -u "UDP-RECV:$1" "OPEN:$work/heard-$1,creat" 2>/dev/null &
    local listener=$!
    daemons+=($listener)
    for _ in $(seq "$2"); do
        on "$a" socat - "UDP:10.0.2.2:$1" <<<hello
        sleep 0.1
        [ ! -s "$work/heard-$1" ] || return 0
    done
    return 1
}
heard 7010 100 || { echo "what the list permits did not arrive"; exit 1; }
! heard 7005 15 || { echo "what the list denies arrived"; exit 1; }

counted() { json ".[0].$1" edge show acl | has "$2"; }
counted 'rules[0] | select(.packets >= 10 and .bytes >= 300) | .packets' .
counted 'rules[4] | select(.packets >= 1) | .packets' .
counted 'ports_in[0]' p1
ctl edge show errors | has 'acl-input'
ctl edge show acl | has 'edge *0 .*7000-7009'

# As a whole, at once: now pings are what is denied.
{ ports; list permit; rule 'action = "deny"' 'protocol = "icmp"'; } >"$work/other.toml"
ctl edge config apply "$work/other.toml" >/dev/null
answers 8001 || { echo "the old list still stands"; exit 1; }
! pings "$a" 10.0.2.2 || { echo "the new list does not"; exit 1; }
pings "$a" 2001:db8:2::2 || { echo "a rule of one family fitted the other"; exit 1; }

# A change that fails half-way takes its lists back: the new port has no device.
{ ports; list deny; printf '[port.p3]\nkind = "af_packet"\ndevice = "nosuch0"\n'; } >"$work/half.toml"
! ctl edge config apply "$work/half.toml" >/dev/null 2>&1 || { echo "a port without a device was made"; exit 1; }
answers 8001 || { echo "the list of a change that failed stands"; exit 1; }
ctl edge show acl | has icmp || { echo "the list before the change is gone"; exit 1; }

# A list that is not there is refused, and without one everything passes.
sed '/acl.edge/,$d' "$work/other.toml" >"$work/none.toml"
! ctl edge config apply "$work/none.toml" >/dev/null 2>&1 || { echo "a list was named that is not there"; exit 1; }
sed -i '/acl_in/d' "$work/none.toml"
ctl edge config apply "$work/none.toml" >/dev/null
pings "$a" 10.0.2.2

# What few lists ask for: service, TTL, fragments, the station that frames are for.
asks() { on "$a" ping -q -c 2 -i 0.2 -W 1 "$@" 10.0.2.2 >/dev/null; }
# only RULE PASSES DENIED: a list that denies just that drops the pings with the last options, not those with the others.
only() {
    ctl edge acl remove edge all >/dev/null 2>&1 || ctl edge acl add edge default permit >/dev/null
    ctl edge acl append edge deny $1 >/dev/null
    ctl edge port set p1 acl_in edge >/dev/null 2>&1 || true
    asks $2 || { ctl edge show acl; echo "with \`deny $1\` pings $2 do not pass"; exit 1; }
    ! asks $3 || { ctl edge show acl; echo "with \`deny $1\` pings $3 pass"; exit 1; }
}
own=$(json '.[] | select(.name == "p1").mac' edge show ports)
only "dscp ef" "-Q 0xb4" "-Q 0xb8"
only "ttl 33" "-t 34" "-t 33"
only "fragment later" "-s 1400" "-s 3000 -M dont"
only "fragment any protocol icmp" "-s 1400" "-s 3000 -M dont"
only "fragment none" "-s 3000 -M dont" "-s 1400"
only "destination_mac 02:00:00:00:00:99" "-s 9" "-c 1 -t 1"
ctl edge acl replace edge 0 deny destination_mac "$own" >/dev/null
! asks -s 9 || { echo "what is for our station passes"; exit 1; }
! ctl edge acl append edge deny fragment later destination_port 9 >"$work/refused" 2>&1 || { echo "a rule that fits nothing was taken"; exit 1; }
has 'later fragments have no ports' <"$work/refused"
echo "ok $name"
