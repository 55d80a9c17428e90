#!/usr/bin/env bash
# Who was away: for 3 ms in each 100 ms the device is stopped (SIGSTOP), then the generator, then for 20 ms the host gives the device's
# core to somebody else: longer than a busy machine does anyway. The report names the right one, with the period within 1 %.
# Alone: it measures latencies.
. "$(dirname "$0")/lib.sh"
command -v chrt >/dev/null || skip "no chrt"
[ "$(nproc)" -ge 2 ] || skip "one core"
export XDG_CACHE_HOME=$work TMPDIR=$work
cat >"$work/stops.toml" <<EOF
name = "stops"
title = "Stops"
about = "One long trial after another."
[[function]]
kind = "cross-connect"
[link]
kind = "memif"
[measure]
search = "max-rate"
trial_s = 2.0
repetitions = 4
[campaign]
restarts = 1
EOF
# upset.py WHO WORK: what happens each 100 ms, on time because it comes before everybody else; until its input is closed.
cat >"$work/upset.py" <<'EOF'
import os, select, signal, sys, time
who, work = sys.argv[1:]
assert len(work) > 10
program = {"device": "volleyd", "generator": "volley-lab", "host": ""}[who]
def stoppable():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try: words = open(f"/proc/{pid}/cmdline").read().split("\0")
        except OSError: continue
        if os.path.basename(words[0]) == program and work in " ".join(words): yield int(pid)
def send(all, number):
    for pid in all:
        try: os.kill(pid, number)
        except OSError: pass
at, all, looked = time.monotonic(), [], 0
if who == "host": os.sched_setaffinity(0, {0})
while True:
    at += 0.1
    if select.select([sys.stdin], [], [], max(0, at - time.monotonic()))[0]: break
    if program and time.monotonic() > looked + 0.5 and not (all and all[0] and os.path.exists(f"/proc/{all[0]}")):
        all, looked = list(stoppable()), time.monotonic()
    send(all, signal.SIGSTOP)
    while time.monotonic() < at + (0.003 if program else 0.02):
        if program: time.sleep(0.0002)
    send(all, signal.SIGCONT)
EOF
# told WHO: one try.
told() (
    who=$1
    rm -rf "$work/$who" "$work/$who.go"
    mkfifo "$work/$who.go"
    chrt -f 50 python3 "$work/upset.py" $who "$work" <"$work/$who.go" &
    upset=$!
    daemons+=($upset)
    exec 9>"$work/$who.go"
    # What else runs here comes later: a thread that waits for a core cannot be stopped.
    before_others "$bin/volley-lab" run "$work/stops.toml" --devices volley --device-cores 0 --lab-core 1 --out "$work/$who" >"$work/$who.txt" 2>>"$work/progress.log" 9>&- ||
        { cat "$work/$who.txt"; exit 1; }
    exec 9>&-
    wait $upset
    told=$(tr -d '\r' <"$work/$who/absences.csv")
    awk -F , -v who=$who '$(NF-4) == who && $NF > 99 && $NF < 101 { found = 1 } END { exit !found }' <<<"$told" || { echo "$told"; echo "not each 100 ms the $who"; exit 1; }
    # Who was not stopped was not away in that period.
    ! awk -F , -v who=$who '$(NF-4) != who && $(NF-4) != "host" && $NF > 99 && $NF < 101' <<<"$told" | grep . || { echo "somebody else than the $who"; exit 1; }
    has "away each 100\.\|core away each 100\.\|away each 99\.9\|core away each 99\.9" "$work/$who/report.html" || { grep -A 3 'Who was away' "$work/$who/report.html"; exit 1; }
    grep ",$who," <<<"$told" >>"$work/all"
)
for who in device generator host; do told $who; done
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name: $(paste -s -d ";" "$work/all")"
