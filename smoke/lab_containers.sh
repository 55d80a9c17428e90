#!/usr/bin/env bash
# Streams between containers, by an engine of the lab's own: netperf's and iperf's numbers behind a slow wire, Open vSwitch's scheduler by
# its QoS table, Volley's on ports of networks of its plugin; and nothing is left behind, whenever the lab is interrupted or killed.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
command -v dockerd >/dev/null && command -v docker >/dev/null || skip "there is no Docker engine: make setup-tests"
export XDG_CACHE_HOME=$work TMPDIR=$work
cat >"$work/ends.toml" <<'END'
name = "ends"
title = "Ends"
about = "As little as will do."
[[function]]
kind = "bridge"
learning = true
bottleneck_mbps = 100
wire_mbps = 100
[link]
kind = "veth"
[sweep]
scheduler = ["htb"]
endpoint = ["container"]
[measure]
search = "stream"
trial_s = 1
duration_sum_s = 1
write_bytes = 256
socket_bytes = 32768
transaction_bytes = 1
datagram_mbps = 50
[campaign]
restarts = 1
END
run() { exec "$bin/volley-lab" run "$work/ends.toml" --devices "${devices:-linux-bridge,ovs,volley}" --out "$1" >"$work/out.txt" 2>>"$work/progress.log"; }
nothing_is_left() { ! pgrep -f "$work" && ! find /sys/fs/cgroup -maxdepth 2 -name "volley-lab-$1-*" | has . && ! compgen -G "$work/volley-engine-*"; }

(run "$work/ends") &
lab=$!
wait $lab || { cat "$work/out.txt"; exit 1; }
until_true nothing_is_left $lab
sweep_has ends '[.[] | .quantity // empty | "\(.subject.device) \(.metric)"] | sort | unique == (["linux-bridge", "ovs", "volley"] |
    map(. + (" TCP stream, small writes", " TCP transaction", " UDP jitter one way", " UDP lost one way")) | sort)'
sweep_has ends '[.[] | .quantity // empty | select(.metric == "TCP stream, small writes") | .values[]] | all(. > 1e6 and . < 101e6)'
sweep_has ends '[.[] | .quantity // empty | select(.metric != "UDP lost one way") | .values[]] | all(. > 0)'
grep -q 'type=linux-htb other-config:max-rate=100000000' "$work/ends/raw.jsonl"

# Volley's containers are on a network that its plugin made, says the engine, and the scheduler is on the port of the second; the others'
# have the lab's wires.
sweep_has ends '[.[] | .device // empty | select(.name == "volley").commands] | length == 1 and (.[0] | (join("\n") |
    contains("docker network create -d volley --subnet 198.18.0.0/15 -o bridge=lan lab")) and
    (map(select(test("^# at end [01], a container on network lab of the driver volley$"))) | length == 2))'
sweep_has ends '[.[] | .device // empty | select(.name == "volley").commands[] | capture("^# eth0 is 02:76:c6:12:0(?<end>[01]):02; the device has it at port (?<port>dk-.*)$")]
    | map(.end) == ["0", "1"]'
port=$(jq -r '.device // empty | select(.name == "volley").commands[] | capture("^# eth0 is 02:76:c6:12:01:02; the device has it at port (?<port>.*)$").port' "$work/ends/raw.jsonl")
sweep_has ends '[.[] | .device // empty | select(.name == "volley").commands[]] | any(endswith(" qos class '"$port"' 1:1 rate 100mbit ceil 100mbit burst 134018 cburst 134018"))'
sweep_has ends '[.[] | .device // empty | select(.name != "volley").commands[]] | any(test("a container with a wire that the lab laid")) and all(test("docker network") | not)'

# A router has a network at each side, and leads out of both.
sed -e '/^learning/d; s/"bridge"/"ip4"/; /mbps/d; /^scheduler/d' -e '/_bytes/d' "$work/ends.toml" >"$work/routed.toml"
"$bin/volley-lab" run "$work/routed.toml" --devices volley --out "$work/routed" >"$work/out.txt" 2>>"$work/progress.log" || { cat "$work/out.txt"; exit 1; }
sweep_has routed '[.[] | .device // empty | .commands[]] | map(select(startswith("docker network create"))) ==
    ([0, 1] | map("docker network create -d volley --subnet 198.18.\(.).0/24 --gateway 198.18.\(.).1 -o gateway=router lab\(.)"))'
sweep_has routed '[.[] | .stream // empty | .ways // [] | .[]] | length > 0 and all(.bps > 1e6)'

# Whenever it is interrupted it tidies up, another moment each time; when it is killed the kernel ends its engine, and the next lab takes
# the rest away.
for moment in 0.4 "$((RANDOM % 5)).$((RANDOM % 10))" "v$((RANDOM % 6)).$((RANDOM % 10))"; do
    devices=
    [ "$moment" = "${moment#v}" ] || devices=volley
    moment=${moment#v}
    (run "$work/stopped$moment") &
    lab=$!
    sleep $moment
    kill -INT $lab
    wait $lab || true
    until_true nothing_is_left $lab || { echo "interrupted after $moment s, it left something"; exit 1; }
done
(run "$work/killed") &
lab=$!
until_true pgrep -f "dockerd.*$work/volley-engine-$lab"
kill -9 $lab
wait $lab 2>/dev/null || true
until_true eval "! pgrep -f '$work/volley-engine'"
(run "$work/next") &
next=$!
until_true pgrep -f "dockerd.*$work/volley-engine-$next"
kill -INT $next
wait $next || true
until_true nothing_is_left $lab
until_true nothing_is_left $next
echo "ok $name"
