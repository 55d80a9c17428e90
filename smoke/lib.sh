# What the smoke tests share: two hosts in network namespaces, a router between them, and the
# certainty that nothing is left behind. Sourced, never run.
#
#   host a (10.0.1.2) ── va1 | va0 ── volleyd ── vb0 | vb1 ── host b (10.0.2.2)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=${VOLLEY_BIN:-$root/target/debug}
name=$(basename "$0" .sh)
work=$(mktemp -d "/tmp/volley-$name.XXXXXX")
a=vly-$$-a b=vly-$$-b
daemons=()

# Says why a test cannot run here; in CI that is a failure.
skip() {
    echo "SKIPPED $name: $1"
    [ -z "${CI:-}" ] || exit 1
    exit 77
}
# The same of what no setting up could bring here, in CI as well.
cannot() {
    echo "SKIPPED $name: $1"
    exit 77
}
[ "$(id -u)" = 0 ] || skip "network namespaces need root"
[ -x "$bin/volleyd" ] || { echo "no $bin/volleyd: run make build"; exit 1; }

# clean_up [OUTCOME]
clean_up() {
    local outcome=${1:-$?}
    for daemon in "${daemons[@]}"; do kill "$daemon" 2>/dev/null || true; done
    for daemon in "${daemons[@]}"; do wait "$daemon" 2>/dev/null || true; done
    for space in $(ip netns list | awk -v mine="vly-$$-" 'index($1, mine) == 1 { print $1 }'); do
        ip netns pids "$space" | xargs -r kill 2>/dev/null || true
        ip netns del "$space"
    done
    if [ $outcome != 0 ] && [ $outcome != 77 ]; then
        # Where it failed standard output may lead into a file that goes now.
        {
            echo "FAILED $name ($outcome)"
            tail -n 30 "$work"/*.log 2>/dev/null || true
        } >&2
    fi
    rm -rf "$work"
    exit $outcome
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# Runs a command until it succeeds; gives up after 30 s. Conditions are waited for, never times.
until_true() {
    local end=$((SECONDS + 30))
    while [ $SECONDS -lt $end ]; do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.1
    done
    echo "gave up on: $*"
    return 1
}

# As `grep -q`, but reads to the end: who writes into a closed pipe fails, and the test with it.
has() { grep "$@" >/dev/null; }

on() { ip netns exec "$@"; }

# Runs a command before all else that runs here, where what it measures is what the machine can do.
before_others() { setsid -w nice -n -15 sh -c 'echo -20 >/proc/$$/autogroup 2>/dev/null; exec "$@"' lab "$@"; }

# The router's own namespace holds our ends of the veths, so the host's devices stay untouched.
r=vly-$$-r
hosts() {
    local host number
    ip netns add "$r"
    ip -n "$r" link set lo up
    for host in "$a:1" "$b:2"; do
        number=${host##*:} host=${host%:*}
        ip netns add "$host"
        ip -n "$host" link set lo up
        ip -n "$r" link add "v$number" type veth peer name eth0 netns "$host"
        ip -n "$host" addr add "10.0.$number.2/24" dev eth0
        ip -n "$host" link set eth0 up
        ip -n "$host" route add default via "10.0.$number.1"
        # A packet socket hands on frames whose checksums the kernel left to a card.
        on "$host" ethtool -K eth0 tx off gso off tso off gro off >/dev/null
        ip -n "$r" link set "v$number" up
    done
}

# A wire in the router's namespace, both ends the lab's, on which nothing is said but what the lab says.
lab_link() {
    local end
    ip -n "$r" link add g0 type veth peer name g1
    for end in g0 g1; do
        on "$r" sysctl -qw "net.ipv6.conf.$end.disable_ipv6=1"
        ip -n "$r" link set "$end" up
    done
}

# Three hosts of one network, 10.0.9.1 to 10.0.9.3, which say nothing that they are not asked.
c=vly-$$-c
bridged_hosts() {
    local host number=0
    ip netns add "$r"
    for host in "$a" "$b" "$c"; do
        number=$((number + 1))
        ip netns add "$host"
        ip -n "$r" link add "v$number" type veth peer name eth0 netns "$host"
        on "$host" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
        ip -n "$host" link set eth0 address "06:00:00:00:00:0$number"
        ip -n "$host" addr add "10.0.9.$number/24" dev eth0
        ip -n "$host" link set lo up
        ip -n "$host" link set eth0 up
        on "$host" ethtool -K eth0 tx off gso off tso off gro off >/dev/null
        ip -n "$r" link set "v$number" up
    done
}
three_ports() {
    local number
    printf '[workers]\ncount = 2\n[memory]\nbuffers = 8192\n'
    for number in 1 2 3; do printf '[port.p%s]\nkind = "af_packet"\ndevice = "v%s"\n' $number $number; done
}

# two_ports KIND: the usual configuration.
two_ports() {
    cat <<EOF
[workers]
count = 1
[memory]
buffers = 8192
[port.p1]
kind = "$1"
device = "v1"
addresses = ["10.0.1.1/24"]
[port.p2]
kind = "$1"
device = "v2"
addresses = ["10.0.2.1/24"]
EOF
}

# As two_ports, with a tap in place of a's veth. The router makes the tap, in its own namespace:
# there, once it runs and tap_host was called, the kernel itself is host a.
tap_and_veth() {
    ip -n "$r" link del v1
    two_ports tap | awk '/port.p2/ { second = 1 } second { sub("tap", "af_packet") } 1'
}
tap_address() {
    ip -n "$r" addr add 10.0.1.2/24 dev v1 &&
        ip -n "$r" link set v1 up &&
        ip -n "$r" route add default via 10.0.1.1
}
tap_host() {
    until_true ip -n "$r" link show v1
    tap_address
    ip netns del "$a"
    a=$r
}

# router NAME: starts volleyd on NAME.toml and waits until it answers; `ctl NAME …` speaks to it.
router() {
    # Not through `on`: a function in the background is a shell, and a kill would meet only that.
    ip netns exec "$r" "$bin/volleyd" --config "$work/$1.toml" --socket "$work/$1.sock" 2>"$work/$1.log" &
    daemons+=($!)
    until_true "$bin/volley" --socket "$work/$1.sock" show version
}
ctl() {
    local router=$1
    shift
    "$bin/volley" --socket "$work/$router.sock" "$@"
}

# all_answered FILE: of what a ping printed that was interrupted, each answer up to the last is there. What it had sent behind that
# was on its way.
all_answered() {
    awk '/ bytes from / && sub(/.*icmp_seq=/, "") { seen[$1 + 0]; if ($1 + 0 > last) last = $1 + 0 }
        END { exit !last || length(seen) != last }' "$1"
}
pings() { on "$1" ping -c 3 -i 0.2 -W 2 "$2"; }
# sum EXPRESSION NAME COMMAND…: a number out of the JSON of a show command.
json() {
    local filter=$1
    shift
    ctl "$@" --json | jq -r "$filter"
}

# measure NAME OPTIONS…: one run of iperf3 from a to b; fails while the server is busy.
measure() {
    local result=$work/$1.json
    shift
    on "$a" iperf3 -c 10.0.2.2 -J "$@" >"$result" && jq -e '.end | has("sum") or has("sum_received")' "$result"
}

# Of 5 Mbit/s of UDP next to nothing is lost. A host whose receiver is kept waiting by other work
# loses what its socket cannot hold, so the router is given a few attempts.
udp_arrives() { measure udp -t 2 -u -b 5M && jq -e '.end.sum.lost_percent < 5' "$work/udp.json"; }

# sweep NAME DEVICES KEYS-OF-THE-FUNCTION SWEEP TRAFFIC: the maximum rate of a cross-connect in each case.
sweep() {
    cat >"$work/$1.toml" <<END
name = "$1"
title = "Axes"
about = "As little as will do."
[[function]]
kind = "cross-connect"
$3
[traffic]
$5
[sweep]
$4
[measure]
search = "max-rate"
trial_s = 0.1
repetitions = 6
[campaign]
restarts = 1
END
    "$bin/volley-lab" run "$work/$1.toml" --devices "$2" --out "$work/$1" >"$work/$1.txt" 2>>"$work/progress.log"
}
# ends CODE COMMAND...: whether a command ends with this code.
ends() {
    local code=0
    "${@:2}" || code=$?
    [ "$code" = "$1" ] || { echo "ended with $code, not $1: ${*:2}"; return 1; }
}
# sweep_has NAME CONDITION: whether what a sweep wrote down is so.
sweep_has() { jq -s -e "$2" "$work/$1/raw.jsonl" >/dev/null || { echo "not so: $2"; jq -c '.answer // .failure // empty' "$work/$1/raw.jsonl"; exit 1; }; }

# Three hosts on a bridge of flows, which does nothing until it is told to by `ofctl … "$of" …`.
bridge_of_flows() {
    bridged_hosts
    {
        three_ports
        printf '[bridge.br0]\nmode = "flow"\nmanagement = "%s/br0.mgmt"\nfail_mode = "secure"\n' "$work"
        printf 'ports = ["p1", "p2", "p3"]\n'
    } >"$work/router.toml"
    router router
    of=unix:$work/br0.mgmt
}
ofctl() { ovs-ofctl "$@"; }
