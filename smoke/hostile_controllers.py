"""What hostile peers do at a bridge's controllers' port, ADDRESS PORT KIND [COUNT]: it goes on until standard input is at its end.
silent: connects and says nothing; half: says half of a header; rubbish: bytes of no message; long: says that much comes, and sends
little; deaf: asks for all flows again and again and reads nothing; crowd: COUNT connections (2000), one behind the other; dribble: the
beginning of TLS, an octet each 0.1 s. TLS="KEY CERTIFICATE AUTHORITY" has them begin as who they are."""
import os
import resource
import socket
import ssl
import struct
import sys
import threading
import time

address, port, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))


def connect():
    peer = socket.create_connection((address, port), timeout=10)
    if "TLS" in os.environ:
        key, certificate, authority = os.environ["TLS"].split()
        context = ssl.create_default_context(cafile=authority)
        context.check_hostname = False
        context.load_cert_chain(certificate, key)
        peer = context.wrap_socket(peer)
    peer.settimeout(0.2)
    return peer


def say(peer, data):
    """As much as is taken at once."""
    try:
        peer.sendall(data)
        return True
    except OSError:
        return False


def message(kind, body=b""):
    return struct.pack(">BBHI", 1, kind, 8 + len(body), 7) + body


held = []
if kind == "silent":
    held = [connect() for _ in range(300)]
elif kind == "half":
    for _ in range(100):
        held.append(connect())
        say(held[-1], b"\1\0\0")
elif kind == "rubbish":
    for _ in range(50):
        held.append(connect())
        say(held[-1], os.urandom(70000))
elif kind == "long":
    for _ in range(100):
        held.append(connect())
        say(held[-1], message(0) + struct.pack(">BBHI", 1, 14, 0xFFFF, 7) + bytes(100))
elif kind == "deaf":
    flows = message(16, struct.pack(">HHI", 1, 0, 0x3FFFFF) + bytes(36) + b"\xff\0\xff\xff")
    for _ in range(8):
        held.append(connect())
        say(held[-1], message(0) + flows * 2000)
elif kind == "crowd":
    for _ in range(int(sys.argv[4]) if len(sys.argv) > 4 else 2000):
        connect().close()
elif kind == "dribble":
    held = [connect() for _ in range(100)]

    def dribble():
        for octet in b"\x16\3\1\2\0\1\0\1\xfc" + bytes(1000):
            time.sleep(0.1)
            for peer in held:
                say(peer, bytes([octet]))

    threading.Thread(target=dribble, daemon=True).start()
print("thrown", flush=True)
sys.stdin.read()
