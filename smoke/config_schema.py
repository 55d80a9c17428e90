"""usage: config_schema.py VOLLEY EXAMPLE.toml... < schema: see config_schema.sh."""

import json
import subprocess
import sys
import tempfile
import tomllib

from jsonschema import Draft202012Validator

WRONG = [
    '[prot.p0]\nkind = "bvi"',
    '[port.p0]\nkind = "bvi"\nmut = 1500',
    '[port.p0]\nkind = "bvi"\ndevice = "veth0"',
    '[port.p0]\nkind = "tape"\ndevice = "t0"',
    '[port.p0]\nkind = "tap"',
    '[port.0]\nkind = "bvi"',
    '[port.p0]\nkind = "bvi"\nmtu = 9217',
    '[port.p0]\nkind = "bvi"\nmtu = "1500"',
    '[port.p0]\nkind = "bvi"\nup = 1',
    '[port.p0]\nkind = "bvi"\ntwin = { nets = "x" }',
    '[port.t]\nkind = "gre"\nlocal = "192.0.2.1"',
    '[[route]]\nvia = "192.0.2.9"',
    "[bridge.b]\nageing = 30",
    "[icmp]\necho_pps = 0",
    '[[acl.edge.rule]]\naction = "perhaps"',
    '[port.p0]\nkind = "memory"\nqos = { kind = "htb", '
    'class = [{ id = "1:1", rate = "1mbit", leaf = { kind = "sfq", limt = 9 } }] }',
    '[policer.gold]\nrate = "1mbit"\nburst = -1',
]

volley, *examples = sys.argv[1:]
schema = json.load(sys.stdin)
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
for name in examples:
    with open(name, "rb") as file:
        validator.validate(tomllib.load(file))
for text in WRONG:
    assert not validator.is_valid(tomllib.loads(text)), f"the schema takes\n{text}"
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        check = [volley, "config", "check", "--any-host", file.name]
        assert subprocess.run(check, capture_output=True).returncode == 1, f"the router takes\n{text}"
print(f"{len(examples)} examples fit, {len(WRONG)} wrong ones do not")
