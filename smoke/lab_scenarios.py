"""Runs each scenario of a folder in short and looks whether what came of it makes sense.

    lab_scenarios.py ROOT VOLLEY-LAB WORK [--beside | NAME...]

    --beside  those of which no rate is held to another one: they bear who else works on the
              machine. Without it, and without names, all the others.

What must be so of every scenario stands in `Run.check`, what must be so of one in a function of
its name below. A scenario without one fails, and so does one of which nothing could be measured,
unless it is in ABSENT: what this host lacks is told, loudly.
"""

import json
import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

root, lab, work = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
# The machine does other things: what a host may have spoiled is looked at as often.
ATTEMPTS = 3
# Ratio up to which a packet may seem cheaper where there is more to do: what it costs one start of a device and the next
# differs by as much, each start the same to the last trial.
SLACK = 1.8
# Share of their time that idle cores lose, above which a machine is no judge of rates.
BUSY = 0.05


class Wrong(Exception):
    """What came of a scenario makes no sense."""


class Unlikely(Wrong):
    """The same, to be looked at again: cycles were counted, and a host may have come in between."""


class Disturbed(Unlikely):
    """The same of rates, which a host that takes cores away may have spoiled each time."""


def must(condition, words, kind=Wrong):
    if not condition:
        raise kind(words)


class Run:
    """One run of a scenario, and what it wrote down; `before` are runs of the same."""

    def __init__(self, name, before, devices, flags=()):
        self.name = name
        self.before = before
        self.file = root / "scenarios" / f"{name}.toml"
        self.scenario = tomllib.loads(self.file.read_text())
        self.devices = devices.split(",")
        self.out = work / f"{name}-{len(before) + 1}"
        command = [lab, "run", self.file, "--quick", "--devices", devices, "--out", self.out, *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.code, self.told, self.said = done.returncode, done.stdout, done.stderr
        raw = self.out / "raw.jsonl"
        lines = raw.read_text().splitlines() if raw.exists() else []
        self.lines = [json.loads(line) for line in lines]

    def all(self, kind):
        return [line[kind] for line in self.lines if kind in line]

    def of(self, kind, device="volley", function=None, **axes):
        """Records of a case."""
        axes = {name: str(value) for name, value in axes.items()}
        return [
            it for it in self.all(kind)
            if it["subject"]["device"] == device
            and function in (None, it["subject"]["function"])
            and axes.items() <= it["subject"].get("axes", {}).items()
        ]

    def peak(self, **case):
        """Most that came through in a second of a trial."""
        rates = [
            it["outcome"]["received"] / it["outcome"]["trial"]["duration_s"]
            for it in self.of("trial", **case) if it["outcome"]["trial"]["duration_s"] > 0
        ]
        must(rates, f"no trial of {case}")
        return max(rates)

    def cost(self, **case):
        """Least cycles that a packet cost in this run and those before; none where nothing tells."""
        found = [value for run in (*self.before, self) for it in run.of("quantity", **case)
                 if it["metric"] == "cost" for value in it["values"]]
        return min(found, default=None)

    def slower(self, more, less, by=1 / SLACK):
        """What has more to do costs more, by this factor at least: cycles, whoever else has the cores."""
        cheap, dear = self.cost(**less), self.cost(**more)
        must(cheap and dear, f"no cost of {less} or {more}")
        must(dear >= by * cheap, f"{more}: {dear:.0f} cycles a packet, and with less to do {cheap:.0f}: {less}", Unlikely)

    def quantity(self, metric, **case):
        found = [it for it in self.of("quantity", **case) if it["metric"] == metric]
        must(found and all(it["values"] for it in found), f"no {metric} of {case}")
        return [value for it in found for value in it["values"]]

    def away(self):
        """Share of their time that idle cores lost."""
        probes = self.all("probe")
        watched = sum(it["watched_s"] for it in probes)
        return sum(it["stalled"]["total_us"] for it in probes) / 1e6 / watched if watched else 0.0

    def refusals(self):
        return [it["reason"] for it in self.all("failure") if it["refused"]]

    def check(self, refused=()):
        """What must be so of every scenario."""
        wrong = [it["reason"] for it in self.all("failure") if not it["refused"]]
        hosts = all(re.search("already misses the goal|loses packets even at|no throughput", it) for it in wrong)
        must(not wrong, f"went wrong: {wrong}", Disturbed if hosts else Wrong)
        must(self.code in (0, 4), f"ended with {self.code}: {self.said[-400:]}")
        campaign = self.all("campaign")[0]
        link = self.scenario.get("link", {}).get("kind")
        must(link, "it does not say its link")
        must(campaign["host"]["links"] == link, f"links were {campaign['host']['links']}, not {link}")
        must(campaign.get("cut") and "in short — " in self.told, "it does not say what was cut")
        # Each case of each device was measured, or refused with a reason that is known here.
        for reason in self.refusals():
            must(any(re.search(it, reason) for it in refused), f"refused: {reason}")
        told = ("answer", "quantity", "check", "stream", "failure")
        for device in self.devices:
            cases = {
                (it["subject"]["function"], json.dumps(it["subject"].get("axes", {}), sort_keys=True))
                for kind in told for it in self.all(kind) if it["subject"]["device"] == device
            }
            expected = self.cases()
            must(len(cases) == expected, f"{device}: {len(cases)} of {expected} cases were told of: {sorted(cases)}")
        self.add_up()
        self.differ()

    def cases(self):
        """Cases that the scenario has in short."""
        told = subprocess.run([lab, "plan", self.file, "--quick", *self.flags, "--devices", "volley"],
                              capture_output=True, text=True, check=True).stdout
        return int(re.search(r"^(\d+) cases on", told, re.M)[1])

    flags = ()

    def add_up(self):
        """Nothing comes that was not sent; every packet is accounted for where the device counts."""
        for it in self.all("trial"):
            out = it["outcome"]
            must(out["received"] <= out["offered"] <= out["intended"] or out["trial"]["change"],
                 f"{out['received']} of {out['offered']} of {out['intended']} came")
            accounts = it.get("accounts")
            if accounts and it["subject"]["device"] == "volley":
                left = accounts["sent"] - accounts["received"] - accounts["dropped"] - accounts["in_flight"]
                must(left == 0, f"{left} packets are unaccounted for: {accounts} {it['subject']}")
        for it in self.all("answer"):
            must(0 <= it["low_pps"] <= it["high_pps"], f"bounds {it['low_pps']} and {it['high_pps']}")
        for it in self.all("stream"):
            must(all(way["bps"] > 0 for way in it.get("ways", [])), "a stream carried nothing")

    def differ(self):
        """What a device is started with differs from start to start: a label whose value changes
        nothing is none."""
        for device in self.devices:
            starts = [it for it in self.all("device") if it["name"].split("=")[0] == device]
            texts = {re.sub(r"volley-lab-\d+\S*|/tmp/\S*", "", "\n".join(it["commands"])) for it in starts}
            must(len(texts) == len(starts), f"{device}: {len(starts)} starts with {len(texts)} different set-ups")


def frames(run, function, small, large):
    """Large frames carry more octets."""
    octets = [size * run.peak(function=function, frame_bytes=size) for size in (small, large)]
    must(octets[1] > 1.5 * octets[0], f"{function}: larger frames carry no more octets: {octets}", Disturbed)


def falls(trials):
    """Of high loads more is lost than of low ones. What the generator could not send counts: on a
    machine whose cores are taken away some of every load is missing."""
    points = sorted((it["outcome"]["trial"]["load_pps"],
                     1 - it["outcome"]["received"] / max(it["outcome"]["intended"], 1)) for it in trials)
    third = len(points) // 3
    must(third >= 1, f"{len(points)} loads")
    low, high = (sum(loss for _, loss in part) / third for part in (points[:third], points[-third:]))
    must(high >= low - 0.02, f"{100 * low:.1f} % lost of the lowest loads, {100 * high:.1f} % of the highest: {points}", Disturbed)


def percentiles(run, **case):
    """Latencies were kept, are in order, and of a load that is the share of what was found."""
    timed = [it for it in run.of("trial", **case) if it["outcome"]["trial"].get("timed")]
    must(timed, f"no latencies of {case}")
    for it in timed:
        told = it["outcome"]["latency"]
        must(0 < told["p50_ns"] <= told["p99_ns"] * 1.01 and told["p99_ns"] <= told["max_ns"] * 1.01, f"{told}")
        axes = dict(it["subject"].get("axes", {}))
        percent = int(axes.get("load_percent", 100))
        own = [a for a in run.all("answer") if a["subject"]["device"] == it["subject"]["device"]
               and a["subject"]["function"] == it["subject"]["function"]]
        lows = [a["low_pps"] for a in own if a["subject"].get("axes", {}) in (axes, {k: v for k, v in axes.items() if k != "load_percent"})]
        load = it["outcome"]["trial"]["load_pps"]
        must(lows and 0.999 < load / (min(lows) * percent / 100) < 1.001, f"{load:.0f} pps are not {percent} % of {lows}")
    return timed


def shares(run, *percents, **case):
    """Latencies were taken at these shares."""
    timed = percentiles(run, **case)
    seen = {int(it["subject"]["axes"]["load_percent"]) for it in timed}
    must(seen == set(percents), f"loads of {sorted(seen)} %")


# One function a scenario: the devices, the flags, and what must be so.

VOLLEY = "volley"


def back_to_back(run):
    frames_ = run.quantity("back-to-back")
    must(all(it >= 1 for it in frames_), f"bursts of {frames_}")


def clock(run):
    shares(run, 10, 50, 90, function="cross-connect")
    run.slower(dict(function="cross-connect", clock_percent=50), dict(function="cross-connect", clock_percent=100), by=1.2)


def containers(run):
    loaded = [it for it in run.of("stream", endpoint="container") if it.get("ways")]
    must(loaded, "no streams between containers")
    for it in loaded:
        must(it["ways"][0]["bps"] > 1e6, f"{it['ways'][0]['bps']:.0f} bit/s", Disturbed)


def vms(run):
    loaded = [it for it in run.of("stream", endpoint="vm") if it.get("ways")]
    must(loaded, "no streams between virtual machines")
    for it in loaded:
        must(it["ways"][0]["bps"] > 1e5 and it["round_trips"]["answered"] > 20, f"{it['ways'][0]['bps']:.0f} bit/s", Disturbed)
    host = run.all("campaign")[0]["host"].get("virtual machines", "")
    emulated = all(it["verdict"] == "emulated_ends" for record in loaded for it in record.get("verdicts", [{"verdict": ""}]))
    must(emulated == ("emulated by software" in host), f"it says {host!r}, and of the streams {loaded[0].get('verdicts')}")
    must(any("virtio-net over vhost-user" in line for it in run.all("device") for line in it["commands"]), "no vhost-user")


def largest_table(run):
    entries = run.quantity("no refusal up to")
    must(entries == [10_000], f"{entries} entries")


ip4_largest_table = ip6_largest_table = largest_table


def table_size(run):
    sizes = sorted({int(it["subject"]["axes"]["entries"]) for it in run.of("answer")})
    must(len(sizes) == 2 and sizes[-1] > 1_000 * sizes[0], f"tables of {sizes}")
    run.slower(dict(entries=sizes[-1]), dict(entries=sizes[0]))


def routes(run):
    # Of these tables only the one route is small enough to be cut to.
    shares(run, 10, 50, 90)
    must(run.peak(entries=1) > 1_000, "next to nothing is routed", Disturbed)


ip4_routes = ip6_routes = routes
ip4_table_size = ip6_table_size = l2_table_size = table_size


def l2_bridge(run):
    labels = {it["subject"]["function"] for it in run.of("answer")}
    must(labels == {"plain", "ageing", "learning and ageing", "no unknown-unicast flood", "no flood"}, f"{labels}")
    # Looking costs something: learning is not cheaper than none.
    run.slower(dict(function="learning and ageing"), dict(function="plain"))


def l2_ethertype(run):
    both = [run.cost(ethertype=it) for it in ("udp4", "unknown")]
    must(all(both) and 1 / SLACK < both[0] / both[1] < SLACK, f"a bridge looks at what frames carry: {both}", Unlikely)


def l2_flows(run):
    for flows in (100, 10_000_000):
        timed = percentiles(run, flows=flows)
        must(all(it["subject"]["axes"]["load_percent"] == "50" for it in timed), "not at half load")


def l2_xconnect(run):
    frames(run, "cross-connect", 64, 1518)
    must(all(it["directions"] == "each way" for it in run.all("answer")), "not each way")


def live_change(run):
    for function in ("ip4", "ip6"):
        took, = run.quantity("the change took", function=function)
        must(0 < took < 60, f"it took {took} s")
        changed = [it["outcome"]["trial"]["change"] for it in run.of("trial", function=function)]
        must(any(changed) and not all(changed), "no trial with a change, or none without")
        after = run.quantity("rate after it, of that before", function=function)
        must(all(it > 0.1 for it in after), f"{after} after it", Disturbed)


def packet_cost(run):
    costs = sorted({int(it["subject"]["axes"]["cost_cycles"]) for it in run.of("answer")})
    # So many that they stand out of what starts differ by.
    must(costs == [0, 3200], f"costs {costs}")
    for function in ("cross-connect", "ip4"):
        most, none = (run.cost(function=function, cost_cycles=it) for it in (3200, 0))
        must(most and none, f"{function}: no cost")
        must(2600 < most - none < 4200, f"{function}: 3200 cycles more are {most - none:.0f}", Unlikely)


def quick(run):
    for device, function in (("volley", "cross-connect"), ("linux-bridge", "cross-connect"), ("volley", "ip4"), ("linux-router", "ip4")):
        answers = run.of("answer", device=device, function=function)
        # Frames of an unknown ethertype as well, where nothing is routed.
        sent = {it["subject"]["axes"]["ethertype"] for it in answers}
        must(sent == ({"udp4", "unknown"} if function == "cross-connect" else {"udp4"}), f"{device}, {function}: frames of {sent}")
        must(len(answers) == 4 * len(sent), f"{device}, {function}: {len(answers)} answers")
    frames(run, "cross-connect", 64, 1518)


def recovery(run):
    seconds = run.quantity("recovery")
    must(all(0 <= it < 1 for it in seconds), f"{seconds}", Disturbed)
    over = [it["outcome"]["trial"] for it in run.of("trial") if it["outcome"]["trial"].get("overload")]
    must(over and all(it["overload"]["load_pps"] > 1.5 * it["load_pps"] for it in over), f"{over}")


def reset(run):
    seconds = run.quantity("reset")
    must(all(0.02 < it < 6 for it in seconds), f"without packets for {seconds} s")


def schedulers(run):
    for scheduler in ("fifo", "hfsc"):
        loaded = [it for it in run.of("stream", scheduler=scheduler, endpoint="namespace") if it.get("ways")]
        must(loaded, f"no streams behind {scheduler}")
        for it in loaded:
            must(10e6 < it["ways"][0]["bps"] < 105e6, f"{scheduler}: {it['ways'][0]['bps']:.0f} bit/s through 100 Mbit/s", Disturbed)


def vector_size(run):
    answers = {it["subject"]["axes"]["vector_packets"] for it in run.of("answer")}
    must(answers == {"16", "256"}, f"vectors of {answers}")
    shares(run, 10, 90, 100, vector_packets=16, frame_bytes=64)
    # Small vectors are no faster.
    run.slower(dict(vector_packets=16, frame_bytes=64, load_percent=10), dict(vector_packets=256))


def vxlan_encap(run):
    frames(run, "vxlan-encap", 64, 1450)


def workers(run):
    for function in ("bridge", "ip4", "vxlan-encap"):
        must(run.peak(function=function, workers=1) > 100, function, Disturbed)


def source_allow_list(run):
    for few, many in (("ip4", "one source"), ("one source", "1000 sources")):
        run.slower(dict(function=many, frame_bytes=64), dict(function=few, frame_bytes=64))


def dot1q(run):
    run.slower(dict(function="vlan-tagging", frame_bytes=64), dict(function="untagged", frame_bytes=64))
    frames(run, "vlan-tagging", 64, 1514)


def gre(run):
    run.slower(dict(function="gre", frame_bytes=64), dict(function="ip4", frame_bytes=64))


def ip6(run):
    for entries in ("one route", "10000 routes"):
        run.slower(dict(function=f"ip6, {entries}", frame_bytes=84), dict(function=f"ip4, {entries}", frame_bytes=84))


def max_rate(run):
    frames(run, "cross-connect", 64, 1518)
    run.slower(dict(function="ip4", frame_bytes=64), dict(function="cross-connect", frame_bytes=64))


def throughput(run):
    for it in run.of("answer"):
        clean = [t["outcome"] for t in run.of("trial", function=it["subject"]["function"], **it["subject"]["axes"])
                 if t["outcome"]["trial"]["load_pps"] <= 1.001 * it["low_pps"]]
        must(it["low_pps"] == 0 or any(t["received"] == t["intended"] for t in clean), "a throughput that was never seen")


def loss_scan(run):
    for function in ("cross-connect", "ip4"):
        trials = run.of("trial", function=function)
        falls(trials)
        must(len({it["outcome"]["trial"]["load_pps"] for it in trials}) >= 10, "fewer than ten loads")


def flow_table(run):
    one, many = (dict(device="volley-flow", entries=it) for it in (1, 10_000))
    run.slower(many, one)
    told = run.all("device")
    must(all(any("ovs-ofctl add-flows" in line for line in it["commands"]) for it in told), "no flows were added")


def frame_loss(run):
    for size in (64, 1518):
        trials = run.of("trial", function="cross-connect", frame_bytes=size)
        loads = [it["outcome"]["trial"]["load_pps"] for it in trials]
        must(loads == sorted(loads, reverse=True), f"loads do not fall: {loads}")


def soak(run):
    for function in ("cross-connect", "ip4"):
        trials = run.of("trial", function=function)
        lengths = [it["outcome"]["trial"]["duration_s"] for it in trials]
        must(len(lengths) >= 4 and lengths == sorted(lengths), f"trials do not grow: {lengths}")


# Devices beyond Volley, flags, and refusals that are in order.
DEVICES = {"flow-table": "volley-flow", "quick": "volley,linux-bridge,linux-router"}
FLAGS = {"vector-size": ["--points", "3"]}
REFUSED = {
    "l2-bridge": ["it forgets what it learned after two hours"],
    "quick": ["a router routes, no more", "a bridge joins ports, no more", "does not route", "its adapter does not know"],
    "schedulers": ["no Docker engine", "virtual machines", "kernel for the guests"],
    "vector-size": ["its vectors hold 1 to 256 packets"],
    "workers": [r"8 workers.*, and devices have \d+ of the cores"],
}
# What another script runs, on more devices than ours: lab_functions.sh.
ELSEWHERE = {"functional"}
# What is so however busy the machine is.
BESIDE = {"back-to-back", "clock", "containers", "ip4-largest-table", "ip6-largest-table", "live-change", "reset", "schedulers", "soak", "vms"}
# What a host may lack so that nothing of a scenario can be measured: why, by a word of the reason.
ABSENT = {"clock": "no cpufreq", "containers": "no Docker engine", "vms": "virtual machines|kernel for the guests"}


def measure(name):
    """Whether a scenario makes sense; what to say of it."""
    sense = globals().get(name.replace("-", "_"))
    must(sense, f"nobody has said what {name} must show: give it a function in {Path(__file__).name}")
    runs = []
    for attempt in range(1, ATTEMPTS + 1):
        Run.flags = FLAGS.get(name, ())
        run = Run(name, tuple(runs), DEVICES.get(name, VOLLEY), Run.flags)
        reasons = run.refusals()
        if name in ABSENT and reasons and not run.all("answer") and not run.all("stream"):
            must(run.code == 4 and all(re.search(ABSENT[name], it) for it in reasons), f"{run.code}: {reasons}")
            return f"NOT RUN: {reasons[0]}"
        try:
            run.check(REFUSED.get(name, ()))
            sense(run)
            return f"{len(run.all('trial')) or len(run.all('stream')) or len(run.all('check'))} trials"
        except Wrong as wrong:
            if attempt == ATTEMPTS and isinstance(wrong, Disturbed) and run.away() > BUSY:
                return f"NOT TESTED, idle cores of this machine lose {100 * run.away():.0f} % of their time: {wrong}"
            if attempt == ATTEMPTS or not isinstance(wrong, Unlikely):
                raise
            print(f"attempt {attempt}: {name}: {wrong}", flush=True)
            runs.append(run)
    return None


def main():
    names = sys.argv[4:]
    if names in ([], ["--beside"]):
        there = {it.stem for it in (root / "scenarios").glob("*.toml")}
        must(there > BESIDE | ELSEWHERE, f"no scenarios: {(BESIDE | ELSEWHERE) - there}")
        names = sorted(BESIDE if names else there - BESIDE - ELSEWHERE)
    failed, absent, began = [], [], time.monotonic()
    for name in names:
        since = time.monotonic()
        try:
            told = measure(name)
            if told.startswith("NOT "):
                absent.append(name)
        except Wrong as wrong:
            failed.append(name)
            told = f"WRONG: {wrong}"
        print(f"{name:<20} {time.monotonic() - since:5.1f} s  {told}", flush=True)
    spent = time.monotonic() - began
    if absent:
        print(f"NOT RUN, or not to its end, on this host: {', '.join(absent)}")
    print(f"{'FAILED' if failed else 'ok'} lab_scenarios: {len(names)} scenarios in {spent:.0f} s")
    sys.exit(1 if failed else 0)


main()
