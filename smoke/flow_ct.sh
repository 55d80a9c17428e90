#!/usr/bin/env bash
# Connection tracking in flows, told by Open vSwitch's own ovs-ofctl: TCP and pings are let out and answered, errors of ICMP that tell of
# them come back, nobody outside begins anything; connections are marked; addresses are translated; what cannot be is refused.
. "$(dirname "$0")/lib.sh"
for tool in ovs-ofctl socat; do command -v $tool >/dev/null || skip "$tool is missing"; done
fail() { echo "$1"; ofctl dump-flows "$of"; ctl router show connections; ctl router show errors; exit 1; }
bridge_of_flows
# count COOKIE: packets of a flow.
count() { ofctl dump-flows "$of" "cookie=$1/-1" | sed -n 's/.*n_packets=\([0-9]*\),.*/\1/p'; }

# A stateful firewall as ovs-fields(7) and Open vSwitch's tutorial write it: port 1 is inside.
cat >"$work/wall.txt" <<'FLOWS'
table=0,priority=10,arp,actions=NORMAL
table=0,priority=100,ip,ct_state=-trk,actions=ct(table=1,zone=5)
table=1,priority=10,in_port=1,ip,ct_state=+trk+new,actions=ct(commit,zone=5,exec(set_field:0x7->ct_mark,set_field:0x9->ct_label)),NORMAL
table=1,priority=10,ip,ct_state=+trk+est,ct_zone=5,ct_mark=0x7,ct_label=0x9,actions=NORMAL
cookie=2,table=1,priority=10,icmp,ct_state=+trk+rel+rpl,actions=NORMAL
cookie=1,table=1,priority=1,ip,ct_state=+trk+new,actions=drop
table=1,priority=1,ip,ct_state=+trk+inv,actions=drop
FLOWS
ofctl add-flows "$of" "$work/wall.txt"
ofctl dump-flows "$of" table=1 | has -F 'actions=ct(commit,zone=5,exec(load:0x7->NXM_NX_CT_MARK[]' || fail "it is not told as it was said"
until_true pings "$a" 10.0.9.2
! on "$b" ping -c 1 -W 1 10.0.9.1 >/dev/null || fail "who is outside pings"
serves() { on "$1" socat TCP-LISTEN:7000,fork,reuseaddr SYSTEM:"echo $2 for \$SOCAT_PEERADDR" & daemons+=($!); }
serves "$a" inside
serves "$b" outside
serves "$c" third
hears() { on "$1" timeout 5 socat -T 2 - "$2" </dev/null 2>/dev/null | has "$3"; }
until_true hears "$a" TCP:10.0.9.2:7000 'outside for 10.0.9.1'
! on "$b" socat /dev/null TCP:10.0.9.1:7000,connect-timeout=1 2>/dev/null || fail "who is outside begins a connection"
[ "$(count 1)" -ge 1 ] || fail "nobody was dropped"
ctl router show connections | has -P ' 5 +tcp +10\.0\.9\.1:\d+ +10\.0\.9\.2:7000 ' || fail "the connection is not shown"
# Nobody listens there: what tells of it comes back, and is told to whom it is for.
refused() { echo x | on "$a" timeout 3 socat -t 0.2 - UDP:10.0.9.2:7999 2>/dev/null || true; [ "$(count 2)" -ge 1 ]; }
until_true refused || fail "an error that tells of a connection does not come back"

# Translation: what is asked of 10.0.9.9 is answered by host c; who asks is seen as 10.0.9.8.
ofctl del-flows "$of"
cat >"$work/nat.txt" <<'FLOWS'
table=0,priority=20,arp,arp_tpa=10.0.9.8/31,arp_op=1,actions=move:eth_src->eth_dst,set_field:06:00:00:00:00:99->eth_src,set_field:2->arp_op,move:arp_sha->arp_tha,set_field:06:00:00:00:00:99->arp_sha,move:arp_tpa->reg0,move:arp_spa->arp_tpa,move:reg0->arp_spa,IN_PORT
table=0,priority=10,arp,actions=NORMAL
table=0,priority=10,ip,in_port=1,actions=ct(table=1,zone=1,nat)
table=0,priority=10,ip,in_port=3,actions=ct(table=2,zone=2,nat)
table=1,ip,ct_state=+trk+new,nw_dst=10.0.9.9,actions=ct(commit,zone=1,nat(dst=10.0.9.3)),ct(table=3,commit,zone=2,nat(src=10.0.9.8:5000-5999))
table=1,ip,ct_state=+trk+est,actions=ct(table=3,zone=2,nat)
table=2,ip,ct_state=+trk+est,actions=ct(table=4,zone=1,nat)
table=3,ip,actions=set_field:06:00:00:00:00:03->eth_dst,output:3
table=4,ip,actions=set_field:06:00:00:00:00:01->eth_dst,output:1
cookie=4,table=4,priority=40000,tcp,ct_state=+trk+est,ct_nw_src=10.0.9.1,ct_nw_dst=10.0.9.8/31,ct_nw_proto=6,ct_tp_dst=7000,actions=set_field:06:00:00:00:00:01->eth_dst,output:1
FLOWS
ofctl -O OpenFlow13 add-flows "$of" "$work/nat.txt"
until_true hears "$a" TCP:10.0.9.9:7000 'third for 10.0.9.8' || fail "it is not translated"
until_true on "$a" ping -c 1 -W 1 10.0.9.9
# What answers is told by who asked.
[ "$(count 4)" -ge 1 ] || fail "what answers is not known by who asked"
ofctl dump-flows "$of" cookie=4/-1 | has -F 'ct_state=+est+trk,ct_nw_src=10.0.9.1,ct_nw_dst=10.0.9.8/31,ct_nw_proto=6,ct_tp_dst=7000,tcp ' || fail "it is not told as it was said"
ctl router show connections | has -P ' 2 +tcp +10\.0\.9\.1:\d+ +10\.0\.9\.3:7000 +10\.0\.9\.8:5\d\d\d ' || fail "its port is not of the range"

# FTP: a server may connect to where a client told it that it waits, and to nowhere else.
ofctl del-flows "$of"
cat >"$work/ftp.txt" <<'FLOWS'
table=0,priority=10,arp,actions=NORMAL
table=0,priority=10,ip,actions=ct(table=1,zone=7)
table=1,priority=10,tcp,in_port=1,ct_state=+trk+new,actions=ct(commit,zone=7,alg=ftp),NORMAL
table=1,priority=10,ip,ct_state=+trk+est-inv,actions=NORMAL
cookie=6,table=1,priority=10,tcp,in_port=2,ct_state=+trk+new+rel,actions=ct(commit,zone=7),NORMAL
FLOWS
ofctl add-flows "$of" "$work/ftp.txt"
ofctl dump-flows "$of" | has -F 'actions=ct(commit,zone=7,alg=ftp),NORMAL' || fail "the helper is not told"
cat >"$work/ftp.py" <<'FTP'
"""A server of FTP that connects to where it is told, and to a port beside it; and its client."""
import re, socket, sys
if sys.argv[1] == "serve":
    listening = socket.create_server(("10.0.9.2", 21))
    print("ready", flush=True)
    while True:
        talk = listening.accept()[0]
        talk.sendall(b"220 ready\r\n")
        for line in talk.makefile("rb"):
            numbers = [int(it) for it in re.findall(rb"\d+", line)]
            address, port = ".".join(map(str, numbers[:4])), numbers[4] * 256 + numbers[5]
            for place, data in ((port + 1, b"beside"), (port, b"data")):
                try:
                    with socket.create_connection((address, place), 1) as there:
                        there.sendall(data)
                except OSError:
                    pass
            talk.sendall(b"200 told\r\n")
else:
    waits = [socket.create_server(("10.0.9.1", 1234 + beside)) for beside in (0, 1)]
    talk = socket.create_connection(("10.0.9.2", 21), 5)
    lines = talk.makefile("rb")
    lines.readline()
    talk.sendall(b"PORT 10,0,9,1,4,210\r\n")
    lines.readline()
    for there, wanted in zip(waits, (b"data", b"")):
        there.settimeout(1)
        try:
            heard = there.accept()[0].recv(10)
        except TimeoutError:
            heard = b""
        assert heard == wanted, (heard, wanted)
FTP
on "$b" python3 "$work/ftp.py" serve >"$work/ftp.out" &
daemons+=($!)
until_true has ready "$work/ftp.out"
on "$a" timeout 20 python3 "$work/ftp.py" ask || fail "the server does not connect to where the client waits, or does elsewhere"
[ "$(count 6)" = 1 ] || fail "it was not related"

# What cannot be is refused as Open vSwitch does.
refuses() { ! ofctl -O OpenFlow13 add-flow "$of" "$2" 2>"$work/error.txt" && has "$1" "$work/error.txt" || fail "$2: $(cat "$work/error.txt")"; }
refuses OFPBAC_MATCH_INCONSISTENT 'arp,actions=ct(table=1)'
refuses OFPBAC_MATCH_INCONSISTENT 'udp,actions=ct(alg=ftp,commit,table=1)'
refuses OFPBAC_MATCH_INCONSISTENT 'tcp,actions=ct(alg=tftp,commit,table=1)'
echo "ok $name"
