# FRR in network namespaces, a set of daemons for each number. Sourced, never run.
frr_name() { echo "vly-$$-f$1"; }
frr_is_there() { [ -x /usr/lib/frr/zebra ] || skip "frr is missing"; }

# frr_space N: a namespace for the twins and the daemons of router N.
frr_space() {
    ip netns add "$(frr_name "$1")"
    ip -n "$(frr_name "$1")" link set lo up
    on "$(frr_name "$1")" sysctl -qw net.ipv4.conf.all.rp_filter=0
    mkdir -p "$work/frr$1"
    # FRR gives its privileges up.
    chmod 755 "$work"
    chmod 777 "$work/frr$1"
}

# Wires of two leaves and two spines. Leaf N's link to spine M: lNsM at the leaf, sMlN at the spine.
fabric_wires() {
    local n m
    for n in 1 2; do
        for m in 1 2; do
            ip -n "$r" link add "l${n}s$m" type veth peer name "s${m}l$n"
            ip -n "$r" link set "l${n}s$m" up
            ip -n "$r" link set "s${m}l$n" up
        done
    done
}

# fabric_router NUMBER NAME DAEMON…: starts router NAME, whose number among `routers` is kept, and its daemons.
declare -A routers
fabric_router() {
    router "$2"
    routers[$2]=${daemons[-1]}
    disown "${daemons[-1]}"
    frr_start "$1" "${@:3}"
}

# fabric_head NUMBER: the configuration of a small router with daemons beside it.
fabric_head() {
    printf '[workers]\nmode = "single-thread"\n[memory]\nbuffers = 4096\nroutes = 10000\nip6_routes = 10000\n[fpm]\nnetns = "%s"\n' "$(frr_name "$1")"
}

# frr_port NAME DEVICE ADDRESS NAMESPACE: a port with a twin.
frr_port() {
    printf '[port.%s]\nkind = "af_packet"\ndevice = "%s"\naddresses = ["%s"]\ntwin = { netns = "%s" }\n' "$@"
}

# frr_start N DAEMON…: starts daemons, zebra first, and has them do what $work/frrN.conf says.
frr_start() {
    local number=$1 daemon extra folder=$work/frr$1
    shift
    for daemon in "$@"; do
        extra=()
        [ "$daemon" != zebra ] || extra=(-M dplane_fpm_nl)
        rm -f "$folder/$daemon.vty"
        ip netns exec "$(frr_name "$number")" "/usr/lib/frr/$daemon" -f /dev/null -i "$folder/$daemon.pid" \
            -z "$folder/zserv.api" --vty_socket "$folder" -P 0 "${extra[@]}" >"$work/$daemon$number.log" 2>&1 &
        daemons+=($!)
        # Its end is no news.
        disown $!
        until_true test -S "$folder/$daemon.vty"
    done
    on "$(frr_name "$number")" vtysh --vty_socket "$folder" -f "$work/frr$number.conf" >"$work/vtysh$number.log" 2>&1
}

# frr N COMMAND…: speaks to the daemons of N.
frr() {
    local number=$1
    shift
    on "$(frr_name "$number")" vtysh --vty_socket "$work/frr$number" -c "$@" 2>/dev/null
}

# frr_kill N: its daemons die without a word, zebra first: it would withdraw what the others told it.
frr_kill() {
    local daemon
    for daemon in zebra staticd ospfd bgpd; do kill -9 "$(cat "$work/frr$1/$daemon.pid")"; done
}
