"""Speaks as zebra does by FPM, what it is told on its standard input, a line a message:

    hop NUMBER VIA LINK | group NUMBER MEMBER[:WEIGHT] … | nowhere NUMBER | gone NUMBER
    route PREFIX NUMBER [COUNT [TABLE]] | unroute PREFIX      COUNT networks of that length, one behind the other
    together                                                  what follows goes in one frame, until `now`
"""
import ipaddress
import socket
import struct
import sys

NEW_ROUTE, DEL_ROUTE, NEW_NEXT_HOP, DEL_NEXT_HOP = 24, 25, 104, 105


def attribute(kind, value):
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def message(kind, body):
    return struct.pack("=IHHII", 16 + len(body), kind, 0x501, 0, 0) + body


def number(text):
    return struct.pack("=I", int(text))


def next_hop(text, *attributes):
    return [message(NEW_NEXT_HOP, bytes(8) + attribute(1, number(text)) + b"".join(attributes))]


def group(text, *members):
    split = [(member.split(":") + ["1"])[:2] for member in members]
    value = b"".join(number(id) + bytes([int(weight) - 1, 0, 0, 0]) for id, weight in split)
    return next_hop(text, attribute(2, value))


def route(kind, prefix, hop, count="1", table="254"):
    network = ipaddress.ip_network(prefix)
    family = socket.AF_INET if network.version == 4 else socket.AF_INET6
    fixed = bytes([family, network.prefixlen, 0, 0, 0, 186, 0, 1, 0, 0, 0, 0]) + attribute(15, number(table))
    step = 1 << (network.max_prefixlen - network.prefixlen)
    for index in range(int(count)):
        address = (network.network_address + index * step).packed
        yield message(kind, fixed + attribute(1, address) + attribute(30, number(hop)))


SAYS = {
    "hop": lambda id, via, link: next_hop(id, attribute(6, ipaddress.ip_address(via).packed), attribute(5, number(link))),
    "group": group,
    "nowhere": lambda id: next_hop(id, attribute(4, b"")),
    "gone": lambda id: [message(DEL_NEXT_HOP, bytes(8) + attribute(1, number(id)))],
    "route": lambda *words: route(NEW_ROUTE, *words),
    "unroute": lambda prefix: route(DEL_ROUTE, prefix, "0"),
}
zebra = socket.create_connection(("127.0.0.1", 2620), timeout=30)
held = None
for line in sys.stdin:
    word, *rest = line.split()
    if word == "together":
        held = []
        continue
    messages = held or [] if word == "now" else list(SAYS[word](*rest))
    if held is not None and word != "now":
        held += messages
        continue
    held = None
    for first in range(0, len(messages), 100):
        payload = b"".join(messages[first : first + 100])
        zebra.sendall(struct.pack(">BBH", 1, 1, 4 + len(payload)) + payload)
