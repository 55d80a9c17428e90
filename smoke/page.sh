#!/usr/bin/env bash
# The page is served where [web] says, shows what the API shows, changes nothing, and is no other site's to read.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
{
    two_ports af_packet
    printf '[web]\nlisten = "127.0.0.1:18080"\nsocket = "%s/web.sock"\n' "$work"
} >"$work/router.toml"
two_ports af_packet | sed 's/v1"/v9"/; s/v2"/v8"/' >"$work/off.toml"
router router
until_true pings "$a" 10.0.2.2
page() { on "$r" curl -s --max-time 20 "${@:2}" "http://127.0.0.1:18080$1"; }
code() { page "$1" -o /dev/null -w '%{http_code}' "${@:2}"; }
is() { [ "$3" = "$2" ] || fail "$1: $3, not $2"; }

# Its files, whole, with what browsers are told of them.
for file in page.html:/ page.css:/page.css page.js:/page.js topology.js:/topology.js; do
    page "${file#*:}" | cmp - "$root/crates/control/src/api/web/${file%%:*}" || fail "another ${file#*:}"
done
page / -D - -o /dev/null | has -i "content-security-policy: default-src 'none'; script-src 'self'" || fail "any script may run"
page /v1/ports -D - -o /dev/null | has -i 'x-frame-options: DENY' || fail "other pages may show it"

# What it shows is what the API shows.
is ports "$(ctl router show ports --json | jq -c '[.[] | [.name, .mac]]')" "$(page /v1/ports | jq -c '[.[] | [.name, .mac]]')"
is explained 'sent by p2' "$(page '/v1/explain?packet=in%20p1%20ip%20dst%2010.0.2.2%20/%20udp' | jq -r .outcome)"
is 'the same by the socket' 200 "$(curl -s --unix-socket "$work/web.sock" -o /dev/null -w '%{http_code}' http://volley/v1/ports)"
is 'no lab' off "$(page /v1/lab | jq -r .state)"
for path in /v1/topology /v1/lab /v1/nodes /v1/graph /v1/qos /v1/routes /v1/neighbors /v1/why-dropped /v1/version /v1/lookup/10.0.2.2 /metrics; do
    is "$path" 200 "$(code "$path")"
done

# It changes nothing, whoever asks: not even root at the socket.
is 'a change' 405 "$(code /v1/counters/clear -X POST)"
is 'a change by the socket' 405 "$(curl -s --unix-socket "$work/web.sock" -o /dev/null -w '%{http_code}' -X POST http://volley/v1/counters/clear)"
is 'what takes the right to change' 403 "$(code /v1/capture/pcap)"
is 'nothing' 404 "$(code /nothing)"

# A name that somebody leads to this machine is not this machine's.
is 'another name' 421 "$(code /v1/ports -H 'Host: evil.example')"
is 'its own name' 200 "$(code /v1/ports -H 'Host: localhost:18080')"

# Off unless it is said; never where other machines reach it.
[ "$(on "$r" ss -Hltn 'sport = :18080' | wc -l)" = 1 ] || fail "it listens elsewhere, too"
printf '[web]\nlisten = "0.0.0.0:18080"\n' >>"$work/off.toml"
! "$bin/volley" config check --any-host "$work/off.toml" >"$work/wrong" 2>&1 || fail "others may reach it"
has 'can be reached from other machines' "$work/wrong" || fail "it is not told why"
is 'who asks too much' 422 "$(code '/v1/explain?packet=in%20p1%20ipx')"
is 'a frame of all octets' 422 "$(code "/v1/explain?packet=hex%20$(printf '%020000d' 0)")"
echo "ok $name"
