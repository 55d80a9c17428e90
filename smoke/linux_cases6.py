"""The IPv6 packets of linux_conformance6: (name, side it is sent from, frame)."""

import ipaddress

from linux_conformance import HOST_MAC, ROUTER_MAC

A, B = "2001:db8:1::2", "2001:db8:2::2"
US, US_FAR = "2001:db8:1::1", "2001:db8:2::1"
LINK_US, LINK_A = "fe80::ff:fe00:101", "fe80::ff:fe00:102"
BEHIND_B, NOWHERE = "2001:db8:b::7", "2001:db8:ffff::1"
BODY = bytes(range(32))
HOP_BY_HOP, TCP, UDP, ROUTING, FRAGMENT, ICMP, NONE, OPTIONS = 0, 6, 17, 43, 44, 58, 59, 60


def binary(address):
    return ipaddress.IPv6Address(address).packed


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def summed(protocol, upper, at, src, dst):
    """The message with its checksum, which stands at `at`, right."""
    upper = upper[:at] + b"\0\0" + upper[at + 2 :]
    words = binary(src) + binary(dst) + len(upper).to_bytes(4, "big") + protocol.to_bytes(4, "big")
    words += upper + bytes(len(upper) % 2)
    total = sum(int.from_bytes(words[n : n + 2], "big") for n in range(0, len(words), 2))
    total = ~((total % 0xFFFF) or 0xFFFF) & 0xFFFF
    return upper[:at] + (total or 0xFFFF).to_bytes(2, "big") + upper[at + 2 :]


def udp(body=BODY, length=None):
    size = 8 + len(body) if length is None else length
    return UDP, (1024).to_bytes(2, "big") + (33434).to_bytes(2, "big") + size.to_bytes(2, "big") + bytes(2) + body, 6


def tcp(flags=2, body=b"", offset=5):
    head = (1024).to_bytes(2, "big") + (81).to_bytes(2, "big") + (5).to_bytes(4, "big") + (6).to_bytes(4, "big")
    return TCP, head + bytes([offset << 4, flags, 32, 0, 0, 0, 0, 0]) + body, 16


def icmp(kind, code=0, rest=bytes(4), body=BODY):
    return ICMP, bytes([kind, code, 0, 0]) + rest + body, 2


def echo(body=BODY):
    return icmp(128, rest=b"\0\7\0\x09", body=body)


def raw(protocol, body=BODY):
    return protocol, body, None


UPPER = {
    "UDP": udp(),
    "TCP": tcp(body=BODY),
    "echo": echo(),
    "ICMP error": icmp(1, body=b"\x60" + bytes(47)),
    "ICMP of type 200": icmp(200),
    "protocol 253": raw(253),
}


def ip(upper=None, src=A, dst=B, hops=64, tos=0, label=0, chain=(), length=None, version=6, checksum=None):
    """A good packet but for the fields given; `chain` are extension headers: (number, content)."""
    protocol, body, at = upper or udp()
    if at is not None and len(body) >= at + 2:
        body = summed(protocol, body, at, src, dst)
        if checksum is not None:
            body = body[:at] + checksum.to_bytes(2, "big") + body[at + 2 :]
    numbers = [number for number, _ in chain] + [protocol]
    headers = b"".join(bytes([after]) + content for (_, content), after in zip(chain, numbers[1:]))
    size = len(headers) + len(body) if length is None else length
    word = version << 28 | tos << 20 | label
    head = word.to_bytes(4, "big") + size.to_bytes(2, "big") + bytes([numbers[0], hops])
    return head + binary(src) + binary(dst) + headers + body


def padded(options):
    """The options behind a length, filled up to whole eights."""
    missing = -(len(options) + 2) % 8
    filler = b"" if missing == 0 else b"\0" if missing == 1 else bytes([1, missing - 2]) + bytes(missing - 2)
    return bytes([(len(options) + len(filler) + 2) // 8 - 1]) + options + filler


def fragment(offset, more):
    return FRAGMENT, b"\0" + (offset * 8 | more).to_bytes(2, "big") + b"\0\0\x12\x34"


def headers():
    for version in (v for v in range(16) if v != 6):
        yield f"version {version}", ip(version=version)
    for length in (0, 1, 7, 8, 39, 41, 100, 1460, 65535):
        yield f"payload length {length} of 40", ip(length=length)
    for hops in (0, 1, 2, 3, 128, 255):
        for name, upper in UPPER.items():
            yield f"hop limit {hops}, {name}", ip(upper, hops=hops)
    for tos in (1, 2, 3, 0x10, 0xB8, 0xC0, 0xFF):
        for hops in (1, 64):
            yield f"class {tos:#x} hop limit {hops}", ip(tos=tos, hops=hops)
        yield f"class {tos:#x}, echo to us", ip(echo(), dst=US, tos=tos)
    for label in (1, 0x12345, 0xFFFFF):
        yield f"flow label {label:#x}", ip(label=label)
        yield f"flow label {label:#x}, hop limit 1", ip(label=label, hops=1)
    for number in (1, 2, 4, 41, 47, 50, 51, 59, 89, 132, 135, 139, 140, 253, 254, 255):
        yield f"next header {number}", ip(raw(number))
        yield f"next header {number}, hop limit 1", ip(raw(number), hops=1)
    for size in (0, 1, 2, 5, 6, 17, 64, 576, 1000, 1351, 1352):
        yield f"body of {size}", ip(udp(bytes(size)))


def too_big():
    """The far link takes 1400 bytes."""
    for size in (1399, 1400, 1401, 1408, 1499, 1500):
        body = bytes(n % 251 for n in range(size - 48))
        yield f"{size} bytes", ip(udp(body))
        yield f"{size} bytes of TCP", ip(tcp(body=body[12:]))
        yield f"{size} bytes in a piece", ip(udp(body[8:]), chain=[fragment(0, 1)])
    yield "too big, hop limit 1", ip(udp(bytes(1440)), hops=1)
    yield "too big, an ICMP error", ip(icmp(1, body=bytes(1440)))
    yield "too big, echo to us", ip(echo(bytes(1440)), dst=US)


TLVS = {
    "none": b"",
    "pad1": b"\0\0\0\0\0\0",
    "router alert": b"\5\2\0\0",
    "router alert of value 1": b"\5\2\0\1",
    "unknown to skip": b"\x1e\2\0\0",
    "unknown that may change, to skip": b"\x3e\2\0\0",
    "unknown to drop": b"\x5e\2\0\0",
    "unknown to tell": b"\x9e\2\0\0",
    "unknown to tell but groups": b"\xde\2\0\0",
    "unknown to tell, second": b"\5\2\0\0\x9e\0",
    "unknown too long": b"\x1e\x20\0\0",
    "unknown of no length at the end": b"\0\0\0\0\0\x1e",
    "two of eight bytes": b"\x1e\6" + bytes(6) + b"\x1f\6" + bytes(6),
}


def options():
    for name, tlvs in TLVS.items():
        for kind, number in (("hop-by-hop", HOP_BY_HOP), ("destination", OPTIONS)):
            chain = [(number, padded(tlvs))]
            yield f"{kind} {name}", ip(chain=chain)
            yield f"{kind} {name}, hop limit 1", ip(chain=chain, hops=1)
            yield f"{kind} {name}, echo to us", ip(echo(), dst=US, chain=chain)
            yield f"{kind} {name}, from the link to us", ip(echo(), src=LINK_A, dst=LINK_US, chain=chain)
    for kind, number in (("hop-by-hop", HOP_BY_HOP), ("destination", OPTIONS)):
        for eights in (1, 9, 255):
            chain = [(number, bytes([eights]) + padded(b"")[1:])]
            yield f"{kind} of length {eights}", ip(udp(b""), chain=chain)
            yield f"{kind} of length {eights}, to us", ip(udp(b""), dst=US, chain=chain)


def chains():
    plain, hops = (OPTIONS, padded(b"")), (HOP_BY_HOP, padded(b""))
    route = lambda kind, left: (ROUTING, bytes([0, kind, left]) + bytes(4))
    for name, chain in {
        "hop-by-hop second": [plain, hops],
        "two hop-by-hop": [hops, hops],
        "routing done": [route(9, 0)],
        "routing type 0": [route(0, 1)],
        "routing type 200": [route(200, 1)],
        "routing type 0 behind options": [plain, route(0, 2)],
        "whole fragment": [fragment(0, 0)],
        "first piece": [fragment(0, 1)],
        "later piece": [fragment(3, 1)],
        "last piece": [fragment(3, 0)],
        "seven options": [plain] * 7,
        "all kinds": [hops, plain, route(9, 0), fragment(0, 0), plain],
    }.items():
        yield f"chain {name}", ip(chain=chain)
        yield f"chain {name}, hop limit 1", ip(chain=chain, hops=1)
        if "piece" not in name:
            yield f"chain {name}, echo to us", ip(echo(), dst=US, chain=chain)
            yield f"chain {name}, UDP to us", ip(dst=US, chain=chain)
            yield f"chain {name}, protocol 253 to us", ip(raw(253), dst=US, chain=chain)


SOURCES = (
    ":: ::1 ::2 ::ffff:10.0.1.2 64:ff9b::1 100::1 2001:db8:1::1 2001:db8:2::1 2001:db8:1::2 2001:db8:b::7 "
    "2002::1 3fff::1 4000::1 fc00::1 fd12::1 fe80::ff:fe00:102 fe80:1::1 fec0::1 ff02::1 ff0e::1"
).split()
DESTINATIONS = (
    ":: ::1 100::1 2001:db8:b::7 2001:db8:ffff::1 2001:db8:1::2 2001:db8:dead:: 2001:db8:dead:1::1 "
    "2001:db8:dead:2::1 fd12::1 fe80::ff:fe00:101 fe80::ff:fe00:102 ff00::1 ff01::1 ff02::1 ff02::2 "
    "ff02::5 ff02::1:ff00:1 ff02::1:ff00:99 ff05::1 ff0e::1"
).split()


def martians():
    for source in SOURCES:
        yield f"from {source}", ip(src=source)
        yield f"from {source}, hop limit 1", ip(src=source, hops=1)
        yield f"from {source}, echo to us", ip(echo(), src=source, dst=US)
    for destination in DESTINATIONS:
        for name in ("UDP", "TCP", "echo"):
            yield f"{name} to {destination}", ip(UPPER[name], dst=destination)
        yield f"UDP to {destination}, hop limit 1", ip(dst=destination, hops=1)


def for_us():
    for size in (0, 1, 56, 1000, 1452):
        yield f"echo of {size} to us", ip(echo(bytes(size)), dst=US)
    yield "echo to our far address", ip(echo(), dst=US_FAR)
    yield "echo from the link to us", ip(echo(), src=LINK_A, dst=LINK_US)
    yield "echo from the link to our other address", ip(echo(), src=LINK_A, dst=US)
    for hops in (0, 1):
        yield f"echo to us with hop limit {hops}", ip(echo(), dst=US, hops=hops)
    yield "echo to us with a wrong checksum", ip(echo(), dst=US, checksum=1)
    for kind in [*range(0, 8), 100, 101, 127, 129, *range(130, 133), *range(138, 165), 200, 201, 255]:
        yield f"ICMP {kind} to us", ip(icmp(kind), dst=US)
    for size in (0, 1, 7):
        yield f"ICMP of {size} bytes to us", ip(raw(ICMP, bytes(size)), dst=US)
    for protocol in (1, 2, 3, 4, 5, 8, 33, 41, 46, 47, 50, 59, 89, 103, 112, 132, 139, 140, 253, 255):
        yield f"protocol {protocol} to us", ip(raw(protocol), dst=US)
    yield "UDP to us", ip(dst=US)
    yield "UDP to our far address", ip(dst=US_FAR)
    yield "UDP to us with a wrong checksum", ip(dst=US, checksum=1)
    yield "UDP to us without checksum", ip(dst=US, checksum=0)
    for length in (0, 7, 8, 39, 41):
        yield f"UDP to us of length {length}, really 40", ip(udp(length=length), dst=US)
    yield "UDP to us of 4 bytes", ip(raw(UDP, bytes(4)), dst=US)
    for name, flags in {"S": 2, "SA": 18, "A": 16, "R": 4, "RA": 20, "F": 1, "FA": 17, "none": 0}.items():
        yield f"TCP {name} to us", ip(tcp(flags), dst=US)
        yield f"TCP {name} to us with data", ip(tcp(flags, BODY), dst=US)
    yield "TCP to us with a wrong checksum", ip(tcp(), dst=US, checksum=1)
    yield "TCP to us of 10 bytes", ip(raw(TCP, bytes(10)), dst=US)
    for words in (0, 4, 15):
        yield f"TCP to us, data at {words}", ip(tcp(offset=words), dst=US)


def neighbors():
    """Solicitations: only what is answered can be seen."""
    option = b"\1\1" + mac(HOST_MAC["a"])
    group = "ff02::1:ff00:1"

    def ask(target=US, options=option, src=A, dst=group, hops=255, code=0):
        return ip(icmp(135, code, body=binary(target) + options), src=src, dst=dst, hops=hops)

    yield "solicitation", ask()
    yield "solicitation to us", ask(dst=US)
    yield "solicitation from the link", ask(src=LINK_A)
    yield "solicitation for our link-local address", ask(LINK_US, src=LINK_A, dst="ff02::1:ff00:101")
    yield "solicitation for our far address", ask(US_FAR)
    yield "solicitation for another", ask("2001:db8:1::77")
    yield "solicitation for a group", ask("ff02::1")
    yield "solicitation of hop limit 254", ask(hops=254)
    yield "solicitation of code 1", ask(code=1)
    yield "solicitation with an option of length 0", ask(options=b"\1\0" + bytes(6))
    yield "solicitation with an option cut short", ask(options=b"\1\2" + bytes(6))
    yield "solicitation with an unknown option", ask(options=b"\xc8\1" + bytes(6) + option)
    yield "solicitation without its target", ip(icmp(135, body=b""), dst=group, hops=255)
    yield "probe for our address", ask(options=b"", src="::")
    yield "probe with an option", ask(src="::")
    yield "probe to us alone", ask(options=b"", src="::", dst=US)
    yield "redirect", ip(icmp(137, body=binary(LINK_A) + binary(B)), src=LINK_A, dst=US, hops=255)
    yield "advertisement for nobody", ip(icmp(136, body=binary("2001:db8:1::77")), dst=US, hops=255)
    yield "router advertisement", ip(icmp(134, body=bytes(8)), src=LINK_A, dst="ff02::1", hops=255)


def frames():
    def frame(packet=None, dst=ROUTER_MAC["a"], kind=0x86DD):
        return mac(dst) + mac(HOST_MAC["a"]) + kind.to_bytes(2, "big") + (ip() if packet is None else packet)

    whole = ip()
    for name in ("ff:ff:ff:ff:ff:ff", "33:33:00:00:00:01", "02:00:00:00:00:99"):
        yield f"to MAC {name}", frame(dst=name)
        yield f"to MAC {name}, hop limit 1", frame(ip(hops=1), dst=name)
        yield f"to MAC {name}, echo to us", frame(ip(echo(), dst=US), dst=name)
    for kind in (0, 46, 0x600, 0x800, 0x8100, 0x88A8):
        yield f"ethertype {kind:#x}", frame(kind=kind)
    for size in (0, 1, 8, 20, 39, 40, 41, 48, 79):
        yield f"cut to {size} bytes", frame(whole[:size])
    for pad in (1, 6, 18, 100):
        yield f"{pad} bytes behind it", frame() + b"\x99" * pad
        yield f"{pad} bytes behind an echo to us", frame(ip(echo(), dst=US)) + b"\xaa" * pad
        yield f"{pad} bytes behind it, hop limit 1", frame(ip(hops=1)) + b"\xbb" * pad


def back():
    for name, upper in UPPER.items():
        yield f"back: {name}", ip(upper, src=B, dst=A)
        yield f"back: {name}, hop limit 1", ip(upper, src=B, dst=A, hops=1)
    yield "back: from behind", ip(src=BEHIND_B, dst=A)
    yield "back: from behind, hop limit 1", ip(src=BEHIND_B, dst=A, hops=1)
    yield "back: to nowhere", ip(src=BEHIND_B, dst=NOWHERE)
    yield "back: echo to us from behind", ip(echo(), src=BEHIND_B, dst=US)


def all_cases():
    for group in (headers, too_big, options, chains, martians, for_us, neighbors, back):
        for name, packet in group():
            side = "b" if group is back else "a"
            yield name, side, mac(ROUTER_MAC[side]) + mac(HOST_MAC[side]) + b"\x86\xdd" + packet
    for name, frame in frames():
        yield name, "a", frame
