#!/usr/bin/env bash
# Controllers over TLS, with certificates by ovs-pki: tools come by `pssl:`, a bridge goes to Open vSwitch's own learning controller by
# `ssl:`, strangers are refused and told, files are read anew, and who says nothing keeps nobody waiting.
. "$(dirname "$0")/lib.sh"
for tool in ovs-pki ovs-ofctl ovs-testcontroller; do
    command -v $tool >/dev/null || skip "needs $tool (openvswitch-common, -switch, -testcontroller)"
done
fail() { echo "$1"; exit 1; }
bridged_hosts
ip -n "$r" link set lo up

pki() { (cd "$work" && ovs-pki --batch --dir="$work/$1" --log="$work/pki.log" "${@:2}") >>"$work/pki.log" 2>&1; }
pki good init
pki other init
for who in us tool controller; do pki good req+sign $who switch; done
pki other req+sign stranger switch
ca=$work/good/switchca/cacert.pem
# keys WHO: as Open vSwitch's programs are told them.
keys() { echo "--private-key=$work/$1-privkey.pem --certificate=$work/$1-cert.pem --ca-cert=$ca"; }
ours="private_key $work/us-privkey.pem certificate $work/us-cert.pem ca_cert $ca"
{
    three_ports
    printf '[bridge.br0]\nmode = "flow"\nmanagement = "%s/br0.mgmt"\nports = ["p1", "p2", "p3"]\n' "$work"
} >"$work/router.toml"

# Without keys there is no TLS, and it is told what to add.
{ cat "$work/router.toml"; echo 'controllers = ["pssl:6640:127.0.0.1"]'; } >"$work/bare.toml"
ends 1 "$bin/volley" config check "$work/bare.toml" >"$work/told" 2>&1
has 'pssl:6640:127.0.0.1 is over TLS and has no `ca_cert`' "$work/told"

router router
volleyd=${daemons[-1]}
of=unix:$work/br0.mgmt far=ssl:127.0.0.1:6640
says() { json ".[$1].$2" router show controllers | has "$3"; }
ctl router bridge set br0 controllers pssl:6640:127.0.0.1 $ours >/dev/null
tool() { on "$r" timeout 20 ovs-ofctl $(keys "$1") "${@:2}"; }
served() { tool tool show $far | has '1(p1)'; }

# A tool of the authority's, whatever its name, in both directions and much at once.
until_true served
seq 1 5000 | awk '{ print "priority=5,in_port=3,dl_type=0x800,nw_dst=10.1." int($1 / 256) "." $1 % 256 ",actions=drop" }' >"$work/flows"
tool tool add-flows $far "$work/flows"
tool tool -O OpenFlow14 --bundle add-flow $far priority=1,actions=NORMAL
[ "$(tool tool -O OpenFlow13 dump-flows $far | grep -c actions=drop)" = 5000 ] || fail "not all flows are told"
until_true pings "$a" 10.0.9.2

# Strangers, those who speak no TLS, and those who show nothing.
! tool stranger show $far >/dev/null 2>&1 || fail "a stranger is served"
until_true says 0 problem '127.0.0.1: invalid peer certificate'
! on "$r" timeout 20 ovs-ofctl show tcp:127.0.0.1:6640 >/dev/null 2>&1 || fail "somebody is served without TLS"
on "$r" timeout 20 openssl s_client -connect 127.0.0.1:6640 </dev/null >/dev/null 2>&1 || true
until_true says 0 problem 'peer sent no certificates'
served
until_true says 0 problem null

# Who speaks no version that the bridge agrees to hears of it.
ctl router bridge set br0 protocols OpenFlow13 >/dev/null
! tool tool show $far 2>"$work/told" || fail "a version that is refused is spoken"
has 'version negotiation failed' "$work/told"
tool tool -O OpenFlow13 show $far | has '1(p1)'
ctl router bridge set br0 protocols none >/dev/null

# Files are read for each connection: what is not there is told, and is there again.
mv "$work/us-cert.pem" "$work/away.pem"
! served || fail "it is served without a certificate"
until_true says 0 problem "$work/us-cert.pem: No such file"
mv "$work/away.pem" "$work/us-cert.pem"
chmod 644 "$work/us-privkey.pem"
! served || fail "it is served with a key that everybody can read"
until_true says 0 problem "$work/us-privkey.pem: everybody can read it (mode 0644)"
chmod 600 "$work/us-privkey.pem"
until_true served

# Hostile ones: with certificates and without. Others are served meanwhile, and nothing is left of it.
before=$(find "/proc/$volleyd/task" -mindepth 1 -maxdepth 1 | wc -l)
for kind in silent dribble rubbish crowd by_tls:silent by_tls:half by_tls:deaf; do
    tls=
    [ "$kind" = "${kind#by_tls:}" ] || tls="$work/tool-privkey.pem $work/tool-cert.pem $ca"
    mkfifo "$work/$kind"
    ip netns exec "$r" env ${tls:+"TLS=$tls"} python3 "$root/smoke/hostile_controllers.py" 127.0.0.1 6640 "${kind#by_tls:}" 500 \
        <"$work/$kind" >"$work/$kind.txt" 2>&1 &
    thrower=$!
    exec 9>"$work/$kind"
    thrown() { has thrown "$work/$kind.txt"; }
    until_true thrown || until_true thrown || { cat "$work/$kind.txt"; fail "$kind: it was not thrown"; }
    until_true served || fail "$kind: nobody is served"
    ovs-ofctl show "$of" | has '1(p1)' || fail "$kind: nobody is served by the Unix socket"
    exec 9>&-
    wait $thrower || { cat "$work/$kind.txt"; fail "$kind: the thrower failed"; }
done
few() { [ "$(find "/proc/$volleyd/task" -mindepth 1 -maxdepth 1 | wc -l)" -le $((before + 2)) ]; }
until_true few || fail "threads are left"

# To a controller that is there by TLS: not one of somebody else's, and not one that is none; but ours.
ctl router bridge set br0 controllers none >/dev/null
ctl router bridge set br0 controllers ssl:127.0.0.1:6653 probe 1s max_backoff 1s $ours >/dev/null
until_true says 0 problem 'Connection refused'
# Debian's, of 3.1, reads memory that is not its own where it answers packets by 1.5, and may end by that.
controller() {
    ip netns exec "$r" ovs-testcontroller -O OpenFlow13 "$@" --unixctl="$work/tc.ctl" 2>>"$work/tc.log" &
    daemons+=($!)
}
stops() {
    kill "${daemons[-1]}"
    wait "${daemons[-1]}" || true
}
controller pssl:6653:127.0.0.1 $(keys stranger)
until_true says 0 problem 'invalid peer certificate'
says 0 connected 0
says 0 connections 0
stops
controller ptcp:6653:127.0.0.1
until_true says 0 problem 'corrupt message'
stops
controller pssl:6653:127.0.0.1 $(keys controller)
until_true says 0 connected 1
until_true says 0 version 1.3
until_true says 0 problem null
until_true pings "$a" 10.0.9.2
until_true pings "$c" 10.0.9.1
ovs-ofctl dump-flows "$of" | has 'idle_timeout=60.*icmp.*actions=output:2'
stops
until_true says 0 connected 0
echo "ok $name"
