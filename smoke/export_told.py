"""What collectors were told, as tshark reads it: a line a flow with the packets and octets of all its records, and what
sFlow told. Port 6343 is sFlow's, all others are of flows.

export_told.py FILE PORT..."""

import collections
import subprocess
import sys
import xml.etree.ElementTree as tree

file, *ports = sys.argv[1:]
kinds = [f"-dudp.port=={port},{'sflow' if port == '6343' else 'cflow'}" for port in ports]
told = subprocess.run(["tshark", "-r", file, *kinds, "-Y", "cflow || sflow", "-T", "pdml"],
                      capture_output=True, text=True, check=True).stdout
flows, sflow = collections.Counter(), collections.Counter()
for packet in tree.fromstring(told).iter("packet"):
    version = None
    for part in packet.iter():
        fields = {field.get("name"): field.get("show") for field in part}
        version = fields.get("cflow.version", version)
        of = lambda *names: next((fields[name] for name in names if name in fields), "-")
        if "cflow.octets" in fields or "cflow.octets64" in fields:
            key = " ".join([version, of("cflow.vlanid"), of("cflow.srcaddr", "cflow.srcaddrv6", "cflow.srcmac"),
                            of("cflow.dstaddr", "cflow.dstaddrv6", "cflow.dstmac"), of("cflow.srcport"),
                            "in", of("cflow.inputint"), "out", of("cflow.outputint")])
            flows[key, "packets"] += int(of("cflow.packets", "cflow.packets64"))
            flows[key, "octets"] += int(of("cflow.octets", "cflow.octets64"))
        if "sflow_245.sampletype" in fields:
            sflow["samples of one in " + of("sflow.flow_sample.sampling_rate") if "sflow.flow_sample.sampling_rate"
                  in fields else "counters"] += 1
for key in sorted({key for key, _ in flows}):
    print(f"v{key}: {flows[key, 'packets']} {flows[key, 'octets']}")
for key, count in sflow.items():
    print(f"{key}: {count}")
