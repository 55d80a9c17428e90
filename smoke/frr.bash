# FRR in network namespaces, a set of daemons for each number. Sourced, never run.
frr_name() { echo "vly-$$-f$1"; }
frr_is_there() { [ -x /usr/lib/frr/zebra ] || skip "frr is missing"; }

# frr_space N: a namespace for the twins and daemons of router N.
frr_space() {
    ip netns add "$(frr_name "$1")"
    ip -n "$(frr_name "$1")" link set lo up
    mkdir -p "$work/frr$1"
    chmod 777 "$work" "$work/frr$1"
}

# frr_port NAME DEVICE ADDRESS NAMESPACE: a port with a twin.
frr_port() {
    printf '[port.%s]\nkind = "af_packet"\ndevice = "%s"\naddresses = ["%s"]\ntwin = { netns = "%s" }\n' "$@"
}

# frr_start N DAEMON…: starts daemons on $work/frrN.conf, zebra first.
frr_start() {
    local number=$1 daemon extra
    shift
    for daemon in "$@"; do
        extra=()
        [ "$daemon" = zebra ] && extra=(-M dplane_fpm_nl)
        ip netns exec "$(frr_name "$number")" "/usr/lib/frr/$daemon" -f "$work/frr$number.conf" \
            -i "$work/frr$number/$daemon.pid" -z "$work/frr$number/zserv.api" --vty_socket "$work/frr$number" \
            --log "file:$work/frr$number-$daemon.log" -P 0 "${extra[@]}" >/dev/null 2>&1 &
        daemons+=($!)
        until_true test -S "$work/frr$number/$daemon.vty"
    done
}

# frr N COMMAND…: speaks to the daemons of N.
frr() {
    local number=$1
    shift
    on "$(frr_name "$number")" vtysh --vty_socket "$work/frr$number" -c "$@" 2>/dev/null
}
frr_has() { frr "$1" "$2" | has "$3"; }
frr_kill() { kill -9 "$(cat "$work/frr$1/$2.pid")"; }
