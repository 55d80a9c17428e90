#!/usr/bin/env bash
# Every function that the lab asks of switches, on real devices, each packet looked at; and devices that do it wrong, which
# have to be found out.
# Two: it sends every packet once and misses any that a busy machine drops.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
devices=volley,linux-bridge,linux-router
command -v dhcrelay >/dev/null || skip "no dhcrelay"
command -v ovs-vswitchd >/dev/null && devices+=,ovs
lab() { "$bin/volley-lab" run "$work/$1.toml" --devices "$2" "${@:3}" --out "$work/$1" >"$work/$1.txt" 2>>"$work/progress.log"; }
of() { jq -s -e "$2" "$work/$1/raw.jsonl" >/dev/null || { echo "not so: $2"; jq -c '.check // .failure // empty' "$work/$1/raw.jsonl"; exit 1; }; }
sed 's/^\[measure\]/&\ntrial_s = 0.1/' "$root/scenarios/functional.toml" >"$work/all.toml"
lab all "$devices"

# passed DEVICE FUNCTION...: each was checked, every packet was as it must be, and something was sent both ways.
passed() {
    for function in "${@:2}"; do
        of all "[.[] | .check // empty | select(.subject.device == \"$1\" and .subject.function == \"$function\")] | length == 1 and (.[0] | .fault == null and ([.streams[] | select(.must_emerge)] | length >= 2 and all(.sent > 0 and .sent == .came)) and ([.streams[] | select(.must_emerge | not)] | all(.sent > 0 and .came == 0)))"
    done
}
# refused DEVICE FUNCTION REASON
refused() { of all "[.[] | .failure // empty | select(.subject.device == \"$1\" and .subject.function == \"$2\" and .refused) | .reason] | length == 1 and (.[0] | contains(\"$3\"))"; }
passed volley bridge cross-connect vlan-tagging vxlan-encap ip4 ip6 dhcp4 source-allow-list gre lisp acl
passed linux-bridge bridge cross-connect
passed linux-router ip4 ip6 dhcp4 source-allow-list acl
refused linux-router bridge "a router routes, no more"
refused linux-bridge acl "which its adapter does not know"
# What depends on the kernel works or is refused with the kernel's words.
either() { if grep -q "$3" "$work/all/raw.jsonl"; then refused "$1" "$2" "$3"; else passed "$1" "$2"; fi; }
either linux-bridge vxlan-encap "this kernel has no VXLAN"
either linux-bridge vlan-tagging "this kernel's bridge knows no VLANs"
either linux-router gre "this kernel has no GRE"
[[ $devices != *ovs* ]] || passed ovs bridge cross-connect vlan-tagging vxlan-encap ip4 ip6 source-allow-list gre acl
for device in ${devices//,/ }; do [ $device = volley ] || refused "$device" lisp "it does not speak LISP"; done
of all '[.[] | .failure // empty | select(.refused | not)] == []'
has 'Does it do what it says' "$work/all/report.html"
has 'volley_lab_check_passed{device="volley",case="acl"} 1' "$work/all/metrics.txt"

# wrong NAME EDIT: the same Volley, but for what sed does to its configuration before it starts.
wrong() {
    mkdir "$work/$1"
    printf '#!/bin/sh\n[ "$1" = --config ] && sed -i '"'%s'"' "$2"\nexec %s "$@"\n' "$2" "$bin/volleyd" >"$work/$1/volleyd"
    chmod +x "$work/$1/volleyd"
}
wrong listless '/^acl_in/d; /^allow/d'
wrong tagless '/^\[port.trunk\]/,/^vlan/d; s/"trunk"/"right"/'
some() {
    printf 'name = "%s"\ntitle = "Some"\nabout = "As little as will do."\n' "$1"
    printf '[[function]]\nkind = "%s"\n' "${@:2}"
    printf '[traffic]\nframe_bytes = 84\n[measure]\nsearch = "functional"\ntrial_s = 0.1\n[campaign]\nrestarts = 1\n'
}
some lists acl source-allow-list ip4 >"$work/lists.toml"
ends 3 lab lists "volley=$work/listless" --junit "$work/lists.xml"
has 'failures="2"' "$work/lists.xml"
of lists '[.[] | .check // empty | [.subject.function, .fault.stream, .fault.reason]] == [["acl", "denied", "came out and must not"], ["source-allow-list", "from below the list", "came out and must not"], ["ip4", null, null]]'
has 'WRONG: packet 0 denied came out and must not' "$work/lists.txt"
has 'volley_lab_check_passed.*case="acl"} 0' "$work/lists/metrics.txt"
some tags vlan-tagging >"$work/tags.toml"
ends 3 lab tags "volley=$work/tagless"
of tags '[.[] | .check // empty | .fault | [.reason, .difference.at]] == [["is not what it must be", 12]]'
# A relay that takes answers from everywhere, its clients too.
mkdir "$work/trusting"
printf '#!/bin/sh\nexec %s $(echo "$@" | sed "s/-i[du]/-i/g")\n' "$(command -v dhcrelay)" >"$work/trusting/dhcrelay"
chmod +x "$work/trusting/dhcrelay"
some leases dhcp4 >"$work/leases.toml"
PATH=$work/trusting:$PATH ends 3 lab leases linux-router
of leases '[.[] | .check // empty | .fault | [.stream, .reason]] == [["an answer from among the clients", "came back to where it was sent"]]'
# Over shared memory, where no driver filters by address.
some memory ip4 vxlan-encap dhcp4 >"$work/memory.toml"
lab memory volley --link memif
of memory '[.[] | .check // empty | .fault] == [null, null, null]'
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
echo "ok $name: $(grep -c 'as it must be' "$work/all.txt") functions as they must be"
