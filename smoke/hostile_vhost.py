"""A front end of vhost-user that keeps no rule: hostile_vhost.py SOCKET ROUNDS [listen]. Ends with 0 when it has done all that it can.

With `listen` it makes the socket, and the router connects, a second after it left at most: so it does less then.
"""

import array
import errno
import fcntl
import mmap
import os
import random
import socket
import struct
import sys
import time

PATH, ROUNDS = sys.argv[1], int(sys.argv[2])
LISTENER = None
if sys.argv[3:] == ["listen"]:
    LISTENER = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    LISTENER.bind(PATH)
    LISTENER.listen(1)
    LISTENER.settimeout(10)
# The network that a packet asks for an address of: that of the port.
NET = 8 if LISTENER else 9
(GET_FEATURES, SET_FEATURES, SET_OWNER, RESET_OWNER, SET_MEMORY, SET_LOG, SET_LOG_FD, SET_SIZE, SET_PLACE, SET_BASE, STOP,
 KICK, CALL, ERROR, GET_PROTOCOL, SET_PROTOCOL, GET_QUEUES, ENABLE) = range(1, 19)
IOTLB, POSTCOPY_LISTEN, GET_INFLIGHT, SET_INFLIGHT = 22, 29, 31, 32
VERSION_1, PROTOCOL, INDIRECT, MERGED, EVENT, PACKED = (1 << bit for bit in (32, 30, 28, 15, 29, 34))
# Checksums and large frames: those that it takes, and those that it sends.
TAKES_LARGE, SENDS_LARGE = (1 << bit | both for bit, both in ((1, 3 << 7), (0, 3 << 11)))
BYTES, FRONT, SIZE = 1 << 20, 0x10000000, 64
NEXT, WRITE, TABLE = 1, 2, 4
BUFFERS = 0x20000
chance = random.Random(7)


class Left(Exception):
    """The router has ended the connection."""


def memory(bytes=BYTES, flags=0):
    fd = os.memfd_create("hostile", flags)
    os.ftruncate(fd, bytes)
    return fd


class Peer:
    def __init__(self):
        end = time.monotonic() + 20
        while True:
            self.channel = LISTENER.accept()[0] if LISTENER else socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.channel.settimeout(10)
            try:
                if not LISTENER:
                    self.channel.connect(PATH)
                # Who comes while the one before is still there is turned away.
                self.features = self.ask(GET_FEATURES)
                return
            except (Left, OSError):
                self.channel.close()
                assert time.monotonic() < end, "nobody is let in any more"
                time.sleep(0.01)

    def raw(self, message, descriptors=()):
        extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        try:
            self.channel.sendmsg([message], extra)
        except OSError as error:
            if error.errno in (errno.EPIPE, errno.ECONNRESET):
                raise Left from error
            raise

    def say(self, request, payload=b"", descriptors=(), flags=1):
        self.raw(struct.pack("=III", request, flags, len(payload)) + payload, descriptors)

    def hear(self):
        try:
            message = self.channel.recv(12 + 264)
        except ConnectionError as error:
            raise Left from error
        if not message:
            raise Left
        return message

    def ask(self, request, payload=b""):
        self.say(request, payload)
        answer = self.hear()
        assert struct.unpack_from("=I", answer)[0] == request, answer
        return struct.unpack_from("=Q", answer, 12)[0]

    def left(self):
        """Waits until the router ends the connection."""
        try:
            while True:
                self.hear()
        except Left:
            self.close()

    def close(self):
        self.channel.close()

    def pair(self, request, ring, number):
        self.say(request, struct.pack("=II", ring, number))

    def place(self, ring, descriptors, available, used):
        self.say(SET_PLACE, struct.pack("=IIQQQQ", ring, 0, descriptors, used, available, 0))

    def table(self, *regions, descriptors=None):
        payload = struct.pack("=II", len(regions), 0) + b"".join(struct.pack("=QQQQ", *region[:4]) for region in regions)
        self.say(SET_MEMORY, payload, [region[4] for region in regions] if descriptors is None else descriptors)

    def bell(self, request, ring, fd=None):
        self.say(request, struct.pack("=Q", ring if fd is not None else ring | 0x100), [fd] if fd is not None else [])


class Rings(Peer):
    """One whose two rings run. Ring 0 is what the router fills, ring 1 what it empties."""

    def __init__(self, features=0, size=SIZE, flags=0):
        super().__init__()
        self.size, self.fd, self.seen = size, memory(flags=flags), [0, 0]
        self.shared = mmap.mmap(self.fd, BYTES)
        self.call = os.eventfd(0)
        self.say(SET_OWNER)
        self.say(SET_FEATURES, struct.pack("=Q", VERSION_1 | PROTOCOL | features))
        self.table((0, BYTES, FRONT, 0, self.fd))
        for ring in (0, 1):
            self.begin(ring)
        # An answer means that all of it was heard.
        self.ask(GET_FEATURES)

    def begin(self, ring):
        self.pair(SET_SIZE, ring, self.size)
        self.pair(SET_BASE, ring, 0)
        self.place(ring, *(FRONT + start for start in self.starts(ring)))
        self.bell(KICK, ring, os.eventfd(0))
        self.bell(CALL, ring, self.call)
        self.pair(ENABLE, ring, 1)

    @staticmethod
    def starts(ring):
        return ring * 0x8000, ring * 0x8000 + 0x4000, ring * 0x8000 + 0x6000

    def describe(self, ring, slot, address, length, flags=0, following=0):
        struct.pack_into("=QIHH", self.shared, self.starts(ring)[0] + 16 * slot, address, length, flags, following)

    def offer(self, ring, heads, index=None):
        """Makes descriptors available."""
        start = self.starts(ring)[1]
        now, = struct.unpack_from("=H", self.shared, start + 2)
        for head in heads:
            struct.pack_into("=H", self.shared, start + 4 + 2 * (now % self.size), head)
            now = (now + 1) & 0xFFFF
        struct.pack_into("=H", self.shared, start + 2, now if index is None else index & 0xFFFF)

    def used(self, ring):
        return struct.unpack_from("=H", self.shared, self.starts(ring)[2] + 2)[0]

    def asks(self, slot=0):
        """Offers a frame: who has 10.0.NET.1?"""
        sender = bytes.fromhex("060000000009")
        frame = b"\xff" * 6 + sender + bytes.fromhex("0806000108000604") + b"\0\1" + sender + bytes([10, 0, NET, 2])
        frame += b"\0" * 6 + bytes([10, 0, NET, 1])
        self.shared[BUFFERS:BUFFERS + 12 + 60] = bytes(12) + frame.ljust(60, b"\0")
        self.describe(1, slot, BUFFERS, 72)
        self.offer(1, [slot])

    def runs(self):
        """Waits for an answer to a question of its own: both rings are used by the router."""
        for slot in range(self.size):
            self.describe(0, slot, BUFFERS + 0x1000 + 2048 * slot, 2048, WRITE)
        self.offer(0, range(self.size))
        end, before = time.monotonic() + 10, self.used(0)
        while self.used(0) == before:
            self.asks()
            time.sleep(0.01)
            assert time.monotonic() < end, "the router uses not what honest rings offer"
        return self


def refused(build, *steps):
    """Of a new peer, one of these has the router end the connection."""
    peer = build()
    try:
        for step in steps:
            step(peer)
        peer.left()
    except Left:
        peer.close()
    except TimeoutError:
        raise AssertionError(f"it was not ended: {steps}") from None


def says(request, payload=b"", descriptors=(), flags=1):
    return lambda peer: peer.say(request, payload, descriptors, flags)


def wild_words():
    """Bytes that are no messages, and messages that are never offered."""
    for words in (b"\xff" * 12, b"\xff" * 300, struct.pack("=III", 5, 1, 0xFFFFFFFF), struct.pack("=III", 5, 1, 265),
                  struct.pack("=III", 0, 1, 0), struct.pack("=III", 1, 4 | 1, 0), struct.pack("=III", 1, 2, 0)):
        refused(Peer, lambda peer: peer.raw(words))
    inflight = struct.pack("=QQHH", 0, 0, 0xFFFF, 0xFFFF).ljust(24, b"\0")
    for request in (GET_INFLIGHT, SET_INFLIGHT):
        refused(Peer, says(request, inflight, [memory(4096)] if request == SET_INFLIGHT else []))
    refused(Peer, says(POSTCOPY_LISTEN))
    refused(Rings, says(IOTLB, struct.pack("=QQQBB6x", 0, 4096, FRONT, 3, 2)))
    refused(Peer, lambda peer: peer.pair(SET_SIZE, 255, 64))
    refused(Peer, lambda peer: peer.pair(SET_SIZE, 0xFFFFFFFF, 64))
    for descriptors in ([0] * 8, [0] * 30):
        refused(Peer, says(GET_FEATURES, b"", descriptors))
    # Half of one, and no more: nobody waits for the rest.
    for words in (b"\1", struct.pack("=III", 9, 1, 40), struct.pack("=III", 9, 1, 40) + b"\0" * 39):
        half = Peer()
        half.raw(words)
        time.sleep(0.2)
        half.close()
    # Who never reads.
    deaf = Peer()
    deaf.channel.settimeout(0.5)
    try:
        for _ in range(200_000):
            deaf.say(GET_FEATURES)
    except (Left, TimeoutError):
        pass
    deaf.close()
    # What is of no use to anybody, and is answered.
    peer = Peer()
    peer.say(RESET_OWNER, flags=1 | 8)
    assert peer.hear()[12:] == bytes(8)
    peer.close()


def wild_memory():
    """Regions that are no memory, or shorter than told, or overlap, or leave while they are used."""
    pipe, _ = os.pipe()
    for fd in (memory(4096), os.open("/proc/self/exe", os.O_RDONLY), os.open("/dev/zero", os.O_RDWR), pipe, os.eventfd(0)):
        refused(Peer, lambda peer: peer.table((0, BYTES, FRONT, 0, fd)))
    fd = memory()
    for told in ((0, 0, FRONT, 0), (0, BYTES, FRONT, 1), (0, BYTES, FRONT, (1 << 64) - 4096), (0, 1 << 50, FRONT, 0),
                 ((1 << 64) - 1, BYTES, FRONT, 0), (0, BYTES, (1 << 64) - 1, 0)):
        refused(Peer, lambda peer: peer.table((*told, fd)))
    refused(Peer, lambda peer: peer.table((0, BYTES, FRONT, 0, fd), (0, BYTES, FRONT, 0, fd)))
    refused(Peer, lambda peer: peer.table((0, BYTES, FRONT, 0, fd), descriptors=[]))
    refused(Peer, says(SET_MEMORY, struct.pack("=II", 9, 0).ljust(264, b"\0"), [fd] * 8))
    refused(Peer, says(SET_MEMORY, struct.pack("=II", 0, 0)))
    refused(Rings, lambda peer: peer.table((0, BYTES, FRONT + BYTES, 0, peer.fd)))
    for bytes, offset in ((4096, 4096), (BYTES + 1, 0), (0, 0)):
        refused(Rings, says(SET_LOG, struct.pack("=QQ", bytes, offset), [fd]))
    # One file after the other.
    def many(peer):
        for _ in range(200):
            more = memory()
            peer.table((0, BYTES, FRONT, 0, more))
            os.close(more)
    refused(Peer, many)
    # Taken away while rings are in it, at once and in the midst of packets; sealed memory stays.
    for size in (0, 4096, 0x8000):
        peer = Rings().runs()
        os.ftruncate(peer.fd, size)
        peer.left()
    for moment in (0.0, 0.005, 0.02):
        peer = Rings()
        time.sleep(moment)
        os.ftruncate(peer.fd, 0)
        peer.left()
    sealed = Rings(flags=os.MFD_ALLOW_SEALING).runs()
    try:
        os.ftruncate(sealed.fd, 0)
        raise AssertionError("memory that could be sealed was not")
    except PermissionError:
        sealed.close()


def wild_order():
    """Messages at times at which they cannot be."""
    refused(Peer, lambda peer: peer.pair(SET_SIZE, 0, 64), lambda peer: peer.place(0, FRONT, FRONT, FRONT))
    for size in (0, 3, 65536, 0xFFFFFFFF):
        refused(Peer, lambda peer: peer.pair(SET_SIZE, 0, size))
    # Never told its size; told another while it runs; told none after it stopped.
    unsized = [lambda peer: peer.place(0, FRONT, FRONT + 0x4000, FRONT + 0x6000), lambda peer: peer.bell(KICK, 0, os.eventfd(0))]
    refused(Peer, lambda peer: peer.table((0, BYTES, FRONT, 0, memory())), *unsized)
    refused(lambda: Rings().runs(), lambda peer: peer.pair(SET_SIZE, 0, 32768))
    refused(lambda: Rings().runs(), lambda peer: peer.pair(STOP, 0, 0), lambda peer: peer.hear(), *unsized)
    refused(lambda: Rings().runs(), lambda peer: peer.say(SET_FEATURES, struct.pack("=Q", VERSION_1 | PACKED)))
    last = FRONT + BYTES
    for place in ((last - 16, FRONT, FRONT), (FRONT, last - 2, FRONT), (FRONT, FRONT, last - 4), (0, 0, 0),
                  ((1 << 64) - 16, FRONT, FRONT), (FRONT + 1, FRONT, FRONT)):
        refused(lambda: Rings().runs(), lambda peer: peer.place(1, *place))
    # Eventfds that are none.
    pipe, _ = os.pipe()
    for fd in (pipe, memory(4096), os.open("/dev/full", os.O_RDWR)):
        for request in (CALL, KICK, ERROR):
            refused(Rings, lambda peer: peer.bell(request, 0, fd))
    # What may be done, in the midst of packets: the same memory again, other eventfds, stop and begin.
    peer = Rings().runs()
    for _ in range(50):
        peer.table((0, BYTES, FRONT, 0, peer.fd))
        peer.bell(CALL, 0, os.eventfd(0))
        peer.pair(ENABLE, 0, 0)
        peer.pair(ENABLE, 0, 1)
        peer.ask(GET_FEATURES)
    for _ in range(20):
        peer.pair(STOP, 0, 0)
        peer.hear()
        peer.begin(0)
    peer.close()


def full_eventfd():
    """An eventfd that makes who writes it wait: no worker does."""
    peer = Rings()
    os.write(peer.call, struct.pack("=Q", (1 << 64) - 2))
    fcntl.fcntl(peer.call, fcntl.F_SETFL, 0)
    peer.runs()
    for slot in range(SIZE):
        peer.asks(slot)
        time.sleep(0.01)
    assert peer.used(1) >= SIZE // 2, "the router waits for an eventfd"
    peer.close()


def wild_descriptors():
    """Whatever can stand in a ring, while the router sends and receives."""
    addresses = [0, BUFFERS, BYTES - 1, BYTES - 16, BYTES, FRONT, 1 << 40, (1 << 64) - 1, (1 << 64) - 4096, 0x8000]
    lengths = [0, 1, 11, 12, 13, 60, 2048, 65535, 65536, BYTES, 0x7FFFFFFF, 0xFFFFFFFF]
    for features in (0, INDIRECT, MERGED, INDIRECT | MERGED | EVENT, PACKED, PACKED | INDIRECT | MERGED):
        peer = Rings(features)
        if not features & PACKED:
            peer.runs()
        for round in range(ROUNDS):
            for ring in (0, 1):
                for slot in range(SIZE):
                    peer.describe(ring, slot, chance.choice(addresses), chance.choice(lengths), chance.randrange(8) | chance.choice([0, 0, 0x8080, 0x80, 0x8000]),
                                  chance.choice([slot, (slot + 1) % SIZE, chance.randrange(SIZE), 0xFFFF]))
                for slot in range(0, SIZE, 16):
                    at = peer.starts(ring)[0] + 16 * slot
                    peer.shared[at:at + 16] = chance.randbytes(16)
                # Tables of descriptors, that lead to themselves.
                struct.pack_into("=QIHH", peer.shared, BUFFERS, BUFFERS, 0xFFFFFFF0, TABLE | NEXT, 0)
                peer.offer(ring, [chance.choice([0, 1, 5, 63, 64, 0xFFFF]) for _ in range(SIZE)])
                if round % 7 == 3:
                    peer.offer(ring, [], index=chance.randrange(1 << 16))
                if round % 5 == 2:
                    start = peer.starts(ring)[2]
                    peer.shared[start:start + 4 + 8 * SIZE + 2] = chance.randbytes(4 + 8 * SIZE + 2)
            time.sleep(0.002)
        # A chain without end, and one longer than its ring.
        for slot in range(SIZE):
            peer.describe(1, slot, BUFFERS, 64, NEXT, (slot + 1) % SIZE)
            peer.describe(0, slot, BUFFERS, 1, NEXT | WRITE, slot)
        for ring in (0, 1):
            peer.offer(ring, range(SIZE))
        time.sleep(0.05)
        peer.ask(GET_FEATURES)
        peer.close()


def wild_headers():
    """Whatever can be said of a frame: frames that bear it out, and others."""
    at = 0x80000
    for features in (TAKES_LARGE | SENDS_LARGE, TAKES_LARGE | SENDS_LARGE | MERGED, 0):
        peer = Rings(features).runs()
        for _ in range(ROUNDS * 4):
            payload = chance.choice([0, 1, 100, 1400, 3000, 20000, 65000, 70000])
            kind = chance.choice([4, 4, 6, 6, 0])
            protocol = chance.choice([6, 6, 17, 1])
            transport = struct.pack(">HHIIBBHHH", 1, 2, 3, 4, 0x50, 0x18 | chance.choice([0, 0x80]), 5, 6, 0)
            length = (len(transport) + payload) & 0xFFFF
            network = {4: struct.pack(">BBHHHBBH4s4s", 0x45, 0, (20 + length) & 0xFFFF, 1, 0, 64, protocol, 0, bytes([10, 0, NET, 2]), bytes([10, 0, 2, 2])),
                       6: struct.pack(">IHBB16s16s", 6 << 28, length, protocol, 64, bytes(16), bytes(16)), 0: b""}[kind]
            frame = b"\xff" * 6 + bytes.fromhex("060000000009") + {4: b"\x08\0", 6: b"\x86\xdd", 0: chance.randbytes(2)}[kind] + network + transport + bytes(payload)
            header = struct.pack("=BBHHHHH", chance.choice([0, 1, 1, 2, 255]), chance.choice([0, 1, 1, 4, 4, 3, 5, 0x81, 255]),
                                 chance.choice([0, 54, 74, 65535]), chance.choice([0, 1, 500, 1400, 65535]),
                                 chance.choice([0, 34, 54, 3000, 65535]), chance.choice([6, 16, 0, 65535]), 1)
            offered = header + frame[:chance.choice([13, 14, 33, 60, len(frame), len(frame), len(frame)])]
            peer.shared[at:at + len(offered)] = offered
            cuts = sorted({0, len(offered), *(chance.randrange(len(offered)) for _ in range(chance.choice([0, 1, 5])))})
            for slot, (start, end) in enumerate(zip(cuts, cuts[1:])):
                peer.describe(1, slot, at + start, end - start, NEXT if end < len(offered) else 0, slot + 1)
            before = peer.used(1)
            peer.offer(1, [0])
            end = time.monotonic() + 10
            while peer.used(1) == before:
                assert time.monotonic() < end, "the router takes no frame any more"
                time.sleep(0.0005)
        peer.ask(GET_FEATURES)
        peer.close()


def wild_messages():
    """Any message with anything in it, before and after rings run."""
    words = [0, 1, 2, 3, 64, 255, 256, 0x100, 0x101, 32768, 65536, 0xFFFFFFFF, FRONT, BYTES, 4096, 0x7FFFFFFF]
    begins = [Peer, Rings]
    for round in range(ROUNDS * 2):
        peer = begins[round % 2]()
        try:
            for _ in range(chance.randrange(1, 30)):
                request = chance.choice([chance.randrange(1, 21), chance.randrange(45)])
                payload = b"".join(struct.pack("=I", chance.choice(words)) for _ in range(chance.choice([0, 2, 2, 2, 4, 10, 10, 66])))
                made = [chance.choice([memory, lambda: os.eventfd(0)])() for _ in range(chance.choice([0, 0, 1, 1, 2, 8]))]
                try:
                    peer.say(request, payload, made, chance.choice([1, 1, 9]))
                finally:
                    for fd in made:
                        os.close(fd)
            if round % 3:
                peer.ask(GET_FEATURES)
        except (Left, AssertionError, struct.error, TimeoutError):
            pass
        peer.close()


for part in (wild_words, full_eventfd) if LISTENER else (wild_words, wild_memory, wild_order, full_eventfd, wild_descriptors, wild_headers, wild_messages):
    started = time.monotonic()
    part()
    print(f"{part.__name__}: {time.monotonic() - started:.1f} s", flush=True)
# And an honest one is served.
Rings().runs().close()
