#!/usr/bin/env bash
# TCP streams and round trips through devices: plausible numbers, kept by a real bottleneck and never above what it lets pass; endpoints
# and links that cannot be are refused by name; an endpoint that dies is a failure with its name. Nothing is left running.
# Two: it measures rates.
. "$(dirname "$0")/lib.sh"
command -v iperf3 ethtool ovs-vswitchd >/dev/null || skip "no iperf3, no ethtool or no Open vSwitch"
# No kernel for guests: virtual machines are lab_vms.sh's.
export XDG_CACHE_HOME=$work TMPDIR=$work VOLLEY_GUEST_KERNEL=$work/nowhere
# scenario SECONDS ENDPOINTS FUNCTION…
scenario() {
    local seconds=$1 endpoints=$2 function
    printf 'name = "smoke"\ntitle = "Smoke"\nabout = "As little as will do."\n'
    shift 2
    for function in "$@"; do printf '[[function]]\nkind = "%s"\n' "$function"; done
    printf '[traffic]\nflows = 2\nframe_bytes = 128\nboth_directions = true\n[sweep]\nendpoint = [%s]\n' "$endpoints"
    printf '[measure]\nsearch = "stream"\ntrial_s = %s\nduration_sum_s = %s\n[campaign]\nrestarts = 1\n' "$seconds" "$seconds"
}
refused() { "$bin/volley-lab" run "$work/smoke.toml" "$@" >"$work/told.txt" 2>"$work/progress.log"; }
lab() { "$bin/volley-lab" run "$work/smoke.toml" "$@" >"$work/told.txt" 2>"$work/progress.log" || { cat "$work/told.txt" "$work/progress.log"; exit 1; }; }
of() { jq -s -e "$2" "$work/$1/raw.jsonl" >/dev/null || { echo "not so: $2"; cut -c 1-400 "$work/$1/raw.jsonl" | tail -n 6; exit 1; }; }
# Those that the lab started, by their parent: iperf3 has no word of ours in its command line.
nobody() { ! ps -o pid= -p "$1" | has .; }

scenario 1 '"namespace", "vm"' cross-connect ip4 ip6 >"$work/smoke.toml"
lab --devices volley,linux-router,ovs --out "$work/all"
# Three functions of volley's and of ovs, two of the router's; virtual machines are refused for each, and a router joins no ports.
of all '[.[] | .stream // empty | select(.ways)] | length == 8'
of all '[.[] | .stream // empty | .ways // empty | .[] | [.bps, (.streams_bps | length)]] | length == 16 and all(.[0] > 1e6 and .[0] < 1e11 and .[1] == 2)'
of all '[.[] | .stream // empty | .round_trips | .answered / .asked] | length == 16 and all(. > 0.5)'
of all '[.[] | .stream // empty | select(.ways | not) | .round_trips | .answered] | all(. > 20)'
of all '[.[] | .stream // empty | .ceiling_bps // empty] | all(. > 1e7)'
of all '[.[] | .failure // empty] | all(.refused) and ([.[] | select(.reason | contains("no boot/vmlinuz-* in VOLLEY_GUEST_KERNEL"))] | length == 8 or length == 9)'
has 'TCP throughput' "$work/told.txt" "$work/all/quantities.csv" "$work/all/report.html" "$work/all/metrics.txt"
has 'of 1 runs, 1 trials' "$work/told.txt"
# A report rendered again is the same.
cp "$work/all/report.html" "$work/first.html"
"$bin/volley-lab" report "$work/all" >/dev/null
cmp "$work/first.html" "$work/all/report.html"

# A bottleneck is full, and lets no more pass than it says.
scenario 2 '"namespace"' bridge | sed 's/^both_directions.*//; s/^kind.*/&\nbottleneck_mbps = 50/; s/^endpoint.*/&\nscheduler = ["fifo"]/' >"$work/smoke.toml"
lab --devices volley --out "$work/full"
of full '[.[] | .stream // empty | .ways // empty | .[0].bps] | length == 1 and .[0] > 25e6 and .[0] < 50e6'

# Neither a tap nor memory has the kernel's TCP at its far end; no iperf3, no streams.
scenario 1 '"namespace"' cross-connect >"$work/smoke.toml"
for link in tap memif; do
    ends 4 refused --devices linux-bridge,volley --link $link --out "$work/$link"
    of $link '[.[] | .failure // empty | [.refused, (.reason | contains("veth"))]] == [[true, true], [true, true]]'
done
mkdir "$work/path"
ln -s /usr/bin/* /usr/sbin/* "$work/path/" 2>/dev/null || true
rm "$work/path/iperf3"
PATH=$work/path ends 4 refused --devices linux-bridge --out "$work/none"
of none '[.[] | .failure // empty | [.refused, (.reason | contains("iperf3 is not installed"))]] == [[true, true]]'

# A server that is killed while streams run.
scenario 20 '"namespace"' cross-connect >"$work/smoke.toml"
"$bin/volley-lab" run "$work/smoke.toml" --devices linux-bridge --out "$work/died" >"$work/told.txt" 2>"$work/progress.log" &
lab=$!
until_true has '"stream":' "$work/died/raw.jsonl"
until_true pgrep -P $lab -f 'iperf3 -c'
children=$(pgrep -P $lab)
kill -KILL "$(pgrep -P $lab -f 'iperf3 -s')"
ends 4 wait $lab
of died '[.[] | .failure // empty | [.refused, (.reason | contains("iperf3-server died"))]] == [[false, true]]'
has 'iperf3-server died' "$work/told.txt"
for child in $children; do until_true nobody "$child"; done

# So it is with the device, and Ctrl-C keeps what was measured.
"$bin/volley-lab" run "$work/smoke.toml" --devices volley --out "$work/stopped" >"$work/told.txt" 2>"$work/progress.log" &
lab=$!
until_true has '"stream":' "$work/stopped/raw.jsonl"
until_true pgrep -P $lab -f 'iperf3 -c'
children=$(pgrep -P $lab)
kill -INT $lab
wait $lab && { echo "it should say that it was stopped"; exit 1; }
has 'round trip alone' "$work/stopped/report.html"
for child in $children; do until_true nobody "$child"; done
! pgrep -f "$work" >/dev/null || { pgrep -af "$work"; exit 1; }
echo "ok $name: $(jq -rs '[.[] | .stream // empty | select(.ways) | "\(.subject.device) \(.subject.function) \(.ways[0].bps / 1e6 | floor)"] | join(", ")' "$work/all/raw.jsonl") Mbit/s"
