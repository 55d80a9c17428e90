#!/bin/bash
# The configuration's JSON Schema, by another validator: it is a schema of draft 2020-12, every example fits it, and what
# the router refuses for a field's own sake does not. (Python's jsonschema, else one of its own in target/venv.)
set -euo pipefail
cd "$(dirname "$0")/.."
volley=${VOLLEY_BIN:-target/debug}/volley
python=python3
"$python" -c 'import jsonschema' 2>/dev/null || {
    python=target/venv/bin/python
    [ -x $python ] || python3 -m venv target/venv
    "$python" -c 'import jsonschema' 2>/dev/null || "$python" -m pip install --quiet 'jsonschema>=4,<5'
}
"$volley" config schema | "$python" smoke/config_schema.py "$volley" configs/*.toml
