"""Sockets inside network namespaces: a socket stays where it was opened."""

import contextlib
import ctypes

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000

@contextlib.contextmanager
def inside(namespace):
    """What is opened in the block is opened in that namespace."""
    with open("/proc/self/ns/net") as home, open(f"/run/netns/{namespace}") as there:
        enter(there)
        try:
            yield
        finally:
            enter(home)

def enter(file):
    if LIBC.setns(file.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), f"cannot enter {file.name}")

def packet_socket(namespace, device="eth0"):
    """Every frame of a device, and frames out of it."""
    import socket

    with inside(namespace):
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    opened.setsockopt(socket.SOL_SOCKET, 33, 16 << 20)  # SO_RCVBUFFORCE
    opened.bind((device, 3))
    return opened
