#!/usr/bin/env bash
# LISP between two sites whose locators are given: host b plays the other site's router by hand, octet by
# octet. Both families over both, the hop limit and class outside, what is wrong and who may not send.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import scapy' 2>/dev/null || skip "python3-scapy is missing"
fail() { echo "$1"; ctl router show errors; ctl router show lisp-cache; exit 1; }
hosts
{
    two_ports af_packet | sed 's/"10.0.1.1\/24"/&, "2001:db8:1::1\/64"/; s/"10.0.2.1\/24"/&, "2001:db8:2::1\/64"/'
    cat <<'TOML'
[port.sites]
kind = "lisp"
instance_id = 7
locators = ["10.0.2.1", "2001:db8:2::1"]
[[lisp_map]]
eid = "10.50.0.0/16"
port = "sites"
rlocs = ["10.0.2.2"]
[[lisp_map]]
eid = "10.56.0.0/16"
port = "sites"
rlocs = ["2001:db8:2::2"]
[[lisp_map]]
eid = "2001:db8:50::/48"
port = "sites"
rlocs = ["10.0.2.2"]
[[lisp_map]]
eid = "2001:db8:56::/48"
port = "sites"
rlocs = ["2001:db8:2::2"]
TOML
    for network in 10.48.0.0/12 2001:db8:50::/44; do printf '[[route]]\nprefix = "%s"\nport = "sites"\n' $network; done
} >"$work/router.toml"
for host in "$a:1" "$b:2"; do
    ip -n "${host%:*}" addr add "2001:db8:${host#*:}::2/64" dev eth0 nodad
    ip -n "${host%:*}" -6 route add default via "2001:db8:${host#*:}::1"
done
# Nobody but the script answers for the locator.
on "$b" iptables -A INPUT -p udp --dport 4341 -j DROP 2>/dev/null || true
router router
for address in 10.0.2.1 2001:db8:2::1; do until_true pings "$b" $address; done
until_true pings "$a" 10.0.1.1
on "$b" timeout 100 /usr/bin/python3 "$root/smoke/lisp.py" site || fail "the other site saw something else"
for reason in bad-header encrypted unknown-instance wrong-payload truncated; do
    until_true sh -c "'$bin/volley' --socket '$work/router.sock' show errors | grep -q 'lisp-decap.*$reason'"
done
# A packet to nobody known is dropped; a's host hears what fits as from any link.
on "$a" ping -c 1 -W 1 10.51.0.1 >/dev/null && fail "nobody answered"
until_true sh -c "'$bin/volley' --socket '$work/router.sock' show lisp | grep -q 'nobody is asked'"
on "$a" ping -c 1 -W 2 -M do -s 1460 10.50.0.1 >"$work/ping.txt" 2>&1 || true
has 'mtu = 1444' "$work/ping.txt" || { cat "$work/ping.txt"; fail "who sends too much is not told"; }
# Only who is at an endpoint's site may send for it, once that is asked for.
ctl router port set sites source_check strict
on "$b" timeout 50 /usr/bin/python3 "$root/smoke/lisp.py" spoof || fail "a stranger sends for another site"
for reason in spoofed unknown-source; do
    until_true sh -c "'$bin/volley' --socket '$work/router.sock' show errors | grep -q 'lisp-decap.*$reason'"
done
echo "ok $name"
