"""A memif peer that keeps no rule: hostile_memif.py client|server SOCKET. Ends with 0 when it has done all that it can."""

import array
import mmap
import os
import socket
import struct
import sys
import time

ROLE, PATH = sys.argv[1:]
COOKIE, LOG2, BUFFER = 0x3E31F20, 4, 2048
SIZE = 1 << LOG2
RING = 128 + 16 * SIZE
BYTES = 2 * RING + 2 * SIZE * BUFFER
ACK, HELLO, INIT, REGION, ADD_RING, CONNECT, CONNECTED, DISCONNECT = range(1, 9)


class Left(Exception):
    """The router has ended the connection, as it should."""


class Peer:
    def __init__(self, channel):
        self.channel = channel
        channel.settimeout(10)

    def say(self, kind, body=b"", descriptors=()):
        message = (struct.pack("=H", kind) + body).ljust(128, b"\0")
        self.raw(message, descriptors)

    def raw(self, message, descriptors=()):
        extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        try:
            self.channel.sendmsg([message], extra)
        except OSError as error:
            raise Left from error

    def hear(self):
        try:
            message, descriptors, _, _ = socket.recv_fds(self.channel, 128, 4)
        except ConnectionError as error:
            raise Left from error
        if not message or struct.unpack_from("=H", message)[0] == DISCONNECT:
            raise Left
        return struct.unpack_from("=H", message)[0], message[2:], descriptors

    def left(self):
        """Waits until the router ends the connection."""
        try:
            while True:
                self.hear()
        except Left:
            self.channel.close()


def memory(bytes=BYTES, flags=os.MFD_ALLOW_SEALING):
    fd = os.memfd_create("hostile", flags)
    os.ftruncate(fd, bytes)
    return fd


def ring(start, to_server, region=0, offset=None, log2=LOG2):
    place = start if offset is None else offset
    return struct.pack("=HHHIBH", to_server, 0, region, place, log2, 0)


def client():
    """Connects and is admitted."""
    while True:
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        channel.connect(PATH)
        peer = Peer(channel)
        try:
            assert peer.hear()[0] == HELLO
            peer.say(INIT, struct.pack("=HIB", 0x200, 0, 0))
            assert peer.hear()[0] == ACK
            return peer
        except Left:
            time.sleep(0.02)


def connected():
    peer, fd, bell = client(), memory(), os.eventfd(0)
    shared = mmap.mmap(fd, BYTES)
    for start in (0, RING):
        struct.pack_into("=I", shared, start, COOKIE)
    peer.say(REGION, struct.pack("=HQ", 0, BYTES), [fd])
    peer.hear()
    for start, to_server in ((0, 1), (RING, 0)):
        peer.say(ADD_RING, ring(start, to_server), [bell])
        peer.hear()
    peer.say(CONNECT)
    assert peer.hear()[0] == CONNECTED
    return peer, shared, fd, bell


def describes():
    """Says what cannot be, before packets flow."""
    for words in (b"\xff" * 128, b"\1\0", b"", bytes(range(200))):
        peer = client()
        try:
            peer.raw(words)
        except Left:
            pass
        peer.left()
    for region, told in ((memory(4096), BYTES), (memory(BYTES, 0), BYTES), (os.open("/proc/self/exe", 0), BYTES),
                         (memory(), 1 << 40), (memory(), 0)):
        peer = client()
        try:
            peer.say(REGION, struct.pack("=HQ", 0, told), [region])
            peer.hear()
            for start, to_server in ((0, 1), (RING, 0)):
                peer.say(ADD_RING, ring(start, to_server), [os.eventfd(0)])
                peer.hear()
            peer.say(CONNECT)
        except Left:
            pass
        peer.left()
    for told in ({"offset": 0xFFFFFFF8}, {"offset": BYTES - 64}, {"region": 9}, {"log2": 255}, {"offset": 3}):
        peer = client()
        try:
            peer.say(REGION, struct.pack("=HQ", 0, BYTES), [memory()])
            peer.hear()
            peer.say(ADD_RING, ring(0, 1, **told), [os.eventfd(0)])
        except Left:
            pass
        peer.left()
    for descriptors in ([], [0, 0, 0]):
        peer = client()
        try:
            peer.say(REGION, struct.pack("=HQ", 0, BYTES), descriptors)
        except Left:
            pass
        peer.left()


def wild_client():
    describes()
    # Descriptors of packets: anywhere, any length, chains without end, while the router reads them.
    peer, shared, fd, _ = connected()
    assert truncated(fd) is False
    head = 0
    for _ in range(300):
        for slot in range(SIZE):
            shared[128 + slot * 16:144 + slot * 16] = os.urandom(16)
        for slot in range(SIZE):
            handed = struct.pack("=HHIII", 0, slot % 3, 0xFFFF if slot % 2 else BUFFER, int.from_bytes(os.urandom(4), "little"), 0)
            shared[RING + 128 + slot * 16:RING + 144 + slot * 16] = handed
        tail, = struct.unpack_from("=H", shared, 64)
        head = (tail + SIZE) & 0xFFFF
        struct.pack_into("=H", shared, 6, head)
        sent, = struct.unpack_from("=H", shared, RING + 64)
        struct.pack_into("=H", shared, RING + 6, (sent + SIZE) & 0xFFFF)
    # Rings that lie.
    struct.pack_into("=H", shared, 6, (head + 0x4000) & 0xFFFF)
    peer.left()
    # Stops in the middle.
    stopped = client()
    stopped.say(REGION, struct.pack("=HQ", 0, BYTES), [memory()])
    stopped.channel.close()


def truncated(fd):
    try:
        os.ftruncate(fd, 0)
        return True
    except PermissionError:
        return False


def wild_server():
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(PATH)
    listener.listen()
    hello = struct.pack("=32sHHHHHB", b"hostile", 0x200, 0x200, 0xFFFF, 0xFFFF, 0xFFFF, 255)
    for words in (b"\xff" * 128, b"\1\0", b""):
        peer = Peer(listener.accept()[0])
        peer.raw(words)
        peer.left()
    peer = Peer(listener.accept()[0])
    peer.say(HELLO, hello)
    # The rings' memory, and that of packets, where they are not copied.
    regions, rings = [], []
    while True:
        kind, body, descriptors = peer.hear()
        if kind == REGION:
            index, bytes = struct.unpack_from("=HQ", body)
            assert index == len(regions) and truncated(descriptors[0]) is False
            regions.append(mmap.mmap(descriptors[0], bytes))
        if kind == ADD_RING:
            rings.append(struct.unpack_from("=HHHIBH", body))
        if kind == CONNECT:
            break
        peer.say(ACK)
    peer.say(CONNECTED)
    to_client = next(told[3] for told in rings if not told[0] & 1)
    size = 1 << rings[0][4]
    shared, packets = regions[0], regions[1:]
    for turn in range(200):
        for slot in range(0, size, 7):
            shared[to_client + 128 + slot * 16:to_client + 144 + slot * 16] = os.urandom(16)
        for memory in packets:
            place = turn * 8191 % (len(memory) - 65536)
            memory[place:place + 65536] = os.urandom(65536)
        head, = struct.unpack_from("=H", shared, to_client + 6)
        struct.pack_into("=H", shared, to_client + 64, head)
    struct.pack_into("=H", shared, to_client + 64, (head + 0x4000) & 0xFFFF)
    peer.left()
    listener.close()
    os.unlink(PATH)


wild_client() if ROLE == "client" else wild_server()
