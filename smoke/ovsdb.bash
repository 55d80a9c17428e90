# What tests of Open vSwitch's database share: it, `volley ovs`, and three hosts. Sourced, never run.
command -v ovsdb-server >/dev/null || skip "needs ovsdb-server and ovs-vsctl (openvswitch-switch)"
bridged_hosts
printf '[workers]\ncount = 2\n[memory]\nbuffers = 8192\n' >"$work/router.toml"
router router
database() {
    ovsdb-server "$work/conf.db" --remote="punix:$work/db.sock" --unixctl="$work/db.ctl" 2>>"$work/db.log" &
    db=$!
    daemons+=($db)
    until_true vs --no-wait init
}
follow() {
    ip netns exec "$r" "$bin/volley" --socket "$work/router.sock" ovs "unix:$work/db.sock" --folder "$work" --state "$work/ovs.json" 2>>"$work/ovs.log" &
    ovs=$!
    daemons+=($ovs)
}
vs() { timeout 30 ovs-vsctl --db="unix:$work/db.sock" "$@"; }
column() { vs get "$1" "$2" "$3" | has -x -e "$4"; }
is() { json "$1" router show "${@:3}" | has -x -e "$2"; }
ovsdb-tool create "$work/conf.db" /usr/share/openvswitch/vswitch.ovsschema
database
follow

