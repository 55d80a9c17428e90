#!/usr/bin/env bash
# Clients in Python and Go, written from the document that the router serves, do to it what docs/clients.md says: both the same. The command
# line does it over TLS, to the router whose certificate it was told, with a token.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=router -days 2 -keyout "$work/key.pem" -out "$work/router.pem" 2>/dev/null
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=router -days 2 -keyout "$work/other.key" -out "$work/other.pem" 2>/dev/null
printf '%s\n' "$(openssl rand -hex 24)" >"$work/token"
printf '%s\n' "$(openssl rand -hex 24)" >"$work/wrong-token"
chmod 600 "$work"/key.pem "$work"/*token
cat >"$work/router.toml" <<TOML
[workers]
count = 1
[memory]
buffers = 8192
[port.p1]
kind = "memory"
addresses = ["192.0.2.1/24"]
[port.p2]
kind = "memory"
addresses = ["198.51.100.1/24"]
[api]
socket = "$work/router.sock"
tcp = "127.0.0.1:18443"
tls_certificate = "$work/router.pem"
tls_key = "$work/key.pem"
token_file = "$work/token"
TOML
router router
socket=$work/router.sock
curl -sf --unix-socket "$socket" http://localhost/openapi.json >"$work/openapi.json"
"$root/scripts/clients" "$work/openapi.json" "$work/clients" >/dev/null
cat >"$work/wanted" <<'END'
p1 up 0 192.0.2.1/24
p2 up 0 198.51.100.1/24
192.0.2.9: on the link of p1: its MAC is asked for
add route 10.0.0.0/24
refused 412
no route: the sender is told that the network is unreachable
END
# Every operation of the document is a method.
operations=$(jq '[.paths[] | to_entries[] | select(.value.operationId)] | length' "$work/openapi.json")
[ "$(sed -n '/^class Client/,$p' "$work/clients/python/volley_client.py" | grep -c '^    def [a-z]')" = "$operations" ] || fail "Python lacks operations of $operations"
PYTHONPATH=$work/clients/python python3 "$root/docs/clients/router.py" "$socket" >"$work/python"
diff "$work/wanted" "$work/python" || fail "Python does something else"
# What is wrong is told, and nothing is written of it.
echo '{"openapi": "2.0"}' >"$work/old.json"
! "$root/scripts/clients" "$work/old.json" "$work/none" 2>"$work/wrong" || fail "an old document is taken"
has 'no OpenAPI document that this can read' "$work/wrong" && [ ! -e "$work/none" ] || fail "it is not told what is wrong"

# From afar: whose certificate is another, and who has another token, are told so.
afar() { on "$r" "$bin/volley" --socket https://127.0.0.1:18443 --token-file "$work/$1" --certificate "$work/$2" "${@:3}" 2>&1; }
[ "$(afar token router.pem --json show ports | jq -c '[.[].name]')" = '["p1","p2"]' ] || fail "it does not answer over TLS"
afar token router.pem route add 10.9.0.0/16 blackhole | has '+ route 10.9.0.0/16' || fail "it changes nothing over TLS"
refused() { local why=$1; shift; ! afar "$@" >"$work/said" || fail "taken: $*"; has -i "$why" "$work/said" || { cat "$work/said"; fail "not told why: $why"; }; }
# Shells complete its names: as the environment says who it is, or the line that is typed.
[ "$(afar token router.pem complete -- port set '' | cut -f 1 | xargs)" = 'p1 p2' ] || fail "no names over TLS"
typed() { on "$r" "$bin/volley" complete -- --socket https://127.0.0.1:18443 --token-file "$work/$1" --certificate "$work/router.pem" port set ''; }
[ "$(typed token | cut -f 1 | xargs)" = 'p1 p2' ] || fail "no names over TLS of the line"
[ -z "$(typed wrong-token)" ] && [ -z "$(typed nothing)" ] || fail "names for nobody"
refused certificate token other.pem show ports
refused token wrong-token router.pem show ports
refused 'no such file' nothing router.pem show ports
on "$r" env PYTHONPATH="$work/clients/python" python3 - "$work" 2>"$work/afar" <<'END' || { cat "$work/afar"; fail "Python is not served over TLS"; }
import sys
from volley_client import Client, Refused
work = sys.argv[1]
import ssl
router = Client("https://localhost:18443", open(f"{work}/token").read().strip(), f"{work}/router.pem")
router._tls.check_hostname = False
assert [port["name"] for port in router.ports()] == ["p1", "p2"]
router._token = "wrong"
try:
    router.ports()
    raise SystemExit("a wrong token is taken")
except Refused as refused:
    assert refused.status == 401, refused
END

command -v go >/dev/null || skip "needs go (golang-go)"
ctl router route del 10.9.0.0/16 >/dev/null
cp "$root/docs/clients/router.go" "$work/clients/go/main.go"
(cd "$work/clients/go" && CGO_ENABLED=0 GOFLAGS=-mod=mod GOPROXY=off go run . "$socket") >"$work/go"
diff "$work/wanted" "$work/go" || fail "Go does something else"
echo "ok $name"
