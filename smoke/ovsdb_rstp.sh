#!/usr/bin/env bash
# `rstp_enable` of Open vSwitch's database is done by us; two wires to a switch of Open vSwitch's own, of which one carries; what is
# written back is in its words.
. "$(dirname "$0")/lib.sh"
command -v ovs-vswitchd >/dev/null || skip "no ovs-vswitchd"
. "$(dirname "$0")/ovsdb.bash"
d=vly-$$-d
ip netns add "$d"
on "$d" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
for number in 4 5; do
    ip -n "$r" link add "v$number" type veth peer name "e$number" netns "$d"
    ip -n "$r" link set "v$number" up
    ip -n "$d" link set "e$number" up
done
mkdir "$work/far"
far() { timeout 30 ovs-vsctl --db="unix:$work/far/db.sock" "$@"; }
ovsdb-tool create "$work/far/conf.db" /usr/share/openvswitch/vswitch.ovsschema
ovsdb-server "$work/far/conf.db" --remote="punix:$work/far/db.sock" --unixctl="$work/far/db.ctl" 2>"$work/fardb.log" &
daemons+=($!)
until_true far --no-wait init
ip netns exec "$d" env OVS_RUNDIR="$work/far" ovs-vswitchd "unix:$work/far/db.sock" --unixctl="$work/far/switch.ctl" --disable-system 2>"$work/switch.log" &
daemons+=($!)
far add-br s0 -- set bridge s0 datapath_type=netdev rstp_enable=true other_config:rstp-priority=4096 other_config:rstp-address=02:00:00:00:00:01 \
    -- add-port s0 e4 -- add-port s0 e5
ip -n "$d" addr add 10.0.9.9/24 dev s0
ip -n "$d" link set s0 up

fails() { vs list bridge; vs list port; router_says; far list port; ctl router show errors; exit 1; }
router_says() { ctl router show spanning-tree; }
vs add-br br0 -- set bridge br0 rstp_enable=true other_config:rstp-priority=8192 other_config:rstp-address=02:00:00:00:00:02 \
    -- add-port br0 v1 -- add-port br0 v4 -- add-port br0 v5 -- set port v5 other_config:rstp-port-priority=32 other_config:rstp-port-num=9
says() { [ "$(vs get "$1" "$2" "$3")" = "\"$4\"" ] || [ "$(vs get "$1" "$2" "$3")" = "$4" ]; }
until_true says bridge br0 rstp_status:rstp_root_id 1.000.020000000001 || fails
says bridge br0 rstp_status:rstp_bridge_id 2.000.020000000002 || fails
until_true says port v4 rstp_status:rstp_port_role Root || fails
until_true says port v4 rstp_status:rstp_port_state Forwarding || fails
until_true says port v5 rstp_status:rstp_port_role Alternate || fails
says port v5 rstp_status:rstp_port_state Discarding || fails
says port v5 rstp_status:rstp_port_id 2009 || fails
until_true says port v1 rstp_status:rstp_port_state Forwarding || fails
counted() { [ "$(vs get port v4 rstp_statistics:rstp_rx_count)" -ge 2 ] && [ "$(vs get port v4 rstp_statistics:rstp_tx_count)" -ge 1 ]; }
until_true counted || fails
# The columns are those that Open vSwitch writes itself.
keys() { "$1" get "$2" "$3" rstp_status | grep -o '[a-z_]*=' | sort; }
[ "$(keys vs bridge br0)" = "$(keys far bridge s0)" ] || fails
[ "$(keys vs port v4)" = "$(keys far port e4)" ] || fails
until_true pings "$a" 10.0.9.9 || fails

# The wire that carries is cut.
ip -n "$d" link set e4 down
until_true says port v5 rstp_status:rstp_port_state Forwarding || fails
until_true pings "$a" 10.0.9.9 || fails
ip -n "$d" link set e4 up
until_true says port v5 rstp_status:rstp_port_state Discarding || fails
# The other costs less now.
vs set port v4 other_config:rstp-path-cost=200000
until_true says port v5 rstp_status:rstp_port_role Root || fails
until_true says port v4 rstp_status:rstp_port_role Alternate || fails
until_true pings "$a" 10.0.9.9 || fails
# What cannot be is told, and the bridge is as it is when it can.
vs --no-wait set bridge br0 other_config:rstp-priority=100
until_true has 'rstp-priority is 100, no multiple of 4096' "$work/ovs.log" || fails
vs set bridge br0 other_config:rstp-priority=0
until_true says bridge br0 rstp_status:rstp_root_id 0.000.020000000002 || fails
# Without a tree nothing is said of it; one wire is enough then.
vs del-port br0 v5 -- set bridge br0 rstp_enable=false
until_true says bridge br0 rstp_status '{}' || fails
until_true pings "$a" 10.0.9.9 || fails
echo "ok $name"
