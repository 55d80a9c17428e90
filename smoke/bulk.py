"""Bulk data with the offloads that hosts have: a stream, and datagrams that the kernel is to cut.

bulk.py serve ADDRESS     takes a stream, then batches of datagrams; says what each was
bulk.py send ADDRESS N    sends N octets as a stream, then 40 datagrams a batch until the server has a batch whole
"""

import hashlib
import socket
import sys
import time

PORT, SIZE, COUNT = 7000, 1000, 40
UDP_SEGMENT = 103


def datagrams():
    return [bytes((n * 31 + k * 7) & 0xFF for k in range(SIZE)) for n in range(COUNT)]


def octets(count):
    block = bytes((n * 2654435761 >> 13) & 0xFF for n in range(1 << 16))
    return (block * (count // len(block) + 1))[:count]


def serve(address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    flood = socket.socket(family, socket.SOCK_DGRAM)
    flood.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    flood.bind((address, PORT))
    with socket.create_server((address, PORT), family=family) as server:
        stream, _ = server.accept()
        digest, length = hashlib.sha256(), 0
        while data := stream.recv(1 << 16):
            digest.update(data)
            length += len(data)
        print("stream", length, digest.hexdigest(), flush=True)
        came = []
        while sorted(came[-COUNT:]) != sorted(datagrams()):
            came.append(flood.recv(1 << 16))
            assert came[-1] in datagrams(), "a datagram that nobody sent"
        print("datagrams", COUNT, SIZE, flush=True)
        stream.sendall(b"enough")


def send(address, count):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    data = octets(count)
    print("stream", count, hashlib.sha256(data).hexdigest(), flush=True)
    stream = socket.create_connection((address, PORT), timeout=60)
    stream.sendall(data)
    stream.shutdown(socket.SHUT_WR)
    with socket.socket(family, socket.SOCK_DGRAM) as flood:
        flood.setsockopt(socket.SOL_UDP if hasattr(socket, "SOL_UDP") else 17, UDP_SEGMENT, SIZE)
        stream.setblocking(False)
        for _ in range(300):
            flood.sendto(b"".join(datagrams()), (address, PORT))
            time.sleep(0.1)
            try:
                if stream.recv(6) == b"enough":
                    print("datagrams", COUNT, SIZE, flush=True)
                    return
            except BlockingIOError:
                pass
    sys.exit("datagrams did not arrive whole")


if sys.argv[1] == "serve":
    serve(sys.argv[2])
else:
    send(sys.argv[2], int(sys.argv[3]))
