#!/usr/bin/env bash
# Open vSwitch's database over TLS, with certificates by ovs-pki: `volley ovs` follows a server that one authority has signed, as that
# server asks of it, and none that another has; bridges' controllers over TLS are shown what the database says.
. "$(dirname "$0")/lib.sh"
command -v ovs-pki >/dev/null || skip "needs ovs-pki (openvswitch-common)"
. "$(dirname "$0")/ovsdb.bash"
# It runs: what is killed as a shell that is about to become it may not hear.
until_true has db.sock "$work/ovs.log"
kill "$ovs" "$db"
wait "$ovs" "$db" || true

pki() { (cd "$work" && ovs-pki --batch --dir="$work/$1" --log="$work/pki.log" "${@:2}") >>"$work/pki.log" 2>&1; }
pki good init
pki other init
pki good req+sign server switch
pki good req+sign us switch
pki other req+sign stranger switch

ip -n "$r" link set lo up
place=127.0.0.1:6640
serve() {
    ip netns exec "$r" ovsdb-server "$work/conf.db" --remote="punix:$work/db.sock" --remote="pssl:6640:127.0.0.1" --unixctl="$work/db.ctl" \
        --private-key="$work/server-privkey.pem" --certificate="$work/server-cert.pem" --ca-cert="$work/good/switchca/cacert.pem" 2>>"$work/db.log" &
    db=$!
    daemons+=($db)
    until_true vs show
}
# follows WHO AUTHORITY: with the key of one, believing those whom another has signed.
follows() {
    ip netns exec "$r" "$bin/volley" --socket "$work/router.sock" ovs "ssl:$place" --folder "$work" --state "$work/ovs.json" \
        --private-key "$work/$1-privkey.pem" --certificate "$work/$1-cert.pem" --ca-cert "$work/$2/switchca/cacert.pem" 2>"$work/ovs.log" &
    ovs=$!
    daemons+=($ovs)
}
ends_following() {
    kill "$ovs"
    wait "$ovs" || true
}
serve

# What is missing is told at once.
ends 2 "$bin/volley" --socket "$work/router.sock" ovs "ssl:$place" --private-key "$work/us-privkey.pem" 2>"$work/told"
has "ssl:$place needs --private-key, --certificate and --ca-cert" "$work/told"

# A server that somebody else has signed is not believed, and a server believes nobody whom its own authority has not signed.
follows us other
until_true has "ssl:$place: .*certificate" "$work/ovs.log"
ends_following
follows stranger good
until_true has "ssl:$place: " "$work/ovs.log"
! has "follows ssl:$place" "$work/ovs.log" || exit 1
ends_following

# Each the other's: bridges as the database says, and what came of them; again when the server is started anew.
follows us good
until_true has "follows ssl:$place" "$work/ovs.log"
vs add-br br0 -- add-port br0 v1 -- add-port br0 v2
pings "$a" 10.0.9.2
column Interface v1 ofport 1
kill "$db"
wait "$db" || true
serve
vs add-port br0 v3
until_true pings "$a" 10.0.9.3

# Controllers over TLS are shown the files of the database's one row SSL; without it they are told, and the others are there.
ca=$work/good/switchca/cacert.pem
vs set-controller br0 pssl:6641:127.0.0.1 ptcp:6642:127.0.0.1
until_true has 'ovs-vsctl set-ssl' "$work/ovs.log"
targets() { json 'map(.target) | join(" ")' router show controllers | has -x -e "$1"; }
until_true targets 'ptcp:6642:127.0.0.1'
vs set-ssl "$work/us-privkey.pem" "$work/us-cert.pem" "$ca"
until_true targets '.*pssl:6641:127.0.0.1.*'
tool() { on "$r" timeout 20 ovs-ofctl --private-key="$work/server-privkey.pem" --certificate="$work/server-cert.pem" --ca-cert="$ca" "$@"; }
until_true tool show ssl:127.0.0.1:6641
tool show ssl:127.0.0.1:6641 | has '1(v1)'
vs del-ssl
until_true targets 'ptcp:6642:127.0.0.1'
echo "ok $name"
