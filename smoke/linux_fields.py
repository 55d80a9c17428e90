"""Takes a frame apart into named fields, quotations of ICMP errors included."""

import ipaddress
import time

from scapy.utils import checksum


def fields_of(frame):
    fields = {"eth.dst": frame[:6].hex(), "eth.src": frame[6:12].hex(), "eth.type": frame[12:14].hex()}
    if frame[12:14] == b"\x08\x00":
        return fields | ip_fields("ip", frame[14:])
    if frame[12:14] == b"\x86\xdd":
        return fields | ip6_fields("ip", frame[14:])
    return fields | {"payload": frame[14:].hex()}


def ip_fields(name, packet):
    if len(packet) < 20 or (packet[0] & 15) < 5 or len(packet) < (packet[0] & 15) * 4:
        return {f"{name}.bytes": packet.hex()}
    head, total = (packet[0] & 15) * 4, int.from_bytes(packet[2:4], "big")
    body, trailer = packet[head:total], packet[total:] if total >= head else b""
    fields = {
        "version": packet[0] >> 4,
        "ihl": packet[0] & 15,
        "tos": packet[1],
        "length": total,
        "id": packet[4:6].hex(),
        "flags": packet[6] >> 5,
        "offset": int.from_bytes(packet[6:8], "big") & 0x1FFF,
        "ttl": packet[8],
        "protocol": packet[9],
        "checksum": checksum(packet[:head]) == 0,
        "src": ".".join(map(str, packet[12:16])),
        "dst": ".".join(map(str, packet[16:20])),
        "options": without_times(packet[20:head]),
        "trailer": trailer.hex(),
    }
    if name == "ip" and made_by_router(fields):
        fields["id"] = "any"
    fields = {f"{name}.{field}": value for field, value in fields.items()}
    if packet[9] == 1 and len(body) >= 8 and fields[f"{name}.offset"] == 0 and name == "ip":
        return fields | icmp_fields(body)
    return fields | {f"{name}.body": body.hex()}


def ip6_fields(name, packet):
    if len(packet) < 40:
        return {f"{name}.bytes": packet.hex()}
    length = int.from_bytes(packet[4:6], "big")
    body, trailer = packet[40 : 40 + length], packet[40 + length :]
    fields = {
        "version": packet[0] >> 4,
        "class": int.from_bytes(packet[:2], "big") >> 4 & 0xFF,
        "label": packet[1:4].hex()[1:],
        "length": length,
        "next": packet[6],
        "hops": packet[7],
        "src": str(ipaddress.IPv6Address(packet[8:24])),
        "dst": str(ipaddress.IPv6Address(packet[24:40])),
        "trailer": trailer.hex(),
    }
    fields = {f"{name}.{field}": value for field, value in fields.items()}
    if packet[6] == 58 and len(body) >= 8 and name == "ip":
        return fields | icmp6_fields(body, packet[8:40])
    return fields | {f"{name}.body": body.hex()}


def icmp6_fields(message, addresses):
    pseudo = addresses + len(message).to_bytes(4, "big") + b"\0\0\0\x3a"
    fields = {
        "icmp.type": message[0],
        "icmp.code": message[1],
        "icmp.checksum": checksum(pseudo + message) == 0,
        "icmp.rest": message[4:8].hex(),
    }
    if 1 <= message[0] <= 4:
        return fields | ip6_fields("quoted", message[8:])
    return fields | {"icmp.body": message[8:].hex()}


def made_by_router(fields):
    return fields["src"] in ("10.0.1.1", "10.0.2.1")


def icmp_fields(message):
    fields = {
        "icmp.type": message[0],
        "icmp.code": message[1],
        "icmp.checksum": checksum(message) == 0,
        "icmp.rest": message[4:8].hex(),
    }
    if message[0] in (3, 11, 12):
        return fields | ip_fields("quoted", message[8:])
    return fields | {"icmp.body": message[8:].hex()}


def without_times(options):
    """The options in hexadecimal, with `<time>` for each time of day that a router has just written."""
    text, at = "", 0
    while at < len(options):
        kind, is_long = options[at], at + 1 < len(options)
        length = max(options[at + 1], 2) if kind > 1 and is_long else 1
        option = options[at : at + length]
        text += timestamps_without_times(option) if kind == 0x44 else option.hex()
        at += length
    return text


def timestamps_without_times(option):
    """A timestamp option (RFC 791, 3.1). What is written ends before its pointer: words, or pairs of
    an address and a word. Anywhere else a word may look like a time: the upper half of one does, in
    the quarter of an hour after midnight."""
    if len(option) < 4:
        return option.hex()
    end, step = option[2] - 1, 4 if option[3] & 15 == 0 else 8
    pieces = []
    while end - step >= 4 and end <= len(option):
        word = option[end - 4 : end]
        pieces[:0] = [option[end - step : end - 4].hex(), "<time>" if is_recent(word) else word.hex()]
        end -= step
    written = option[2] - 1 if pieces else end
    return option[:end].hex() + "".join(pieces) + option[written:].hex()


def is_recent(word):
    """Whether a time of day in milliseconds is of the last quarter of an hour."""
    a_day = 86_400_000
    now = int(time.time() * 1000) % a_day
    time_of_day = int.from_bytes(word, "big")
    return time_of_day < a_day and (now - time_of_day) % a_day < 900_000
