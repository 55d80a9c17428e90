"""Runs inside the user-mode kernel: plays packet schedules through its traffic control and writes what came out.

Reads WORK/experiments.json: [{name, tc: [line], queue_length, packets: [[at_us, length, flow, priority]],
afterwards: [line], rest_ms}],
writes WORK/traces.json: [{name, sent: [[ns, number]], received: [[ns, number]], statistics}].

Packets go out of one end of a veth pair, whose traffic control is under test, and are timed by the kernel at the other.
A packet's socket priority is its class (major << 16 | minor) or its priority.
"""

import ctypes
import json
import os
import socket
import struct
import subprocess
import sys
import time

FINIT_MODULE = 313
SO_PRIORITY = 12
SO_TIMESTAMPNS = 35
SO_RCVBUFFORCE = 33
ETH_P_IP = 0x0800


def load(folder, name, loaded=set()):
    """Loads a module of the kernel's package after those that it depends on."""
    if name in loaded:
        return
    loaded.add(name)
    for path, _, files in os.walk(folder):
        if name + ".ko" in files:
            path = os.path.join(path, name + ".ko")
            break
    else:
        return  # Built into the kernel.
    with open(path, "rb") as module:
        text = module.read()
        at = text.find(b"depends=")
        if at >= 0:
            depends = text[at + 8 : text.index(b"\0", at)].decode()
            for other in filter(None, depends.split(",")):
                load(folder, other)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syscall(FINIT_MODULE, module.fileno(), b"", 0) != 0:
            raise OSError(ctypes.get_errno(), "cannot load " + path)


def run(line):
    subprocess.run(line.split(), check=True, stderr=subprocess.STDOUT)


def frame(number, length, flow):
    """An Ethernet frame of that length: IPv4, UDP, a port for each flow, and its number."""
    ethernet = b"\x02" + b"\0" * 4 + b"\x02" + b"\x02" + b"\0" * 4 + b"\x01" + struct.pack("!H", ETH_P_IP)
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, length - 14, 0, 0, 64, 17, 0, b"\x0a\0\0\x01", b"\x0a\0\0\x02")
    udp = struct.pack("!HHHH", 1000 + flow, 9, length - 34, 0)
    start = ethernet + ip + udp + struct.pack("!I", number)
    return start + b"\0" * (length - len(start))


def sender(priority):
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    out.bind(("near", ETH_P_IP))
    out.setsockopt(socket.SOL_SOCKET, SO_PRIORITY, priority)
    return out


def play(experiment):
    subprocess.run("tc qdisc del dev near root".split(), stderr=subprocess.DEVNULL)
    run("ip link set near txqueuelen %d" % experiment["queue_length"])
    for line in experiment["tc"]:
        run(line)
    receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP))
    receiver.bind(("far", ETH_P_IP))
    receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
    receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    receiver.setblocking(False)
    packets = experiment["packets"]
    senders = {priority: sender(priority) for _, _, _, priority in packets}
    play_list = [
        (at_us * 1000, senders[priority], frame(number, length, flow))
        for number, (at_us, length, flow, priority) in enumerate(packets)
    ]
    sent = []
    start = time.time_ns() + 20_000_000
    for number, (at, out, data) in enumerate(play_list):
        left = start + at - time.time_ns()
        if left > 0:
            time.sleep(left / 1e9)
        sent.append([time.time_ns(), number])
        try:
            out.send(data)
        except OSError:
            pass  # The kernel tells of a drop as a lack of buffers.
    for line in experiment["afterwards"]:
        run(line)
    time.sleep(experiment["rest_ms"] / 1000)
    received = []
    while True:
        try:
            data, control, _, _ = receiver.recvmsg(64, 128)
        except BlockingIOError:
            break
        if len(data) < 46 or data[36:38] != b"\0\x09":
            continue
        seconds, ns = struct.unpack("qq", control[0][2][:16])
        received.append([seconds * 1_000_000_000 + ns, struct.unpack("!I", data[42:46])[0]])
    statistics = subprocess.run("tc -s qdisc show dev near".split(), stdout=subprocess.PIPE).stdout.decode()
    return {"name": experiment["name"], "sent": sent, "received": received, "statistics": statistics}


def main():
    work = sys.argv[1]
    with open(work + "/modules") as path:
        modules = path.read().strip()
    for name in "veth sch_tbf sch_prio sch_sfq sch_codel sch_fq_codel sch_htb sch_hfsc".split():
        load(modules, name)
    run("ip link add name near type veth peer name far")
    run("ip link set near up")
    run("ip link set far up")
    with open(work + "/experiments.json") as file:
        experiments = json.load(file)
    traces = [play(experiment) for experiment in experiments]
    with open(work + "/traces.part", "w") as file:
        json.dump(traces, file)
    os.rename(work + "/traces.part", work + "/traces.json")


main()
