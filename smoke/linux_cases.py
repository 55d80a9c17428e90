"""The packets of linux_conformance: (name, side it is sent from, frame)."""

from scapy.all import ICMP, IP, TCP, UDP, Ether, Raw, fragment
from scapy.utils import checksum

A, B = "10.0.1.2", "10.0.2.2"
US, US_FAR = "10.0.1.1", "10.0.2.1"
BEHIND_B, NOWHERE = "198.51.100.7", "192.0.2.1"
BODY = bytes(range(32))


def udp(body=BODY, **fields):
    return UDP(sport=1024, dport=33434, **fields) / Raw(body)


def echo(body=BODY):
    return ICMP(type=8, id=7, seq=9) / Raw(body)


UPPER = {
    "UDP": udp(),
    "TCP": TCP(sport=1024, dport=81, seq=5) / Raw(BODY),
    "echo": echo(),
    "ICMP error": ICMP(type=3, code=3) / IP(src=B, dst=A) / UDP(sport=1, dport=2),
    "ICMP of type 99": ICMP(type=99) / Raw(BODY),
    "protocol 253": Raw(BODY),
}


def ip(upper=None, **fields):
    """A good packet but for `fields`."""
    fields = {"src": A, "dst": B, "id": 0x4321, **fields}
    if isinstance(upper, Raw):
        fields.setdefault("proto", 253)
    return IP(**fields) / (upper if upper is not None else udp())


def with_options(options, upper=None, **fields):
    """Raw option bytes, padded to words, under a header whose checksum is right."""
    whole = bytes(ip(upper, **fields))
    options += bytes(-len(options) % 4)
    head = bytearray(whole[:20] + options)
    head[0] = 0x45 + len(options) // 4
    head[2:4] = (len(whole) + len(options)).to_bytes(2, "big")
    return summed(bytes(head) + whole[20:])


def summed(packet):
    """The same with a header checksum that is right for the header length it claims."""
    head = bytearray(packet[: max(20, (packet[0] & 15) * 4)])
    head[10:12] = b"\0\0"
    head[10:12] = checksum(bytes(head)).to_bytes(2, "big")
    return bytes(head) + packet[len(head) :]


def lying(**fields):
    return summed(bytes(ip(**fields)))


def addresses(address):
    return bytes(int(part) for part in address.split("."))


def headers():
    for version in (v for v in range(16) if v != 4):
        yield f"version {version}", lying(version=version)
    for words in (w for w in range(16) if w != 5):
        yield f"IHL {words}", lying(ihl=words)
    for length in (0, 1, 19, 20, 21, 27, 28, 59, 61, 100, 1500, 65535):
        yield f"total length {length} of 60", lying(len=length)
    good = int.from_bytes(bytes(ip())[10:12], "big")
    for bit in range(16):
        yield f"checksum with bit {bit} wrong", ip(chksum=good ^ 1 << bit)
    for value in (0, 0xFFFF):
        yield f"checksum {value:#x}", ip(chksum=value)
    for ttl in (0, 1, 2, 3, 128, 255):
        for name, upper in UPPER.items():
            yield f"TTL {ttl}, {name}", ip(upper, ttl=ttl)
    for tos in (1, 2, 3, 0x10, 0xB8, 0xC0, 0xFF):
        for ttl in (1, 64):
            yield f"TOS {tos:#x} TTL {ttl}", ip(tos=tos, ttl=ttl)
        yield f"TOS {tos:#x}, echo to us", ip(echo(), dst=US, tos=tos)
    for flags in ("DF", "MF", "evil", "DF+MF", "evil+DF"):
        for offset in (0, 1, 185, 8191):
            yield f"flags {flags} offset {offset}", ip(flags=flags, frag=offset)
    for offset in (0, 1, 185):
        yield f"TTL 1 offset {offset}", ip(ttl=1, frag=offset, flags="MF")
    for size in (0, 1, 2, 17, 18, 64, 576, 1000, 1371, 1372):
        yield f"body of {size}", ip(udp(bytes(size)))


def too_big():
    """The far link takes 1400 bytes."""
    for size in (1400, 1401, 1402, 1408, 1409, 1499, 1500):
        for flags in ("", "DF", "MF"):
            body = udp(bytes(n % 251 for n in range(size - 28)))
            yield f"{size} bytes {flags}", ip(body, flags=flags)
    body = udp(bytes(1440))
    yield "piece too big for the link", ip(body, frag=100, flags="MF")
    yield "last piece too big for the link", ip(body, frag=100)
    yield "too big, TTL 1", ip(body, ttl=1)
    yield "too big, echo to us", ip(echo(bytes(1440)), dst=US)
    for name, option in (("copied", b"\x94\x04\0\0"), ("not copied", b"\x07\x07\x04\0\0\0\0")):
        yield f"too big with an option that is {name}", with_options(option, body)
        yield f"too big with DF and an option that is {name}", with_options(option, body, flags="DF")


OPTIONS = {
    "nop": b"\1",
    "end": b"\0",
    "nops to the end": b"\1" * 40,
    "end, then rubbish": b"\0\xff\xff\xff",
    "security": b"\x82\x0b" + bytes(9),
    "stream id": b"\x88\4\0\1",
    "router alert": b"\x94\4\0\0",
    "router alert of value 1": b"\x94\4\0\1",
    "router alert of length 3": b"\x94\3\0",
    "two router alerts": b"\x94\4\0\0\x94\4\0\0",
    "commercial security": b"\x86\6\0\0\0\0",
    "unknown copied": b"\xde\4\1\2",
    "unknown": b"\x5e\4\1\2",
    "unknown of length 0": b"\x5e\0\1\2",
    "unknown of length 1": b"\x5e\1\1\2",
    "unknown too long": b"\x5e\5\1\2",
    "unknown without length": b"\1\1\1\x5e",
    "record route": b"\7\7\4" + bytes(4),
    "record route of 9": b"\7\x27\4" + bytes(36),
    "record route, second of 2": b"\7\x0b\x08" + bytes(8),
    "record route, full": b"\7\7\x08\1\2\3\4",
    "record route, pointer 3": b"\7\7\3" + bytes(4),
    "record route, pointer 0": b"\7\7\0" + bytes(4),
    "record route, pointer 5": b"\7\7\5" + bytes(4),
    "record route, pointer far": b"\7\7\xff" + bytes(4),
    "record route, length 2": b"\7\2\4\0",
    "record route, length 3": b"\7\3\4\0",
    "record route, length 6": b"\7\6\4\0\0\0",
    "record route too long": b"\7\x0b\4" + bytes(4),
    "two record routes": (b"\7\7\4" + bytes(4)) * 2,
    "timestamp": b"\x44\x0c\5\0" + bytes(8),
    "timestamp, full": b"\x44\x08\x09\0" + bytes(4),
    "timestamp, full 15 times": b"\x44\x08\x09\xf0" + bytes(4),
    "timestamp, pointer 4": b"\x44\x08\4\0" + bytes(4),
    "timestamp, pointer 6": b"\x44\x08\6\0" + bytes(4),
    "timestamp, length 3": b"\x44\3\5\0",
    "timestamp, length 4": b"\x44\4\5\0",
    "timestamp, length 6": b"\x44\6\5\0\0\0",
    "timestamp and address": b"\x44\x0c\5\1" + bytes(8),
    "timestamp and address, no room": b"\x44\x08\5\1" + bytes(4),
    "timestamp for us": b"\x44\x0c\5\3" + addresses(US) + bytes(4),
    "timestamp for another": b"\x44\x0c\5\3\1\2\3\4" + bytes(4),
    "timestamp of kind 2": b"\x44\x0c\5\2" + bytes(8),
    "two timestamps": b"\x44\x08\5\0" + bytes(4) + b"\x44\x08\5\0" + bytes(4),
    "loose source route": b"\x83\7\4" + addresses(B),
    "strict source route": b"\x89\7\4" + addresses(B),
    "loose source route, at its end": b"\x83\7\x08" + addresses(US),
    "strict source route, at its end": b"\x89\7\x08" + addresses(US),
    "source route, pointer 3": b"\x83\7\3" + addresses(B),
    "source route, length 2": b"\x83\2\4\0",
    "two source routes": (b"\x83\7\4" + addresses(B)) * 2,
}


def options():
    for name, option in OPTIONS.items():
        yield f"option {name}", with_options(option)
        yield f"option {name}, TTL 1", with_options(option, ttl=1)
        yield f"option {name}, echo to us", with_options(option, echo(), dst=US)


SOURCES = (
    "0.0.0.0 0.1.2.3 127.0.0.1 127.255.255.255 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 "
    "10.0.1.0 10.0.1.1 10.0.1.255 10.0.2.0 10.0.2.1 10.0.2.2 10.0.2.255 169.254.1.1 100.64.0.1 "
    "192.0.2.1 198.18.0.1 198.51.100.7 8.8.8.8"
).split()
DESTINATIONS = (
    "0.0.0.0 0.1.2.3 127.0.0.1 127.1.1.1 224.0.0.1 224.0.0.5 239.1.1.1 240.0.0.1 255.255.255.255 "
    "10.0.1.0 10.0.1.255 10.0.2.0 10.0.2.255 10.0.1.2 169.254.1.1 192.0.2.1 198.51.100.7 8.8.8.8 "
    "203.0.113.1 203.0.113.17 203.0.113.33"
).split()


def martians():
    for source in SOURCES:
        yield f"from {source}", ip(src=source)
        yield f"from {source}, TTL 1", ip(src=source, ttl=1)
        yield f"from {source}, echo to us", ip(echo(), src=source, dst=US)
    for destination in DESTINATIONS:
        for name in ("UDP", "TCP", "echo"):
            yield f"{name} to {destination}", ip(UPPER[name], dst=destination)
        yield f"UDP to {destination}, TTL 1", ip(dst=destination, ttl=1)


def for_us():
    for size in (0, 1, 56, 1000, 1472):
        yield f"echo of {size} to us", ip(echo(bytes(size)), dst=US)
    yield "echo to our far address", ip(echo(), dst=US_FAR)
    for ttl in (0, 1):
        yield f"echo to us with TTL {ttl}", ip(echo(), dst=US, ttl=ttl)
    yield "echo to us with a wrong checksum", ip(ICMP(chksum=1) / Raw(BODY), dst=US)
    yield "echo of code 1 to us", ip(ICMP(code=1) / Raw(BODY), dst=US)
    for kind in (k for k in range(45) if k != 8):
        yield f"ICMP {kind} to us", bytes(ip(ICMP(type=kind) / Raw(BODY), dst=US))
    for size in (0, 1, 7):
        yield f"ICMP of {size} bytes to us", ip(Raw(bytes(size)), proto=1, dst=US)
    # Its checksum is right, and half of its header is missing.
    for size in (4, 7):
        yield f"echo request of {size} bytes to us", ip(Raw(b"\x08\0\xf7\xff" + bytes(size - 4)), proto=1, dst=US)
    for protocol in (0, 2, 3, 4, 5, 8, 33, 41, 46, 47, 50, 51, 89, 103, 112, 132, 136, 253, 255):
        yield f"protocol {protocol} to us", ip(Raw(BODY), proto=protocol, dst=US)
    yield "UDP to us", ip(dst=US)
    yield "UDP to our far address", ip(dst=US_FAR)
    yield "UDP to us with a wrong checksum", ip(udp(chksum=1), dst=US)
    yield "UDP to us without checksum", ip(udp(chksum=0), dst=US)
    for length in (0, 7, 8, 39, 41):
        yield f"UDP to us of length {length}, really 40", ip(udp(len=length, chksum=0), dst=US)
    yield "UDP to us of 4 bytes", ip(Raw(bytes(4)), proto=17, dst=US)
    for flags in ("S", "SA", "A", "R", "RA", "F", "FA", "SF", "", "SRF", "FSRPAUEC"):
        yield f"TCP {flags or 'without flags'} to us", ip(TCP(dport=81, flags=flags, seq=5, ack=6), dst=US)
        yield f"TCP {flags or 'without flags'} to us with data", ip(
            TCP(dport=81, flags=flags, seq=5, ack=6) / Raw(BODY), dst=US
        )
    yield "TCP to us with a wrong checksum", ip(TCP(dport=81, chksum=1), dst=US)
    yield "TCP to us of 10 bytes", ip(Raw(bytes(10)), proto=6, dst=US)
    for words in (0, 4, 15):
        yield f"TCP to us, data at {words}", ip(TCP(dport=81, dataofs=words), dst=US)
    for number, piece in enumerate(fragment(ip(udp(bytes(64)), dst=US, id=99), 48)):
        yield f"piece {number} to us", piece


def links():
    from linux_conformance import HOST_MAC, ROUTER_MAC

    def frame(payload=None, dst=ROUTER_MAC["a"], **fields):
        return bytes(Ether(src=HOST_MAC["a"], dst=dst, **fields) / (payload or ip()))

    whole = bytes(ip())
    for mac in ("ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01", "02:00:00:00:00:99"):
        yield f"to MAC {mac}", frame(dst=mac)
        yield f"to MAC {mac}, TTL 1", frame(ip(ttl=1), dst=mac)
        yield f"to MAC {mac}, echo to us", frame(ip(echo(), dst=US), dst=mac)
    for kind in (0, 46, 0x5DC, 0x5FF, 0x600, 0x801, 0x8100, 0x86DD, 0x8847, 0x88A8, 0xFFFF):
        yield f"ethertype {kind:#x}", frame(Raw(whole), type=kind)
    for size in (0, 1, 4, 10, 19, 20, 21, 27, 28, 40, 59):
        yield f"cut to {size} bytes", frame(Raw(whole[:size] or b""), type=0x800)[: 14 + size]
    for pad in (1, 6, 18, 300):
        yield f"{pad} bytes behind it", frame() + bytes(range(1, 201))[:pad] * (1 + pad // 200)
        yield f"{pad} bytes behind an echo to us", frame(ip(echo(), dst=US)) + b"\xaa" * pad
        yield f"{pad} bytes behind it, TTL 1", frame(ip(ttl=1)) + b"\xbb" * pad
    for size in (1501, 1504):
        yield f"giant of {size} bytes", frame(ip(udp(bytes(size - 28))))


def back():
    for name, upper in UPPER.items():
        yield f"back: {name}", ip(upper, src=B, dst=A)
        yield f"back: {name}, TTL 1", ip(upper, src=B, dst=A, ttl=1)
    yield "back: from behind", ip(src=BEHIND_B, dst=A)
    yield "back: from behind, TTL 1", ip(src=BEHIND_B, dst=A, ttl=1)
    yield "back: to nowhere", ip(src=BEHIND_B, dst=NOWHERE)
    yield "back: echo to us from behind", ip(echo(), src=BEHIND_B, dst=US)


def all_cases():
    from linux_conformance import HOST_MAC, ROUTER_MAC

    for group in (headers, too_big, options, martians, for_us, back):
        for name, packet in group():
            side = "b" if group is back else "a"
            link = Ether(src=HOST_MAC[side], dst=ROUTER_MAC[side], type=0x800)
            yield name, side, bytes(link) + bytes(packet)
    for name, frame in links():
        yield name, "a", frame
