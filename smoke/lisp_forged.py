"""Answers that nobody asked for, to west of smoke/lisp_sites.sh, from the core's end of its wire."""
import logging
import socket
import struct

logging.getLogger("scapy.runtime").setLevel(logging.ERROR)
from scapy.all import IP, UDP, Ether, Raw, conf, sendp

conf.verb = 0
record = struct.pack("!IBBHHH4s", 1440, 1, 16, 0x1000, 0, 1, socket.inet_aton("10.7.0.0"))
locator = struct.pack("!BBBBHH4s", 1, 100, 255, 0, 5, 1, socket.inet_aton("6.6.6.6"))
for nonce in (0, 1, 0x0102030405060708):
    reply = struct.pack("!IQ", 0x20000001, nonce) + record + locator
    packet = Ether(dst="ff:ff:ff:ff:ff:ff") / IP(src="192.0.2.1", dst="192.0.2.2") / UDP(sport=4342, dport=4342) / Raw(reply)
    # A frame to all is no packet for us: the wire's other end is asked for its address.
    with open("/sys/class/net/w0/address") as address:
        packet[Ether].dst = address.read().strip()
    sendp(packet, iface="w1")
