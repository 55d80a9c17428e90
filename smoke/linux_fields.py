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
    """Words that can only be a time of day of the last quarter of an hour."""
    now_ms = int(time.time() * 1000) % 86_400_000
    text, at = "", 0
    while at < len(options):
        word = int.from_bytes(options[at : at + 4], "big")
        is_time = at + 4 <= len(options) and 0 <= now_ms - word < 900_000
        text += "<time>" if is_time else f"{options[at]:02x}"
        at += 4 if is_time else 1
    return text
