"""Announces an address by gratuitous ARP from eth0, as its owner would (RFC 5227, section 2.3)."""

import socket
import sys

address = socket.inet_aton(sys.argv[1])
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(("eth0", 0))
mac = link.getsockname()[4]
request = b"\0\1\x08\0\6\4\0\1" + mac + address + bytes(6) + address
link.send(b"\xff" * 6 + mac + b"\x08\x06" + request + bytes(18))
