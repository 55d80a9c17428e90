"""The other site of smoke/lisp.sh: LISP's packets made and looked at octet by octet, without anybody's layer for them."""
import struct
import sys
from scapy.all import ICMP, IP, UDP, Ether, ICMPv6EchoRequest, IPv6, Raw, conf, getmacbyip, sendp, sniff

conf.verb = 0
ROUTER = getmacbyip("10.0.2.1")
INSTANCE = 7


def lisp(flags=0x88, instance=INSTANCE):
    return struct.pack("!II", flags << 24 | 0x123456, instance << 8)


def outer(over6, tos=0, ttl=64, source="2001:db8:2::2"):
    ether = Ether(dst=ROUTER)
    if over6:
        return ether / IPv6(src=source, dst="2001:db8:2::1", tc=tos, hlim=ttl) / UDP(sport=50000, dport=4341, chksum=0)
    return ether / IP(src="10.0.2.2", dst="10.0.2.1", tos=tos, ttl=ttl) / UDP(sport=50000, dport=4341, chksum=0)


def inner(six, source, data, tos=0, ttl=60):
    if six:
        return IPv6(src=source, dst="2001:db8:1::2", tc=tos, hlim=ttl) / ICMPv6EchoRequest(id=7, data=data)
    return IP(src=source, dst="10.0.1.2", tos=tos, ttl=ttl) / ICMP(id=7) / data


def datagrams(frames):
    return [it for it in frames if it[Ether].src == ROUTER and UDP in it and it[UDP].dport == 4341]


def ask(packet, data):
    """Sends until an answer with this data comes back in LISP; the frame that it came in."""
    for _ in range(10):
        seen = sniff(iface="eth0", timeout=2, stop_filter=lambda it: any(data in bytes(x) for x in datagrams([it])), started_callback=lambda: sendp(packet, iface="eth0"))
        for frame in datagrams(seen):
            if data in bytes(frame):
                return frame
    sys.exit("no answer to " + packet.summary())


def check(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got!r}, and not {wanted!r}")


def site():
    for over6, six, source in [
        (False, False, "10.50.0.9"),
        (True, False, "10.56.0.9"),
        (False, True, "2001:db8:50::9"),
        (True, True, "2001:db8:56::9"),
    ]:
        data = b"to " + source.encode()
        frame = ask(outer(over6) / Raw(lisp() + bytes(inner(six, source, data))), data)
        network = bytes(frame[IPv6] if over6 else frame[IP])
        head = 40 if over6 else 20
        datagram, payload = network[head : head + 8], network[head + 8 :]
        check("version outside", network[0] >> 4, 6 if over6 else 4)
        sport, dport, length, checksum = struct.unpack("!HHHH", datagram)
        check("ports, length, checksum", (sport >= 0xC000, dport, length, checksum), (True, 4341, 8 + len(payload), 0))
        check("flags and instance", (payload[0], payload[4:8]), (0x88, struct.pack("!I", INSTANCE << 8)))
        inside = payload[8:]
        check("version inside", inside[0] >> 4, 6 if six else 4)
        reach = inside[7] if six else inside[8]
        # a's 64, one less behind the router, and as far outside.
        check("reach inside and outside", (reach, network[7] if over6 else network[8]), (63, 63))
        if not over6:
            check("identification, flags", network[4:8], b"\0\0\x40\0")
            check("length", struct.unpack("!H", network[2:4])[0], len(network))
    # Class and congestion of what comes are told inside: a answers with the same class.
    data = b"marked"
    frame = ask(outer(False, tos=0xB8 | 3) / Raw(lisp() + bytes(inner(False, "10.50.0.9", data, tos=0x28 | 2))), data)
    inside = bytes(frame[IP])[36:]
    check("class that a saw and answered with", inside[1] & 0xFC, 0xB8)
    check("class outside", bytes(frame[IP])[1], inside[1])
    good = bytes(inner(False, "10.50.0.9", b"x"))
    for payload in [lisp(0x98) + good, lisp(0x89) + good, lisp(0x88, 8) + good, lisp() + b"\x50" * 40, lisp() + good[:19], lisp()[:7]]:
        sendp(outer(False) / Raw(payload), iface="eth0")


def spoof():
    ask(outer(False) / Raw(lisp() + bytes(inner(False, "10.50.0.9", b"known"))), b"known")
    # 10.50/16 is not at the locator of IPv6, and 10.52/16 is nowhere.
    for _ in range(3):
        sendp(outer(True) / Raw(lisp() + bytes(inner(False, "10.50.0.9", b"spoofed"))), iface="eth0")
        sendp(outer(False) / Raw(lisp() + bytes(inner(False, "10.52.0.9", b"unknown"))), iface="eth0")


{"site": site, "spoof": spoof}[sys.argv[1]]()
