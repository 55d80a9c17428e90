"""Draws what scripts/bench-links measured: for each row, each round's share of Linux's, on standard output."""

import json
import math
import sys

WIDTH, LEFT, RIGHT, ROW, TOP = 960, 260, 220, 26, 56
COLOUR = "#1f6fb2"
ROWS = {
    "tcp_gbps": ("TCP, a flow", "Gbit/s"),
    "tcp_back_gbps": ("TCP, a flow the other way", "Gbit/s"),
    "tcp_4_flows_gbps": ("TCP, four flows", "Gbit/s"),
    "tcp_cut_gbps": ("TCP, cut by its sender", "Gbit/s"),
    "packets_one_core_kpps": ("60 octets, one core", "kpps"),
    "packets_kpps": ("60 octets, all cores", "kpps"),
    "round_trip_ms": ("round trip, adaptive", "ms"),
    "round_trip_polled_ms": ("round trip, polling", "ms"),
    "shared_kpps": ("60 octets, of a process", "kpps"),
}
LINKS = {"veth": "veth", "alone": "veth, alone", "xdp": "AF_XDP", "tap": "tap", "memif": "memif", "vhost": "vhost-user"}


def number_of(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def main():
    rows = json.load(open(sys.argv[1], encoding="utf-8"))
    shares = [[ours / theirs for ours, theirs in zip(row["volley_all"], row["kernel_all"])] for row in rows]
    every = [share for of_row in shares for share in of_row] + [0.5, 2]
    low, high = 2 ** math.floor(math.log2(min(every))), 2 ** math.ceil(math.log2(max(every)))

    def across(share):
        return LEFT + math.log(share / low) / math.log(high / low) * (WIDTH - LEFT - RIGHT)

    height = TOP + ROW * len(rows) + 30
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="18" font-weight="bold">Volley beside Linux\'s own forwarding: its share of what Linux has</text>',
        f'<text x="{LEFT}" y="36">of rates more is better, of round trips less; a point a round, the stroke where the medians are</text>',
    ]
    share = low
    while share <= high:
        x, stroke = across(share), "#888" if share == 1 else "#ddd"
        out.append(f'<path d="M{x:.1f},{TOP - 6} V{height - 26}" stroke="{stroke}"/>')
        out.append(f'<text x="{x:.1f}" y="{height - 10}" text-anchor="middle">{share:g} ×</text>')
        share *= 2
    for number, (row, of_row) in enumerate(zip(rows, shares)):
        y = TOP + ROW * number + ROW / 2
        link, what = row["what"].split()
        name, unit = ROWS[what]
        name = f"{LINKS[link]}: {name}"
        out.append(f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{name}</text>')
        out += [f'<circle cx="{across(share):.1f}" cy="{y}" r="3" fill="{COLOUR}" fill-opacity="0.4"/>' for share in of_row]
        middle = across(row["ratio"])
        out.append(f'<path d="M{middle:.1f},{y - 9} V{y + 9}" stroke="{COLOUR}" stroke-width="3"/>')
        told = f'{number_of(row["volley"])} of {number_of(row["kernel"])} {unit}'
        out.append(f'<text x="{WIDTH - RIGHT + 16}" y="{y + 4}">{told}</text>')
    print("\n".join(out + ["</svg>"]))


main()
