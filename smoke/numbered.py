"""Numbered UDP packets from one namespace to another while a command runs: none may get lost.

numbered.py A B PACKETS_PER_SECOND COMMAND...: to all of 172.16.0.0/16, which is local to B."""

import socket
import subprocess
import sys
import time

from namespaces import inside

space_a, space_b, rate_pps, *command = sys.argv[1:]
with inside(space_a):
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
with inside(space_b):
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE: stalls lose nothing here
receiver.bind(("0.0.0.0", 9))
receiver.setblocking(False)
arrived, sent = set(), 0


def receive():
    while True:
        try:
            arrived.add(int(receiver.recv(64)))
        except BlockingIOError:
            return


work = subprocess.Popen(command, stdout=subprocess.DEVNULL)
begin = time.monotonic()
while work.poll() is None or sent < int(rate_pps):
    # A stall of the machine is not made up for: bursts would overflow rings.
    sender.sendto(str(sent).encode(), (f"172.16.{sent * 7 % 256}.{sent * 31 % 256}", 9))
    sent += 1
    time.sleep(1 / int(rate_pps))
    receive()
for _ in range(100):
    if len(arrived) < sent:
        time.sleep(0.1)
    receive()
print(f"{sent} packets in {time.monotonic() - begin:.1f} s, {sent - len(arrived)} lost")
sys.exit(work.returncode != 0 or len(arrived) != sent)
