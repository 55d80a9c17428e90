# Bulk data from host a to host b, which must arrive as it was sent, whatever frames it went in. Sourced, never run, after lib.sh.
fail() { echo "$1"; exit 1; }
wrong_sums() { on "$1" nstat -asz TcpInCsumErrors UdpInCsumErrors Udp6InCsumErrors | awk '/Csum/ { n += $2 } END { print n }'; }
has_listener() { on "$b" ss -ltn | has :7000; }
# Both hosts leave checksums and cutting to their cards.
large() { for host in "$a" "$b"; do on "$host" ethtool -K eth0 tx on tso on gso on >/dev/null; done; }
# passes NAME ADDRESS…: so many octets, 20 million unless `octets` says otherwise.
passes() {
    local what=$1 address
    for address in "${@:2}"; do
        until_true on "$a" ping -c 1 -W 1 "$address"
        on "$b" bash -c "exec /usr/bin/python3 $root/smoke/bulk.py serve $address" >"$work/came" &
        until_true has_listener
        on "$a" timeout 60 /usr/bin/python3 "$root/smoke/bulk.py" send "$address" "${octets:-20000000}" >"$work/sent" || fail "$what: $address"
        wait $!
        cmp "$work/sent" "$work/came" || fail "$what: something else came at $address"
    done
    [ "$(wrong_sums "$b")" = 0 ] || fail "$what: $(wrong_sums "$b") wrong checksums"
}
