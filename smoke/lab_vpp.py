#!/usr/bin/env python3
"""Holds what the lab wrote of VPP against what VPP itself said meanwhile: packets by `show interface`, clocks by `show runtime`.

lab_vpp.py SAID RAW: what vppctl said, each answer behind a line `## COMMAND`; the lab's raw lines."""

import json
import re
import sys

FEWEST = 1_000  # packets of a window that tells enough

answers = [part.partition("\n")[::2] for part in open(sys.argv[1]).read().replace("\r", "").split("## ")[1:]]
raw = [json.loads(line) for line in open(sys.argv[2])]
trials = [line["trial"] for line in raw if "trial" in line]
nodes = {node["node"]: node for line in raw if "telemetry" in line for node in line["telemetry"]["nodes"]}

# All that VPP ever counted, each time that it was asked: what the lab says of a trial is the difference of two of these.
seen = {"rx": [], "tx": []}
for command, text in answers:
    if command.startswith("show interface"):
        for way, counts in seen.items():
            counts.append(sum(int(count) for count in re.findall(rf"\b{way} packets\s+(\d+)", text)))
assert len(seen["rx"]) > 3, "VPP was not asked for its counters"
assert trials, "no trial"
for trial in trials:
    for way, name in (("rx", "received"), ("tx", "sent")):
        told = trial["device"][name]
        assert any(later - earlier == told for at, earlier in enumerate(seen[way]) for later in seen[way][at:]), \
            f"trial {trial['index']}: {told} {name} is no difference of VPP's own counters {seen[way]}"
received = sum(trial["outcome"]["received"] for trial in trials)
# What had no room in the shared memory is counted as sent, and as dropped.
own = sum(trial["device"]["sent"] - sum(trial["device"].get("drops", {}).values()) for trial in trials)
assert abs(received - own) <= 0.05 * own, f"{received} came, and VPP says that it sent {own}"

# What the lab says of nodes is of the quieter of the windows that it looked at last: a table of VPP's each, as it is cleared in between.
tables = []
for text in (text for command, text in answers if command.startswith("show runtime")):
    table = {}
    for name, packets, clocks in re.findall(r"^(\S+)\s.*?\s\d+\s+(\d+)\s+\d+\s+(\S+)\s+\S+\s*$", text, re.M):
        before = table.get(name, (0, 0.0))
        table[name] = (before[0] + int(packets), before[1] + int(packets) * float(clocks))
    most = max((packets for packets, _ in table.values()), default=0)
    tables.append((sum(clocks for _, clocks in table.values()) / most if most >= FEWEST else float("inf"), table))
assert len(nodes) > 3, f"the lab knows of {len(nodes)} nodes"


def own(windows):
    """Packets and clocks of each node in these windows."""
    return {name: [sum(part) for part in zip(*(table.get(name, (0, 0.0)) for _, table in windows))] for name in nodes}


last = (sorted(tables[at:], key=lambda it: it[0])[:kept] for at in range(len(tables)) for kept in range(1, len(tables) - at + 1))
same = (it for it in map(own, last) if all(it[name][0] == node["packets"] for name, node in nodes.items()))
told = next(same, None)
assert told, f"no windows of VPP's own have as many packets as {[(name, node['packets']) for name, node in nodes.items()]}"
for name, node in nodes.items():
    ours, clocks = node["cycles"] / node["packets"], told[name][1] / told[name][0]
    assert abs(ours - clocks) <= 0.05 * clocks, f"{name}: {ours} cycles a packet, VPP says {clocks}"
print(f"VPP's own counters say the same of {len(trials)} trials, and of {len(nodes)} nodes")
