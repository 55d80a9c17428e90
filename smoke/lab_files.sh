#!/usr/bin/env bash
# Capture files as links: devices read what the lab wrote and write what it reads, each packet looked at. What takes time is
# refused over them, and cards that are not there are refused by their address.
. "$(dirname "$0")/lib.sh"
command -v dpdk-testpmd >/dev/null || skip "no testpmd"
export XDG_CACHE_HOME=$work TMPDIR=$work
lab() { "$bin/volley-lab" run "$work/$1.toml" --devices "$2" "${@:3}" --out "$work/$1" >"$work/$1.txt" 2>>"$work/$1.log"; }
of() { jq -s -e "$2" "$work/$1/raw.jsonl" >/dev/null || { echo "not so of $1: $2"; jq -c '.check // .failure // empty' "$work/$1/raw.jsonl"; exit 1; }; }
sed 's/^\[measure\]/&\ntrial_s = 0.4/' "$root/scenarios/functional.toml" >"$work/all.toml"
lab all volley,testpmd,linux-bridge,ovs-dpdk --link pcap
of all '[.[] | .check // empty | select(.subject.device == "volley")] | length == 9 and all(.fault == null and .load_pps == 0 and
    ([.streams[] | select(.must_emerge)] | length >= 2 and all(.sent == 200 and .came == 200)) and ([.streams[] | select(.must_emerge | not)] | all(.came == 0)))'
of all '[.[] | .check // empty | select(.subject.device == "testpmd") | [.subject.function, .fault]] == [["cross-connect", null]]'
of all '[.[] | .check // empty | .subject.device] | unique == ["testpmd", "volley"]'
of all '[.[] | .failure // empty | .refused] | all'
of all '[.[] | .failure // empty | select(.subject.device == "volley") | .subject.function] == ["ip6", "dhcp4"]'

# A testpmd that turns frames around is found out.
mkdir "$work/bin"
printf '#!/bin/sh\nexec %s "$@" --port-topology=loop\n' "$(command -v dpdk-testpmd)" >"$work/bin/dpdk-testpmd"
chmod +x "$work/bin/dpdk-testpmd"
sed -n '1,/^restarts/p' >"$work/turned.toml" <<'TOML'
name = "turned"
title = "Turned"
about = "As little as will do."
[[function]]
kind = "cross-connect"
[link]
kind = "pcap"
[measure]
search = "functional"
trial_s = 0.1
[campaign]
restarts = 1
TOML
PATH=$work/bin:$PATH ends 3 lab turned testpmd
of turned '[.[] | .check // empty | .fault.reason] == ["came back to where it was sent"]'

# refused NAME EDIT WORDS: what the scenario says is refused, with these words.
refused() {
    sed "$2" "$work/turned.toml" >"$work/$1.toml"
    { lab "$1" testpmd || [ $? = 4 ]; } && mv "$work/$1/raw.jsonl" "$work/$1.log"
    has -F -- "$3" "$work/$1.log" || { echo "$1: not refused with: $3"; cat "$work/$1.log"; exit 1; }
}
refused timed 's/"functional"/"mlr"/' 'timed.toml:7:8: files have no time: search = "mlr"'
cards='generator = ["ffff:01:00.0", "ffff:01:00.1"]\ndevice = ["ffff:02:00.0", "ffff:02:00.1"]'
refused absent "s/\"pcap\"/\"pci\"\\n$cards/" 'ffff:01:00.0: there is no such card in this host'
refused twice "s/\"pcap\"/\"pci\"\\n${cards/02:00.1/01:00.0}/" 'twice.toml:9:27: ffff:01:00.0 is named twice'
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name"
