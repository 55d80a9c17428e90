#!/usr/bin/env bash
# A router between two others, over memif without a copy on its side: what hosts send arrives, also after a neighbour came back.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/chain.bash"
hosts
link() { printf 'kind = "memif"\nsocket = "%s"\nrole = "%s"\n' "$work/memif$1" "$2"; }
link 1 server | half left 1 2
# An address of its own would be another one when it comes back.
{ link 2 server; echo 'mac = "02:00:00:00:09:02"'; } | half right 2 1
{
    for number in 1 2; do
        printf '[port.p%s]\n%s\nzero_copy = true\n' $number "$(link $number client)"
    done
    printf '[[xconnect]]\nports = ["p1", "p2"]\n'
} >"$work/middle.toml"
router left
router right
router middle
carries "memif without a copy"
[ "$(json '[.[] | select(.kind == "memif") | .rx.packets] | min' middle show ports)" -gt 100 ] || { echo "it went another way"; exit 1; }
# It did without a copy.
[ "$(json '[.parts[] | select(.name == "buffers that memif peers see").capacity] | add' middle show memory)" = 16384 ] || { echo "it copied"; exit 1; }
# Who listens cannot lend buffers: it has none.
sed 's/role = "client"/role = "server"/' "$work/middle.toml" >"$work/wrong.toml"
! "$bin/volley" config check "$work/wrong.toml" >"$work/told.txt" 2>&1 || { echo "a server was let through"; exit 1; }
has 'role = "client"' "$work/told.txt"
kill -KILL "${daemons[1]}"
wait "${daemons[1]}" || true
router right
carries "memif without a copy, again"
ctl middle port set p1 zero_copy false >/dev/null
until_true pings "$a" 10.0.2.2
echo "ok $name"
