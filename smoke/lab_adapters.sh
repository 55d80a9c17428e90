#!/usr/bin/env bash
# The adapters of VPP, grout and FastClick against small programs that are started, asked and answer as those are. What they
# forward the kernel's bridge does.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
mkdir "$work/programs"
program() {
    { printf '#!/usr/bin/env bash\nset -euo pipefail\n'; cat; } >"$work/programs/$1"
    chmod +x "$work/programs/$1"
}
# joined: both ends in a bridge that floods. count WAY DEVICE: 2 receives, 10 sends.
program joined <<'END'
ip link add br0 type bridge stp_state 0 mcast_snooping 0
ip link set br0 up
for end in d0 d1; do ip link set $end master br0; bridge link set dev $end learning off; done
END
program count <<'END'
awk -v device="$2:" -v field="$1" '$1 == device { print $(field + 1) }' /proc/net/dev
END
program vpp <<'END'
[ "$*" != --version ] || { echo "vpp v99.09 of nobody"; exit; }
[ "$1" = -c ]
joined
touch "$(dirname "$2")/cli.sock"
exec sleep 600
END
program vppctl <<'END'
[ "$1" = -s ] && [ -e "$2" ]
shift 2
case "$*" in
"show version") echo "vpp v99.09" ;;
"exec "*) grep -q '^set interface l2 xconnect host-d0 host-d1$' "$2" || echo "exec: CLI line error: no cross-connect" ;;
"clear runtime" | "show errors") ;;
"show runtime") echo "l2-output                        active                 10            1000               0          2.50e1          100.00" ;;
"show interface")
    echo "              Name               Idx    State  MTU (L3/IP4/IP6/MPLS)     Counter          Count     "
    for end in 0 1; do
        printf 'host-d%s                           %s      up          9000/0/0/0     rx packets                 %s\n' $end $end "$(count 2 d$end)"
        printf '                                                                    tx packets                 %s\n' "$(count 10 d$end)"
    done
    ;;
*) exit 1 ;;
esac
END
program grout <<'END'
[ "$*" != -V ] || { echo "grout v99"; exit; }
[ "$1 $2" = "-t -s" ]
joined
touch "$3"
exec sleep 600
END
program grcli <<'END'
[ "$1" = -s ] && [ -e "$2" ]
case "${*:3}" in
-xe) grep -q '^interface set port p0 mode xconnect p1$' ;;
"stats show hardware")
    for end in 0 1; do
        echo "p$end.rx_good_packets $(count 2 d$end)"
        echo "p$end.tx_good_packets $(count 10 d$end)"
    done
    ;;
"stats show software brief") echo "eth_input $(count 2 d0)" ;;
*) exit 1 ;;
esac
END
program click <<'END'
[ "$*" != --version ] || { echo "click (Click) 2.1"; exit; }
[ "$1" = --dpdk ]
grep -q '^in0 -> out1;$' "${@: -1}"
while [ "$1" != -u ]; do shift; done
joined
exec python3 "$(dirname "$0")/control.py" "$2"
END
cat >"$work/programs/control.py" <<'END'
import socket, subprocess, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
fields = {"hw_count": "2", "count": "10"}
def answer(peer):
    peer.sendall(b"Click::ControlSocket/1.3\r\n")
    for line in peer.makefile():
        element, handler = line.split()[1].split(".")
        number = "0"
        if handler in fields:
            number = subprocess.check_output(["count", fields[handler], "d" + element[-1]], text=True).strip()
        peer.sendall(f"200 Read handler '{element}.{handler}' OK\r\nDATA {len(number)}\r\n{number}".encode())
while True:
    peer, _ = server.accept()
    try:
        answer(peer)
    except OSError:
        pass  # Who asked is gone.
END
cat >"$work/smoke.toml" <<'END'
name = "smoke"
title = "Smoke"
about = "As little as will do."
[[function]]
kind = "cross-connect"
[measure]
search = "max-rate"
trial_s = 0.02
latency_at_percent = [10]
[campaign]
restarts = 1
END
lab() { "$bin/volley-lab" run "$work/smoke.toml" "$@" >>"$work/told.txt" 2>>"$work/progress.log"; }
of() { jq -s -e "$2" "$work/$1/raw.jsonl" >/dev/null || { echo "not so of $1: $2"; jq -c '.failure // empty' "$work/$1/raw.jsonl"; exit 1; }; }

PATH=$work/programs:$PATH lab --devices vpp,grout,fastclick --out "$work/fakes"
of fakes '[.[] | .failure // empty] | length == 0'
of fakes '[.[] | .device // empty | .version] == ["vpp v99.09 of nobody", "grout v99", "fastclick, click (Click) 2.1"]'
# Every packet of every trial is accounted for, and of each program the counters were read.
of fakes '[.[] | .trial // empty | .accounts | .sent - .received - .dropped - .in_flight] | length > 0 and all(. == 0)'
of fakes '[.[] | .trial // empty | select(.device.received >= .outcome.received and .outcome.received > 0) | .subject.device] | unique | length == 3'
# Without the programs each is refused by name, on the terminal too, and that is no success.
ends 4 lab --devices vpp,grout,fastclick --out "$work/missing"
of missing '[.[] | .failure // empty | select(.refused) | .reason] | length == 3 and all(contains("is not installed"))'
[ "$(grep -c 'refused: .*is not installed' "$work/told.txt")" = 3 ]

! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name"
