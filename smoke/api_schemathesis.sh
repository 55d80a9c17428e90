#!/bin/bash
# Holds the API's document against OpenAPI 3.1 with a validator, and the API against the document with schemathesis (both kept in target/venv).
# usage: smoke/api_schemathesis.sh [SOCKET]; without a socket, a router without workers is built.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
pids=()
cleanup() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap cleanup EXIT

venv=target/venv
[ -x $venv/bin/schemathesis ] && $venv/bin/python -c 'import openapi_spec_validator' 2>/dev/null || {
    python3 -m venv $venv
    $venv/bin/python -m pip install --quiet 'schemathesis>=4,<5' 'openapi-spec-validator>=0.7,<0.8'
}

socket=${1:-}
if [ -z "$socket" ]; then
    socket=$work/api.sock
    # Tests of the workspace have built it; else here, with all that it stands on.
    fake=target/debug/examples/fake_router
    if [ ! -x $fake ] || [ -n "$(find crates/control -name '*.rs' -newer $fake)" ]; then
        cargo build --quiet --package control --example fake_router --features fake
    fi
    printf '[port.p0]\nkind = "memory"\naddresses = ["192.0.2.1/24"]\n' > "$work/router.toml"
    target/debug/examples/fake_router "$socket" "$work/router.toml" &
    pids+=($!)
fi
for _ in $(seq 100); do [ -S "$socket" ] && break; sleep 0.1; done

exec 3< <(exec python3 smoke/tcp_to_unix.py "$socket")
pids+=($!)
read -r port <&3
curl -sf --unix-socket "$socket" http://localhost/openapi.json >"$work/openapi.json"
$venv/bin/python - "$work/openapi.json" <<'END'
import copy, json, sys
from openapi_spec_validator import OpenAPIV31SpecValidator as Validator
document = json.load(open(sys.argv[1]))
for wrong in Validator(document).iter_errors():
    sys.exit(f"the document is not OpenAPI 3.1: {wrong}")
# It does find what is wrong: two operations of one name.
document["paths"]["/v1/ports"]["get"]["operationId"] = "nodes"
assert list(Validator(copy.deepcopy(document)).iter_errors()), "the validator takes everything"
END
$venv/bin/schemathesis --config-file smoke/schemathesis.toml run \
    "http://127.0.0.1:$port/openapi.json" "${@:2}"
