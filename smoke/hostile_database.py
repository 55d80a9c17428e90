"""A server of Open vSwitch's database that means ill, at the Unix socket PATH, one kind a connection, in turn: rubbish with
commands for terminals, a message without end, rows without end, brackets without end. It says which kinds are over."""
import json
import os
import socket
import sys

server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen(5)


def answer(peer, result):
    """Reads a request and answers it."""
    text = b""
    while True:
        more = peer.recv(65536)
        if not more:
            raise OSError("gone")
        text += more
        try:
            asked = json.loads(text)
        except ValueError:
            continue
        peer.sendall(json.dumps({"id": asked["id"], "result": result, "error": None}).encode())
        return


def rubbish(peer):
    peer.sendall(b"\x1b[2J\x1b]0;ours\x07" + os.urandom(100000))


def brackets(peer):
    peer.sendall(b"[" * 1000000 + b"]" * 1000000)


def endless(peer):
    peer.sendall(b'{"id":1,"result":[')
    while True:
        peer.sendall(b"0," * 500000)


def rows(peer):
    answer(peer, {"tables": {"Bridge": {"columns": {"name": {}}}}})
    answer(peer, {"locked": True})
    answer(peer, {})
    for number in range(1000000):
        table = {f"{number}-{it}": {"new": {"name": "x" * 28000}} for it in range(1000)}
        update = {"method": "update", "id": None, "params": ["rows", {"Bridge": table}]}
        peer.sendall(json.dumps(update).encode())


for kind in (rubbish, endless, rows, brackets):
    peer, _ = server.accept()
    try:
        kind(peer)
        # Until the other side has had enough.
        while peer.recv(65536):
            pass
    except OSError:
        pass
    peer.close()
    print(kind.__name__, flush=True)
