"""Frames of known flows, by a device: seven of IPv4, five of IPv6, three of a VLAN, and many of one more.

export_send.py DEVICE [MANY]"""

import socket
import sys
import time

from scapy.all import IP, UDP, Dot1Q, Ether, IPv6, Raw

device, many = sys.argv[1], int((sys.argv + ["0"])[2])
with open(f"/sys/class/net/{device}/address") as file:
    own = file.read().strip()
link = Ether(src=own, dst="02:00:00:00:00:01")
ip4 = IP(src="10.0.1.2", dst="10.0.2.2")
data = Raw(bytes(72))
frames = [
    (7, link / ip4 / UDP(sport=1111, dport=53) / data),
    (5, link / IPv6(src="2001:db8::2", dst="2001:db8:9::9") / UDP(sport=2222, dport=53) / data),
    (3, link / Dot1Q(vlan=7) / ip4 / UDP(sport=3333, dport=53) / data),
    (many, link / ip4 / UDP(sport=4444, dport=53) / data),
]
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind((device, 0))
for count, frame in frames:
    frame = bytes(frame)
    for number in range(count):
        wire.send(frame)
        if number % 50 == 49:
            time.sleep(0.005)  # a ring that is full loses some: it is theirs to be counted
