"""Which ports a router has, where an address leads, and a route that is added and taken back: by the client in Python.

usage: router.py SOCKET"""

import sys

from volley_client import Client, Refused

router = Client(sys.argv[1])
for port in router.ports():
    print(port["name"], "up" if port["link_up"] else "down", port["rx"]["packets"], *port["addresses"])
print("192.0.2.9:", router.lookup("192.0.2.9")["outcome"])
# A change is meant for the configuration that was read: another one that came between refuses it.
before = router.config()["revision"]
applied = router.config_edit({"commands": "route add 10.0.0.0/24 blackhole"}, if_match=before)
print(*(f"{step['action']} {step['kind']} {step['name']}" for step in applied["changes"]))
try:
    router.config_edit({"commands": "route del 10.0.0.0/24"}, if_match=before)
except Refused as refused:
    print("refused", refused.status)
router.config_rollback({})
print(router.lookup("10.0.0.1")["outcome"])
