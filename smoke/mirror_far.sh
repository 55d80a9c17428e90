#!/usr/bin/env bash
# Mirrors to who listens elsewhere: in a VLAN (RSPAN), in GRE, and in ERSPAN of both types, over the very port that is
# mirrored. tshark takes every copy apart: session, index, VLAN, number, direction, truncation, and the frame inside.
. "$(dirname "$0")/lib.sh"
hosts
c=vly-$$-c
ip netns add "$c"
ip -n "$r" link add v3 type veth peer name eth0 netns "$c"
ip -n "$r" link set v3 up
ip -n "$c" addr add 10.0.3.2/24 dev eth0
ip -n "$c" link set eth0 up
ip -n "$c" route add default via 10.0.3.1
base() {
    two_ports af_packet
    printf '[port.p3]\nkind = "af_packet"\ndevice = "v3"\naddresses = ["10.0.3.1/24"]\n'
    # Who listens is behind c, which drops what it is sent, and says nothing of it.
    printf '[[route]]\nprefix = "10.77.0.0/16"\nvia = "10.0.3.2"\n'
}
erspan() { printf '[port.far]\nkind = "erspan"\nsession = 5\nlocal = "10.0.3.1"\nremote = "10.77.0.9"\n%s\n' "$1"; }
{
    base
    printf '[port."p3.500"]\nkind = "vlan"\nparent = "p3"\nvlan = 500\n'
    printf '[mirror.spy]\ndestination = "p3.500"\nsources = [{ port = "p1", direction = "rx" }]\n'
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.1.1
until_true pings "$c" 10.0.3.1
# watch FILE: what c sees from now on; shows FILE FILTER FIELD...: of it.
watch() {
    ip netns exec "$c" tcpdump -n -U -i eth0 -w "$work/$1.pcap" 2>"$work/$1.txt" &
    daemons+=($!)
    until_true has listening "$work/$1.txt"
}
shows() {
    local file=$1 filter=$2 fields=()
    shift 2
    for field in "$@"; do fields+=(-e "$field"); done
    tshark -r "$work/$file.pcap" -Y "$filter" -T fields -E occurrence=a -E separator=' ' "${fields[@]}" 2>/dev/null
}
sees() { shows "${@:1:2}" "${@:4}" | has -x -- "$3"; }
fails() { shows "$1" "$2" "${@:3}"; ctl router show mirror; ctl router show errors; exit 1; }
counts() { json ".[] | select(.name == \"spy\") | .sources[] | select(.port == \"$1\") | \"\(.received) \(.sent) \(.lost)\"" router show mirror; }

# In a VLAN: a's ping with the tag in front, and only the ping.
watch rspan
pings "$a" 10.0.2.2 >/dev/null
until_true sees rspan 'vlan.id == 500 && icmp.type == 8 && ip.ttl == 64' '10.0.1.2 10.0.2.2' ip.src ip.dst
! shows rspan 'vlan.id == 500 && icmp.type == 0' ip.src | has . || { echo "what p1 sent was copied"; exit 1; }

# In ERSPAN of type II: what leaves by p3 itself is copied by p3, and copies are not. c pings b, three times.
{ base; erspan 'index = 77'; printf '[mirror.spy]\ndestination = "far"\nsources = ["p3", "p1"]\n'; } >"$work/two.toml"
ctl router config apply "$work/two.toml" >/dev/null
watch two
ctl router clear counters >/dev/null 2>&1 || true
pings "$c" 10.0.2.2 >/dev/null
of=(ip.proto gre.proto erspan.version erspan.spanid erspan.index erspan.vlan icmp.type)
until_true sees two 'erspan && icmp.type == 8' '47,1 0x88be 1 5 77 0 8' "${of[@]}"
until_true sees two 'erspan && icmp.type == 0' '47,1 0x88be 1 5 77 0 0' "${of[@]}"
six() { [ "$(shows two 'erspan && icmp' ip.src | wc -l)" = 6 ]; }
until_true six || fails two erspan ip.src gre.sequence_number
shows two 'erspan' erspan.version | sort -u | has -x 1
numbers() { shows "$1" erspan gre.sequence_number; }
numbers two >"$work/numbers"
diff <(seq "$(head -1 "$work/numbers")" "$(tail -1 "$work/numbers")") "$work/numbers" || fails two erspan gre.sequence_number
# Every copy that was counted was sent, and came.
copies=$(counts p3 | awk '{ print $1 + $2 }')
sent=$(json '.[] | select(.name == "far") | .tx.packets' router show ports)
[ "$copies" -le "$sent" ] && [ "$(counts p3 | cut -d' ' -f3)" = 0 ] || fails two erspan gre.sequence_number

# Of type III, truncated, of a VLAN: direction, truncation and time are told.
{
    base
    erspan 'version = "III"
dscp = "cs1"
ttl = 9'
    printf '[mirror.spy]\ndestination = "far"\ntruncate = 60\nsources = [{ port = "p1", direction = "tx" }]\n'
} >"$work/three.toml"
ctl router config apply "$work/three.toml" >/dev/null
watch three
on "$a" ping -q -c 3 -i 0.2 -W 2 -s 400 10.0.2.2 >/dev/null
of=(ip.proto gre.proto erspan.version erspan.spanid erspan.truncated erspan.direction icmp.type)
until_true sees three 'erspan' '47,1 0x22eb 2 5 1 1 0' "${of[@]}" || fails three 'ip.proto == 47' frame.len "${of[@]}"
until_true sees three 'erspan' '9,63 0x20,0x00' ip.ttl ip.dsfield || fails three erspan ip.ttl ip.dsfield
# 14 of Ethernet, 20 of IP, 8 of GRE, 12 of ERSPAN, and 60 of the frame.
shows three erspan frame.len | sort -u | has -x 114 || fails three erspan frame.len

# In GRE, one of two frames: transparent Ethernet bridging.
{
    base
    printf '[port.far]\nkind = "gre"\nkey = 9\nlocal = "10.0.3.1"\nremote = "10.77.0.9"\n'
    printf '[mirror.spy]\ndestination = "far"\nsample = 2\nsources = [{ port = "p1", direction = "rx" }]\n'
} >"$work/gre.toml"
ctl router config apply "$work/gre.toml" >/dev/null
watch gre
on "$a" ping -q -c 10 -i 0.05 -W 2 10.0.2.2 >/dev/null
until_true sees gre 'gre && icmp.type == 8' '0x6558 0x00000009 8' gre.proto gre.key icmp.type || fails gre gre gre.proto gre.key
half() { local seen; seen=$(shows gre 'gre && icmp.type == 8' icmp.seq | wc -l); [ "$seen" -ge 4 ] && [ "$seen" -le 6 ]; }
until_true half || fails gre gre icmp.seq
# Copies that are longer than their way are dropped by name, and nobody is told: truncation is what is said to help.
on "$a" ping -q -c 4 -i 0.05 -W 2 -s 1472 10.0.2.2 >/dev/null
dropped() { json '.[] | select(.reason == "copy-too-long") | .packets' router show errors | has .; }
until_true dropped || { ctl router show errors; exit 1; }
echo "ok $name"
