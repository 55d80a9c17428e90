#!/usr/bin/env python3
"""A configuration with many rows, and every call of the API while ARP is asked.

    arp_under_api.py configuration                          writes it
    arp_under_api.py walk SOCKET DEVICE OWN ROUTER          asks; prints the longest turn of each call

Calls come from the API's own document, so a new path is asked, too; a changing one without a body
here is a failure. What a call takes of the control thread is what the router says itself, in
processor time, which a busy machine makes no longer. Silence is what ARP sees.
"""
import errno
import http.client
import json
import os
import socket
import struct
import sys
import threading
import time

# Enough that each of the calls took a tenth of a second or more of the control thread, when it was made there.
VLANS = int(os.environ.get("VLANS", 250))
ROUTES = int(os.environ.get("ROUTES", 5_000))
LOADED = int(os.environ.get("LOADED", 20_000))
NEIGHBORS = int(os.environ.get("NEIGHBORS", 2_000))
RULES = int(os.environ.get("RULES", 2_000))
STATIONS = int(os.environ.get("STATIONS", 20_000))
# A turn of the control thread, in milliseconds of the processor: 10 of an optimised build.
MOST_MS = float(os.environ.get("MOST_MS", 40))
# A silence that is too long, in seconds.
SILENCE_S = 0.1
TRIES = int(os.environ.get("TRIES", 5))


# How long an answer may take. An SVG takes longer, and is drawn whether we wait for it or not.
PATIENCE_S = 60
SVG = "/v1/graph/drawing?format=svg"
SVG_PATIENCE_S = 1.5


def rules(count):
    for n in range(count):
        yield f'{{ action = "deny", source = "10.{n >> 8 & 255}.{n & 255}.0/24", protocol = "udp", destination_port = "{1 + n % 60000}" }}'


def configuration(routes=ROUTES, extra_rule=False, mtu=1500):
    lines = ['workers = { mode = "single-thread" }', "memory = { buffers = 16384, routes = 1000000 }"]
    listed = ", ".join(rules(RULES + extra_rule))
    lines.append(f'acl.edge = {{ default = "permit", rule = [{listed}] }}')
    lines.append('port.p1 = { kind = "af_packet", device = "v1", addresses = ["10.0.1.1/24"], acl_in = "edge" }')
    lines.append(f'port.p2 = {{ kind = "af_packet", device = "v2", mtu = {mtu} }}')
    lines.append('port.p3 = { kind = "memory", addresses = ["10.2.0.1/16"] }')
    lines.append('port.p4 = { kind = "memory" }')
    lines.append('port.p5 = { kind = "memory" }')
    lines.append('port.p6 = { kind = "memory" }')
    lines.append('bridge.flows = { mode = "flow", ports = ["p6"] }')
    lines.append('bridge.lan = { ports = ["p4", "p5"], mac_limit = 60000 }')
    for n in range(VLANS):
        lines.append(f'port.v{n} = {{ kind = "vlan", parent = "p2", acl_out = "edge", vlan = {n + 2}, addresses = ["10.{64 + n // 250}.{n % 250}.1/24"] }}')
    lines.append("neighbor = [")
    for n in range(NEIGHBORS):
        lines.append(f'{{ port = "p3", address = "10.2.{n // 250 + 1}.{n % 250 + 1}", mac = "06:00:00:01:{n >> 8:02x}:{n & 255:02x}" }},')
    lines.append("]\nroute = [")
    for n in range(routes):
        lines.append(f'{{ prefix = "100.{n >> 8 & 255}.{n & 255}.{n >> 16 << 4}/28", via = "10.0.1.{n % 200 + 10}" }},')
    lines.append("]")
    return "\n".join(lines) + "\n"


class OverUnix(http.client.HTTPConnection):
    def __init__(self, path, patience_s):
        super().__init__("localhost", timeout=patience_s)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def call(path, where, body=None, kind="application/json"):
    connection = OverUnix(path, SVG_PATIENCE_S if where == SVG else PATIENCE_S)
    method = "GET" if body is None else "POST"
    connection.request(method, where, body, {"Content-Type": kind} if body is not None else {})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, text


class Asker(threading.Thread):
    """Asks who has the router's address, again and again; remembers when answers came."""

    def __init__(self, device, own, router):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0806))
        self.socket.bind((device, 0x0806))
        self.socket.settimeout(0.01)
        mac = self.socket.getsockname()[4]
        own, self.router = socket.inet_aton(own), socket.inet_aton(router)
        self.frame = (b"\xff" * 6 + mac + b"\x08\x06" + struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1)
                      + mac + own + bytes(6) + self.router).ljust(60, b"\0")
        self.answers = []

    def run(self):
        self.thread = threading.get_native_id()
        while True:
            try:
                self.socket.send(self.frame)
            except OSError as error:
                # A machine that is busy takes no frame at this moment.
                if error.errno != errno.ENOBUFS:
                    raise
                time.sleep(0.001)
                continue
            end = time.monotonic() + 0.01
            while time.monotonic() < end:
                try:
                    frame = self.socket.recv(2048)
                except TimeoutError:
                    break
                if frame[20:22] == b"\0\2" and frame[28:32] == self.router:
                    self.answers.append(time.monotonic())

    def silence(self, start, end):
        """The longest time without an answer between two moments, and how long silences were too long."""
        times = [start] + [at for at in list(self.answers) if start < at < end] + [end]
        gaps = [b - a for a, b in zip(times, times[1:])]
        return max(gaps), sum(gap - SILENCE_S for gap in gaps if gap > SILENCE_S)


def waited_s(process, thread):
    """How long a thread was kept from the processor by others, so far."""
    with open(f"/proc/{process}/task/{thread}/schedstat") as file:
        return int(file.read().split()[1]) / 1e9


def bodies():
    """What the changing calls are asked: several of each, so that each does something long."""
    toml = lambda **fields: json.dumps({"toml": configuration(**fields)})
    edit = lambda text: json.dumps({"commands": text})
    routes = "\n".join(f"200.{n >> 8}.{n & 255}.0/24 10.0.1.{n % 200 + 10}" for n in range(LOADED)).encode()
    return {
        "/v1/config/check": [toml()],
        "/v1/config/diff": [toml(routes=ROUTES // 2)],
        "/v1/config/apply": [toml(routes=ROUTES // 2), toml(), toml(extra_rule=True), toml(mtu=1400), toml(),
                             json.dumps({"toml": configuration(routes=10), "confirm_within_s": 60})],
        "/v1/config/confirm": [""],
        "/v1/config/rollback": ["{}"],
        "/v1/config/edit": [edit("port add p9 af_packet device v9"), edit("port del p9"), edit("port add t9 tap device t9"),
                            edit("port set t9 down"), edit("port del t9"), edit("port set p2 mac 02:00:00:00:00:99"),
                            edit("port set p2 mtu 1300"), edit("port set p2 down"), edit("port set p2 up")],
        "/v1/config/save": [""],
        "/v1/routes/load?source=ebgp": [routes],
        "/v1/routes/range": [json.dumps({"prefix": "201.0.0.0/24", "count": LOADED, "via": "10.0.1.9", "source": "ibgp"})],
        "/v1/routes/flush": [json.dumps({"source": "ibgp"}), json.dumps({"source": "ebgp"})],
        "/v1/trace/start": [json.dumps({"count": 5000})],
        "/v1/trace/stop": [""],
        "/v1/capture/start": [json.dumps({"node": "port-rx", "count": 1000})],
        "/v1/capture/take": [""],
        "/v1/capture/stop": [""],
        "/v1/stations/fill": [json.dumps({"bridge": "lan", "port": "p4", "first": "06:00:00:10:00:00", "count": STATIONS})],
        "/v1/stations/flush": ["{}"],
        "/v1/ping": [json.dumps({"address": "10.0.1.1", "count": 3, "interval_ms": 10, "size": 60_000})],
        "/v1/traceroute": [json.dumps({"address": "10.0.1.1"})],
        "/v1/connections/clear": ["{}"],
        "/v1/counters/clear": [""],
    }


ASKED = {"/v1/lookup/{address}": ["/v1/lookup/100.0.1.1"], "/v1/explain": ["/v1/explain?packet=in%20p1%20ip%20dst%20100.0.1.1%20/%20udp"],
         "/v1/flow-trace": ["/v1/flow-trace?bridge=flows&flow=in_port%3Dp6,tcp,nw_dst%3D10.0.0.1,tcp_dst%3D80"],
         "/v1/graph/drawing": [f"/v1/graph/drawing?format={it}" for it in ("text", "dot", "svg")]}


def walk(path, device, own, router):
    asker = Asker(device, own, router)
    asker.start()
    while not asker.answers:
        time.sleep(0.01)
    control = json.loads(call(path, "/v1/version")[1])["pid"]
    # A machine that has no processor for the router, or for us, makes silences that say nothing of either.
    waited = lambda: waited_s(control, control) + waited_s(os.getpid(), asker.thread)
    document = json.loads(call(path, "/openapi.json")[1])
    changing = bodies()
    known = {where.split("?")[0] for where in changing}
    posts = {where for where, operations in document["paths"].items() if "post" in operations}
    if posts != known:
        sys.exit(f"calls without a body here, or that are gone: {sorted(posts ^ known)}")
    gets = [where for where, operations in document["paths"].items() if "get" in operations]
    steps = []
    for where in ("/v1/counters/clear", "/v1/routes/load?source=ebgp", "/v1/stations/fill", "/v1/trace/start", "/v1/capture/start"):
        steps += [(where, body) for body in changing[where]]
    steps += [(asked, None) for where in gets for asked in ASKED.get(where, [where])]
    order = ["check", "diff", "apply", "confirm", "edit", "save", "rollback"]
    for where in [f"/v1/config/{it}" for it in order] + ["/v1/routes/range", "/v1/routes/flush", "/v1/trace/stop",
                                                       "/v1/capture/take", "/v1/capture/stop", "/v1/stations/flush", "/v1/connections/clear", "/v1/ping", "/v1/traceroute"]:
        steps += [(where, body) for body in changing[where]]
    # It goes on for a while when we have heard enough.
    steps.sort(key=lambda step: step[0] == SVG)
    silences, away = {}, []
    for where, body in steps:
        for tries in range(TRIES):
            start, before = time.monotonic(), waited()
            kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
            try:
                status, text = call(path, where, body, kind)
            except TimeoutError:
                status, text = 200, "it goes on without us"
            end = time.monotonic()
            if status != 200:
                sys.exit(f"{where} {str(body)[:100]}: {status} {text[:500]}")
            time.sleep(0.02)
            kept = waited() - before
            longest, too_long = asker.silence(start - 0.02, end + 0.02)
            if "VERBOSE" in os.environ:
                print(f"{where} {str(body)[:60]}: {end - start:.3f} s, silence {longest * 1e3:.0f} ms, no processor for {kept * 1e3:.0f} ms", file=sys.stderr)
            is_quiet = too_long <= kept + max(0.02, 0.02 * (end - start))
            if body is not None or is_quiet:
                break
        name = where.split("?")[0]
        silences[name] = max(silences.get(name, 0), longest)
        if not is_quiet:
            away.append(f"{where} {str(body)[:60]} ({longest * 1e3:.0f} ms)")
    turns = json.loads(call(path, "/v1/control")[1])
    turns.sort(key=lambda turn: -turn["longest_cpu_us"])
    print(f"{'call':32} {'turns':>7} {'longest ms':>10} {'on the wall':>11} {'silence ms':>10}")
    for turn in turns:
        print(f"{turn['call']:32} {turn['turns']:7} {turn['longest_cpu_us'] / 1e3:10.1f} {turn['longest_us'] / 1e3:11.1f} "
              f"{silences.get(turn['call'], 0) * 1e3:10.0f}")
    long = [turn["call"] for turn in turns if turn["longest_cpu_us"] > MOST_MS * 1e3]
    if long:
        sys.exit(f"turns of more than {MOST_MS} ms: {long}")
    if away:
        sys.exit(f"no ARP for more than {SILENCE_S} s: {away}")


if __name__ == "__main__":
    if sys.argv[1] == "configuration":
        sys.stdout.write(configuration())
    else:
        walk(*sys.argv[2:])
