"""A UDP packet for 10.0.2.2 in hexadecimal."""

from scapy.all import IP, UDP, Ether, Raw

link = Ether(src="02:00:00:00:01:02", dst="02:00:00:00:00:01")
print(bytes(link / IP(src="10.0.1.2", dst="10.0.2.2") / UDP(sport=1, dport=2) / Raw(bytes(18))).hex())
