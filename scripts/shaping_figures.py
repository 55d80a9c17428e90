"""Draws what scripts/shaping-figures measured: two panels in one SVG, on standard output."""

import re
import sys
from pathlib import Path

WIDTH, PANEL, LEFT, BOTTOM, TOP = 760, 250, 70, 40, 40
COLOURS = ["#c0392b", "#1f6fb2"]
PING_SECONDS = 13


def pings(path):
    """Seconds since the first, and milliseconds."""
    found = re.findall(r"\[([\d.]+)\].*time=([\d.]+)", path.read_text())
    rows = [(float(at), float(ms)) for at, ms in found]
    return [(at - rows[0][0], ms) for at, ms in rows if at - rows[0][0] <= PING_SECONDS]


def rates(path):
    """For each class: seconds since the start, and Mbit/s since the reading before."""
    rows = [[int(word) for word in line.split()] for line in path.read_text().splitlines()]
    series = ([], [])
    for before, now in zip(rows, rows[1:]):
        seconds = (now[0] - before[0]) / 1e9
        for points, column in zip(series, (1, 2)):
            points.append(((now[0] - rows[0][0]) / 1e9, (now[column] - before[column]) * 8e-6 / seconds))
    return series


def panel(y, title, unit, series, most_x, most_y, step_y, dots):
    """One panel: axes, grid, and each series with its name."""
    def place(point):
        px = LEFT + point[0] / most_x * (WIDTH - LEFT - 20)
        py = y + PANEL - BOTTOM - min(point[1] / most_y, 1) * (PANEL - BOTTOM - TOP)
        return f"{px:.1f},{py:.1f}"

    out = [f'<text x="{LEFT}" y="{y + 16}" class="title">{title}</text>']
    for value in range(0, most_y + 1, step_y):
        left, right = place((0, value)), place((most_x, value))
        out.append(f'<path d="M{left} L{right}" class="grid"/>')
        at = left.split(",")
        out.append(f'<text x="{LEFT - 8}" y="{float(at[1]) + 4:.1f}" text-anchor="end">{value}</text>')
    for value in range(0, int(most_x) + 1, 2):
        at = place((value, 0)).split(",")
        out.append(f'<text x="{at[0]}" y="{y + PANEL - BOTTOM + 16}" text-anchor="middle">{value}</text>')
    out.append(f'<text x="{WIDTH - 20}" y="{y + PANEL - 8}" text-anchor="end">seconds</text>')
    out.append(f'<text x="8" y="{y + 32}">{unit}</text>')
    for number, ((name, points), colour) in enumerate(zip(series, COLOURS)):
        if dots:
            for point in points:
                px, py = place(point).split(",")
                out.append(f'<circle cx="{px}" cy="{py}" r="1.6" fill="{colour}"/>')
        else:
            path = " L".join(place(point) for point in points)
            out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        at = WIDTH - 20
        out.append(f'<text x="{at}" y="{y + 16 + 16 * number}" text-anchor="end" fill="{colour}">{name}</text>')
    return out


def main():
    work = Path(sys.argv[1])
    fifo, fair = pings(work / "ping-pfifo"), pings(work / "ping-fq_codel")
    ten, twenty = rates(work / "classes")
    most = max(ms for _, ms in fifo)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{2 * PANEL + 10}" '
        'font-family="sans-serif" font-size="12">',
        "<style>.title { font-weight: bold } .grid { stroke: #ddd }</style>",
        f'<rect width="{WIDTH}" height="{2 * PANEL + 10}" fill="white"/>',
    ]
    lines += panel(
        0, "A ping's round trip; from 3 s to 10 s beside four TCP flows, port shaped to 20 Mbit/s", "ms",
        [("pfifo limit 200", fifo), ("fq_codel", fair)], PING_SECONDS, int(most // 50 + 1) * 50, 50, True)
    lines += panel(
        PANEL + 10, "HTB: 1:10 (rate 15mbit) comes for 5 s beside 1:20 (rate 5mbit), ceil 20mbit", "Mbit/s",
        [("class 1:10", ten), ("class 1:20", twenty)], 15, 25, 5, False)
    print("\n".join(lines + ["</svg>"]))


main()
