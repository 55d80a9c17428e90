"""Writes an MRT table dump (RFC 6396) of COUNT routes of FAMILY, 4 or 6, into FILE: from 20.0.0.0/24 or
3000::/48 on, by paths of four kinds. gobgp announces it."""
import ipaddress
import struct
import sys

TABLE_DUMP_V2, PEER_INDEX_TABLE, RIB_IPV4_UNICAST, RIB_IPV6_UNICAST = 13, 1, 2, 4
ORIGIN, AS_PATH, NEXT_HOP, MP_REACH = 1, 2, 3, 14
TRANSITIVE, OPTIONAL = 0x40, 0x80

count, family, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]


def record(kind, body):
    return struct.pack(">IHHI", 0, TABLE_DUMP_V2, kind, len(body)) + body


def attribute(flags, kind, value):
    return struct.pack(">BBB", flags, kind, len(value)) + value


def attributes(index):
    """Of one of four paths: how a table's routes share them."""
    ways = [65002, 64500 + index % 4, 64600]
    known = attribute(TRANSITIVE, ORIGIN, b"\0")
    known += attribute(TRANSITIVE, AS_PATH, struct.pack(">BB3I", 2, 3, *ways))
    if family == 4:
        return known + attribute(TRANSITIVE, NEXT_HOP, bytes([10, 0, 2, 2]))
    # RFC 6396 leaves all but the next hop out of it; gobgp 3.10 does not read it without.
    reach = struct.pack(">HBB", 2, 1, 16) + ipaddress.ip_address("2001:db8:2::2").packed + b"\0"
    return known + attribute(OPTIONAL, MP_REACH, reach + prefix6(index))


def prefix6(index):
    return b"\x30" + (0x3000 << 32 | index).to_bytes(6, "big")


def route(index):
    if family == 4:
        kind, prefix = RIB_IPV4_UNICAST, b"\x18" + struct.pack(">I", (20 << 24) + (index << 8))[:3]
    else:
        kind, prefix = RIB_IPV6_UNICAST, prefix6(index)
    told = attributes(index)
    return record(kind, struct.pack(">I", index) + prefix + struct.pack(">HHIH", 1, 0, 0, len(told)) + told)


peer = struct.pack(">B4s4sI", 2, bytes([10, 0, 2, 2]), bytes([10, 0, 2, 2]), 65002)
with open(path, "wb") as dump:
    dump.write(record(PEER_INDEX_TABLE, bytes([10, 0, 2, 2]) + struct.pack(">HH", 0, 1) + peer))
    for index in range(count):
        dump.write(route(index))
