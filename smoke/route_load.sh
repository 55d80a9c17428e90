#!/usr/bin/env bash
# Many routes from a file while packets flow: loaded, replaced, refused whole or in part, flushed.
# Two: it counts packets lost while the machine is busy with a table.
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
hosts
{
    two_ports af_packet | sed 's/^\[memory\]/&\nroutes = 60000/'
    printf '[[route]]\nprefix = "172.16.0.0/16"\nvia = "10.0.2.2"\n'
} >"$work/router.toml"
ip -n "$b" route add local 172.16.0.0/16 dev lo
router router
until_true pings "$a" 172.16.0.1
flow() { /usr/bin/python3 "$here/numbered.py" "$a" "$b" 500 "$@"; }
ctl_path=("$bin/volley" --socket "$work/router.sock")
for n in $(seq 0 49999); do
    echo "100.$((n / 16384)).$((n / 64 % 256)).$((n % 64 * 4))/30 10.0.2.$((n % 9 + 2)) # route $n"
done >"$work/table"
gzip -k "$work/table"

flow "${ctl_path[@]}" route load "$work/table.gz" --source ospf/90
ctl router lookup 100.3.0.1 | has 'ospf/90 100.3.0.0/30'
[ "$(json .total router show routes --source dynamic --limit 1)" = 50000 ]
ctl router show memory | has 'IPv4 table .* 60000 '

# Another file, all of it over two next hops that share the flows; what it lacks goes.
# Where all next hops are said, its lines are prefixes alone.
head -n 1000 "$work/table" >"$work/less"
cut -d' ' -f1 "$work/less" >"$work/prefixes"
if ctl router route load "$work/prefixes" >"$work/out" 2>&1; then exit 1; fi
has "line 1, column 13: .*next hop's address" <"$work/out"
ctl router route load "$work/prefixes" --source ospf/90 --replace --via 10.0.2.2,10.0.1.2 --share |
    has '1000 routes added, 49000 removed'
ctl router lookup 100.0.0.1 | has 'shared: 16 of 32 flows'

# A wrong line refuses the file, or costs only itself.
{ cat "$work/less"; echo '100.9.0.0/33 10.0.2.2'; } >"$work/wrong"
if ctl router route load "$work/wrong" >"$work/out" 2>&1; then exit 1; fi
has 'line 1001, column 1' <"$work/out"
has 'nothing was changed' <"$work/out"
ctl router route load "$work/wrong" --skip-wrong | has '1 wrong lines were left out'

# A full table keeps what fits, and says so.
ctl router route flush --source ospf/90 | has '1000 removed'
flow "${ctl_path[@]}" route add-range 101.0.0.0/24 --count 50000 --via 10.0.2.2
if ctl router route add-range 102.0.0.0/24 --count 50000 --via 10.0.2.2 >"$work/out" 2>&1; then exit 1; fi
has 'an IPv4 table is full: it holds 60000 routes' <"$work/out"
ctl router lookup 101.0.0.1 | has 'next hop 10.0.2.2'
flow "${ctl_path[@]}" route flush --source ebgp
[ "$(json .total router show routes --source dynamic --limit 1)" = 0 ]
echo "ok $name"
