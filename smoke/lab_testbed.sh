#!/usr/bin/env bash
# Two: it sends every packet once and misses any that a busy machine drops.
# Two hosts, a namespace each: the generator's, and one with an sshd of its own where an agent sets up a bridge, or what scripts say. A function
# is checked and a rate measured over the wires between them; a host that vanishes is a failure with its name; wires are given back.
. "$(dirname "$0")/lib.sh"
[ -x /usr/sbin/sshd ] || skip "no sshd (package openssh-server)"
export XDG_CACHE_HOME=$work TMPDIR=$work
for space in "$a" "$b"; do ip netns add "$space"; ip -n "$space" link set lo up; done
for pair in "c0 c1" "w0 e0" "w1 e1"; do ip -n "$a" link add "${pair% *}" type veth peer name "${pair#* }" netns "$b"; done
ip -n "$a" addr add 10.9.9.1/24 dev c0 && ip -n "$a" link set c0 up
ip -n "$b" addr add 10.9.9.2/24 dev c1 && ip -n "$b" link set c1 up && ip -n "$b" link set e1 mtu 1400
ssh-keygen -q -t ed25519 -N '' -f "$work/host_key" && ssh-keygen -q -t ed25519 -N '' -f "$work/user_key"
cp "$work/user_key.pub" "$work/authorized"
echo "[10.9.9.2]:2222 $(cut -d ' ' -f 1,2 "$work/host_key.pub")" >"$work/known"
printf '%s\n' "Port 2222" "ListenAddress 10.9.9.2" "HostKey $work/host_key" "AuthorizedKeysFile $work/authorized" "StrictModes no" \
    "UsePAM no" "PidFile none" "PermitRootLogin prohibit-password" "SetEnv TMPDIR=$work" >"$work/sshd.conf"
mkdir -p /run/sshd "$work/scripts"
server() {
    ip netns exec "$b" /usr/sbin/sshd -D -e -f "$work/sshd.conf" 2>>"$work/sshd.log" &
    daemons+=($!)
    disown
    until_true on "$a" bash -c 'exec 3<>/dev/tcp/10.9.9.2/2222'
}
server
printf '#!/bin/sh\n[ "$LAB_FUNCTION" = cross-connect ] || { echo "scripts join ports, no more" >&2; exit 3; }\nip link add br7 type bridge && ip link set br7 up && ip link set $LAB_PORT0 master br7 && ip link set $LAB_PORT1 master br7\n' >"$work/scripts/prepare"
printf '#!/bin/sh\nip link show br7 | grep -q UP\n' >"$work/scripts/ready"
printf '#!/bin/sh\nip link del br7 && touch %s/stopped\n' "$work" >"$work/scripts/stop"
chmod +x "$work"/scripts/*
cat >"$work/bed.toml" <<END
gbps = 0.05
[[host]]
name = "dut"
reach = "ssh"
address = "10.9.9.2"
port = 2222
user = "root"
key = "$work/user_key"
known_hosts = "$work/known"
agent = "$bin/volley-lab"
[[device]]
name = "bridge"
host = "dut"
kind = "linux-bridge"
[[device]]
name = "mine"
host = "dut"
kind = "script=$work/scripts"
[[wire]]
generator = "w0"
device = "e0"
[[wire]]
generator = "w1"
device = "e1"
END
scenario() { printf 'name = "bed"\ntitle = "Bed"\nabout = "As little as will do."\n%s[measure]\nsearch = "%s"\ntrial_s = %s\n[campaign]\nrestarts = 1\n' "$1" "$2" "$3"; }
plain='[[function]]
kind = "cross-connect"
'
scenario "$plain"'[[function]]
kind = "vlan-tagging"
' functional 0.2 >"$work/checks.toml"
scenario "$plain" max-rate 0.1 >"$work/rate.toml"
scenario "$plain" max-rate 2 >"$work/long.toml"
lab() { on "$a" "$bin/volley-lab" run --testbed "$work/bed.toml" "$@" 2>>"$work/progress.log"; }
of() { jq -s -e "$2" "$work/$1/raw.jsonl" >/dev/null || { echo "not so: $2"; jq -c '.check // .answer // .failure // empty' "$work/$1/raw.jsonl" | cut -c 1-400; exit 1; }; }
given_back() { ip -n "$a" link show w0 && ip -n "$a" link show w1 && ip -n "$b" link show e0 && ip -n "$b" link show e1 | grep 'mtu 1400' && ! pgrep -f "volley-lab agent" -a | grep "$bin"; }

lab "$work/checks.toml" --devices bridge,mine --out "$work/checks" >"$work/checks.txt" || { cat "$work/checks.txt"; exit 1; }
of checks '[.[] | .check // empty | select(.subject.function == "cross-connect")] | length == 2 and all(.fault == null)'
of checks '[.[] | .failure // empty | select(.subject.device == "mine")] | length == 1 and all(.refused and (.reason | contains("scripts join ports, no more")))'
of checks '[.[] | .device // empty | select(.name == "mine") | .commands[]] | any(contains("scripts/prepare"))'
of checks '[.[] | .campaign // empty][0].host["clock of dut"] | test("^[+-][0-9.]+ µs of ours, ± [0-9.]+ µs$")'
[ -e "$work/stopped" ] || { echo "scripts/stop did not run"; exit 1; }
until_true given_back
lab "$work/rate.toml" --devices bridge --out "$work/rate" >"$work/rate.txt" || { cat "$work/rate.txt"; exit 1; }
of rate '[.[] | .answer // empty] | length == 1 and all(.low_pps > 1000)'
# The host goes in the midst of it: what was measured is kept, and nothing is left behind, there or here.
lab "$work/long.toml" --devices bridge,mine --out "$work/gone" >"$work/gone.txt" &
run=$!
until_true has '"trial"' "$work/gone/raw.jsonl"
ip netns pids "$b" | while read -r pid; do ! has sshd "/proc/$pid/comm" 2>/dev/null || kill -KILL "$pid"; done
ends 4 wait $run
of gone '[.[] | .failure // empty | .reason] | length == 2 and all(contains("host dut: it went away"))'
has 'host dut: it went away' "$work/gone/report.html" "$work/gone.txt"
until_true given_back
# What cannot be is said before anything is touched.
sed 's/kind = "linux-bridge"/kind = "toaster"/' "$work/bed.toml" >"$work/wrong.toml"
ends 1 on "$a" "$bin/volley-lab" run --testbed "$work/wrong.toml" "$work/rate.toml" --devices bridge 2>"$work/wrong.txt"
ends 2 lab "$work/rate.toml" --devices bridge --link memif
has 'device bridge: .*toaster' "$work/wrong.txt" || { cat "$work/wrong.txt"; exit 1; }
# Scripts drive a device of this host as well.
rm "$work/stopped"
"$bin/volley-lab" run "$work/checks.toml" --devices "script=$work/scripts" --out "$work/here" >"$work/here.txt" 2>>"$work/progress.log" || { cat "$work/here.txt"; exit 1; }
of here '[.[] | .check // empty] | length == 1 and all(.fault == null)'
[ -e "$work/stopped" ] || { echo "scripts/stop did not run here"; exit 1; }
echo "ok $name: $(head -n 1 "$work/rate.txt"), clock $(jq -r 'select(.campaign) | .campaign.host["clock of dut"]' "$work/rate/raw.jsonl")"
