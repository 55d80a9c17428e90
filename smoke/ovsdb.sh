#!/usr/bin/env bash
# Open vSwitch's own database and ovs-vsctl, and `volley ovs` in place of its daemon: bridges and ports as it says, numbers, counters and
# errors written back, and all of it again when database, router or `volley ovs` is started anew.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ovsdb.bash"

# A bridge, its own port with an address, ports with numbers; what is not there is an error of its row.
vs add-br br0 -- add-port br0 v1 -- add-port br0 v2 -- set Interface v2 ofport_request=7
pings "$a" 10.0.9.2
column Interface v1 ofport 1 && column Interface v2 ofport 7 && column Interface br0 ofport 65534
until_true column Interface v1 link_state up
ip -n "$r" addr add 10.0.9.100/24 dev br0
ip -n "$r" link set br0 up
until_true pings "$a" 10.0.9.100
ovs-ofctl show "unix:$work/br0.mgmt" | has '7(v2)'
counted() { [ "$(vs get Interface v1 statistics:rx_packets)" -ge 6 ]; }
until_true counted

# ovs-appctl, as it is typed: it finds us by the file with our number.
export OVS_RUNDIR="$work"
until_true ovs-appctl version
ovs-appctl version | has 'volley ovs'
ovs-appctl ofproto/list | has -x br0
ovs-appctl dpif/show | has '    v2 7/7: (system)'
ovs-appctl fdb/show br0 | has -E '^    7     0  [0-9a-f:]{17} +[0-9]+$'
ovs-appctl fdb/flush br0 | has 'table successfully flushed'
! ovs-appctl fdb/show br0 | has -E '^    7 ' || exit 1
ovs-appctl coverage/show | has -E '^flow-upcall/act .* total: [1-9]'
ends 2 ovs-appctl nosuch 2>"$work/told"
has '"nosuch" is not a valid command (use "list-commands" to see a list of valid commands)' "$work/told"
ends 2 ovs-appctl fdb/show 2>"$work/told"
has '"fdb/show" command requires at least 1 arguments' "$work/told"
ends 2 ovs-appctl -t "$work"/ovs-vswitchd.*.ctl fdb/show br1 2>"$work/told"
has 'no such bridge' "$work/told"
vs add-port br0 nosuch 2>"$work/told" || true
has "could not open network device nosuch (No such device)" "$work/told"
column Interface nosuch ofport -1
vs del-port br0 nosuch
vs set Interface v2 type=erspan
column Interface v2 error '.*type erspan is not done here.*'
vs set Interface v2 type=system
until_true pings "$a" 10.0.9.2
ends 1 vs add-br br0 2>"$work/told"
has 'cannot create a bridge named br0 because a bridge named br0 already exists' "$work/told"

# A virtual machine's socket, and devices by DPDK's names; one that is none is told.
vs add-port br0 vm1 -- set Interface vm1 type=dpdkvhostuser -- add-port br0 d3 -- set Interface d3 type=dpdk options:dpdk-devargs=net_af_packet0,iface=v3
until_true test -S "$work/vm1"
until_true pings "$a" 10.0.9.3
vs set Interface d3 options:dpdk-devargs=net_null0 2>/dev/null || true
column Interface d3 error '.*`net_null0` is no device that is done here.*'
vs del-port vm1 -- del-port d3
! test -S "$work/vm1" || exit 1
# One that the machine makes, some time later: it is connected to, and stays when the port goes.
vs add-port br0 vm2 -- set Interface vm2 type=dpdkvhostuserclient options:vhost-server-path="$work/machine"
column Interface vm2 error '\[\]'
column Interface vm2 link_state down
until_true is '.[] | select(.name == "vm2").problem | test("No such file")' true ports
python3 -c "import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.settimeout(30)
listener.bind(sys.argv[1])
listener.listen()
listener.accept()" "$work/machine"
vs del-port vm2
test -S "$work/machine"
vs add-port br0 vm3 -- set Interface vm3 type=dpdkvhostuserclient 2>/dev/null || true
column Interface vm3 error ".*'vm3' is missing 'options:vhost-server-path'.*"
vs del-port vm3

# What comes without a tag is in the native VLAN, and what goes there has its tag.
vs set Port v1 vlan_mode=native-tagged tag=20 -- set Port v2 tag=20
on "$a" timeout 30 tcpdump -e -n -i eth0 -c 1 vlan 20 and icmp >"$work/native" 2>"$work/dump" &
until_true has listening "$work/dump"
on "$a" ping -c 3 -i 0.2 -W 1 10.0.9.2 >/dev/null || true
wait $!
has 'vlan 20.*10.0.9.2 > 10.0.9.1: ICMP echo reply' "$work/native"
vs clear Port v1 vlan_mode -- clear Port v1 tag -- clear Port v2 tag
until_true pings "$a" 10.0.9.2

# Versions of OpenFlow, as the database says.
vs set Bridge br0 protocols=OpenFlow13
ends 1 ovs-ofctl show "unix:$work/br0.mgmt" 2>"$work/told"
has 'version negotiation failed' "$work/told"
vs clear Bridge br0 protocols
ovs-ofctl show "unix:$work/br0.mgmt" | has '1(v1)'

# Groups go to their listeners, as the database says and no longer.
vs set Bridge br0 mcast_snooping_enable=true other_config:mcast-snooping-disable-flood-unregistered=true -- set Port v2 other_config:mcast-snooping-flood=true
until_true is '.[0] | .bridge + " " + (.routers | join(" "))' 'br0 v2' snooping
vs set Bridge br0 mcast_snooping_enable=false
until_true is length 0 snooping

# Collectors, as the manual page of ovs-vsctl has them.
vs -- set Bridge br0 netflow=@nf -- --id=@nf create NetFlow targets='"192.168.0.34:5566"' active-timeout=30 add_id_to_interface=true engine_id=3
exported() { is 'map(.name + " " + .protocol + " " + .collectors[0].address + " " + (.ports | map(.port) | join(","))) | join("; ")' "$1" export; }
until_true exported 'br0.netflow netflow-5 192.168.0.34:5566 br0,v1,v2'
vs set NetFlow br0 active_timeout=60 'targets="192.168.0.34:5567"' -- --id=@s create sFlow agent=eth1 targets='"192.168.0.34:6343"' header=128 sampling=64 polling=10 -- set Bridge br0 sflow=@s
until_true is 'map(.name + (.sample | tostring) + " " + (.collectors | map(.address) | join(",")) + " at " + (.ports | length | tostring)) | join(" ")' 'br0.netflow1 192.168.0.34:5567 at 3 br0.sflow64 192.168.0.34:6343 at 3' export
vs -- set Bridge br0 ipfix=@i -- --id=@i create IPFIX targets='"192.168.0.34:4739"' obs_domain_id=123 obs_point_id=456 cache_active_timeout=60 cache_max_flows=13
until_true is 'map(.ports | length | tostring) | join(" ")' '3 3 3' export
vs clear Bridge br0 netflow -- clear Bridge br0 sflow -- clear Bridge br0 ipfix
until_true is length 0 export

# Copies, as the manual page of ovs-vsctl has them: who is behind the output port sees what others say, and is part of nothing.
vs add-port br0 v3 -- --id=@p get Port v3 -- --id=@m create Mirror name=spy select-all=true output-port=@p -- set Bridge br0 mirrors=@m >/dev/null
is '.[0] | .name + " " + .destination + " " + (.sources | map(.port + " " + .direction) | join(" "))' 'br0.spy v3 v1 both v2 both' mirror
on "$c" timeout 20 tcpdump -n -i eth0 -c 2 icmp and host 10.0.9.1 >"$work/seen" 2>"$work/dump" &
until_true has listening "$work/dump"
pings "$a" 10.0.9.2
wait $!
copied() { [ "$(vs get Mirror spy statistics:tx_packets)" -ge 2 ] && [ "$(vs get Mirror spy statistics:tx_bytes)" -ge 196 ]; }
until_true copied
! pings "$a" 10.0.9.3 >/dev/null || exit 1
vs clear Bridge br0 mirrors -- del-port v3
is length 0 mirror

# A patch between two bridges: a reaches who is in the other one, until the patch goes.
vs add-br br1 -- add-port br1 v3 -- add-port br1 p1 -- set Interface p1 type=patch options:peer=p0 -- \
    add-port br0 p0 -- set Interface p0 type=patch options:peer=p1
until_true pings "$a" 10.0.9.3
column Interface p0 type patch && column Interface p0 error '\[\]'
vs del-port br0 p0
! pings "$a" 10.0.9.3 >/dev/null || exit 1
vs del-br br1

# Everything is started anew, in turn.
kill $db && wait $db || true
database
vs add-port br0 v3 -- set-fail-mode br0 secure
! pings "$a" 10.0.9.2 >/dev/null || exit 1
vs del-fail-mode br0
until_true pings "$a" 10.0.9.3
kill -9 "${daemons[0]}"
wait "${daemons[0]}" 2>/dev/null || true
router router
until_true is 'map(.name) | join(" ")' 'br0 v1 v2 v3' ports
until_true pings "$a" 10.0.9.2
kill $ovs && wait $ovs || true
follow
vs set-controller br0 tcp:127.0.0.1:6653
is '.[0].target' tcp:127.0.0.1:6653 controllers
vs --columns=is_connected list Controller | has false

# Nothing is left of what goes.
vs del-port v3 -- del-port v2
until_true is 'map(.name) | join(" ")' 'br0 v1' ports
vs del-br br0
is length 0 ports && is length 0 bridge
echo "ok $name"
