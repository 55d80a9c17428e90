"""What a hostile neighbour throws: whole frames out of DEVICE, PPS a second, until killed.

    scan.py DEVICE PPS OUR-MAC scan ADDRESS SOURCE NETWORK      packets to each address of a network, one after the other
    scan.py DEVICE PPS OUR-MAC answers - ADDRESS NETWORK        ARP replies or advertisements that nobody asked for, of random senders
    scan.py DEVICE PPS OUR-MAC questions - ADDRESS NETWORK      questions for ADDRESS, of random senders
    scan.py DEVICE PPS OUR-MAC VNI - ADDRESS NETWORK            VXLAN packets to ADDRESS from random sources, each with a station
"""
import ipaddress
import random
import socket
import struct
import sys
import time

device, pps, router, kind, source, own, network = sys.argv[1:8]
pps, network = int(pps), ipaddress.ip_network(network)
mac = bytes.fromhex(router.replace(":", ""))
own = ipaddress.ip_address(own)
six = network.version == 6
sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sender.bind((device, 0))
mine = bytes.fromhex(open(f"/sys/class/net/{device}/address").read().strip().replace(":", ""))


def total(data):
    words = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while words >> 16:
        words = (words & 0xFFFF) + (words >> 16)
    return ~words & 0xFFFF


def ethernet(station, kind, payload):
    return mac + station + struct.pack("!H", kind) + payload


def udp(to):
    if six:
        return struct.pack("!IHBB", 0x60000000, 8, 17, 64) + ipaddress.ip_address(source).packed + to.packed + b"\0\1\0\x09\0\x08\0\1"
    return udp4(ipaddress.ip_address(source), to, 9, b"")


def udp4(who, to, port, payload):
    length = 8 + len(payload)
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 64, 17, 0) + who.packed + to.packed
    return head[:10] + struct.pack("!H", total(head)) + head[12:] + struct.pack("!HHHH", 50000, port, length, 0) + payload


def icmp6(who, kind, flags, target, option, station):
    body = struct.pack("!BBHI", kind, 0, 0, flags) + target.packed + bytes([option, 1]) + station
    pseudo = who.packed + own.packed + struct.pack("!II", len(body), 58)
    body = body[:2] + struct.pack("!H", total(pseudo + body)) + body[4:]
    return struct.pack("!IHBB", 0x60000000, len(body), 58, 255) + who.packed + own.packed + body


def frame(number):
    if kind == "scan":
        to = network[2 + number % (network.num_addresses - 4)]
        return ethernet(mine, 0x86DD if six else 0x0800, udp(to))
    who = network[random.randrange(2, network.num_addresses - 2)]
    station = bytes([6]) + random.randbytes(5)
    if kind.isdigit():
        inner = bytes([6, 0, 0, 0, 0, 1, 6, 0]) + who.packed + b"\x88\xb5" + bytes(46)
        return ethernet(mine, 0x0800, udp4(who, own, 4789, b"\x08\0\0\0" + struct.pack("!I", int(kind) << 8) + inner))
    if six and kind == "answers":
        return ethernet(station, 0x86DD, icmp6(who, 136, 0x60000000, who, 2, station))
    if six:
        return ethernet(station, 0x86DD, icmp6(who, 135, 0, own, 1, station))
    operation = 2 if kind == "answers" else 1
    return ethernet(station, 0x0806, struct.pack("!HHBBH", 1, 0x0800, 6, 4, operation) + station + who.packed + mac + own.packed)


# As many as are due, a hundred at most at once: who was kept waiting does not make up for it.
number, due = 0, time.monotonic()
while True:
    now = time.monotonic()
    due = max(due, now - 100 / pps)
    while due <= now:
        try:
            sender.send(frame(number))
        except OSError:
            pass  # The queue is full, or the device is gone.
        number, due = number + 1, due + 1 / pps
    time.sleep(0.002)
