"""What a collector was told of flows that sample, as tshark reads it (pdml): a line a flow with its observation domain and point, its port,
both interfaces, its direction, and the packets and octets of all its records."""

import collections
import sys
import xml.etree.ElementTree as tree

told = collections.Counter()
for packet in tree.fromstring(sys.stdin.read()).iter("packet"):
    fields_of = lambda part: {field.get("name"): field.get("show") for field in part}
    domain = next(field.get("show") for field in packet.iter("field") if field.get("name") == "cflow.od_id")
    for part in packet.iter():
        fields = fields_of(part)
        of = lambda *names: next((fields[name] for name in names if name in fields), "-")
        if "cflow.octets64" in fields or "cflow.octets" in fields:
            point = of("cflow.observation_point_id", "cflow.observationpointid")
            key = " ".join([str(int(domain, 0)), point, of("cflow.dstport"), of("cflow.inputint"),
                            of("cflow.outputint"), str(int(of("cflow.direction"), 0))])
            told[key, "packets"] += int(of("cflow.packets64", "cflow.packets"))
            told[key, "octets"] += int(of("cflow.octets64", "cflow.octets"))
for key in sorted({key for key, _ in told}):
    print(key, told[key, "packets"], told[key, "octets"])
