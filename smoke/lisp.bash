# Sites of LISP, each a router of its own, and the core between them, which is their map server. Sourced, never run.
fail() { echo "$1"; for one in west east north core; do ctl $one show lisp; ctl $one show lisp-cache; ctl $one show errors; done 2>/dev/null; exit 1; }

# Hosts a, b and c behind west, east and north, wires from those to the core; all in the router's namespace.
lisp_wires() {
    local host number wire
    ip netns add "$r"
    ip -n "$r" link set lo up
    for host in "$a:1:1" "$b:2:2" "$c:3:2"; do
        number=$(cut -d: -f2 <<<"$host") network=${host##*:} host=${host%%:*}
        ip netns add "$host"
        ip -n "$host" link set lo up
        ip -n "$r" link add "v$number" type veth peer name eth0 netns "$host"
        ip -n "$host" addr add "10.$network.0.2/24" dev eth0
        ip -n "$host" addr add "2001:db8:b$network::2/64" dev eth0 nodad
        ip -n "$host" link set eth0 up
        ip -n "$host" route add default via "10.$network.0.1"
        ip -n "$host" -6 route add default via "2001:db8:b$network::1"
        on "$host" ethtool -K eth0 tx off gso off tso off gro off >/dev/null
    done
    for wire in w e n; do ip -n "$r" link add "${wire}0" type veth peer name "${wire}1"; done
    for wire in v1 v2 v3 w0 w1 e0 e1 n0 n1; do
        on "$r" sysctl -qw "net.ipv6.conf.$wire.disable_ipv6=1"
        ip -n "$r" link set "$wire" up
    done
}

lisp_head() { printf '[workers]\nmode = "single-thread"\n[memory]\nbuffers = 4096\nroutes = 10000\nip6_routes = 10000\n'; }

# site NAME NUMBER NETWORK KEY: the router of a site. Its locator of IPv4 is 192.0.2.2, .6 or .10.
site() {
    local own=$(($2 * 4 - 2)) core=$(($2 * 4 - 3)) wire=${1:0:1}
    {
        lisp_head
        cat <<TOML
[port.lan]
kind = "af_packet"
device = "v$2"
addresses = ["10.$3.0.1/24", "2001:db8:b$3::1/64"]
[port.wan]
kind = "af_packet"
device = "${wire}0"
mtu = 1500
addresses = ["192.0.2.$own/30", "2001:db8:$2::2/64"]
[port.sites]
kind = "lisp"
locators = ["192.0.2.$own", { address = "2001:db8:$2::2", priority = 2 }]
[lisp]
map_resolvers = ["192.0.2.$core"]
[[lisp_server]]
address = "192.0.2.$core"
key = "$4"
[[lisp_eid]]
prefix = "10.$3.0.0/16"
port = "sites"
[[lisp_eid]]
prefix = "2001:db8:b$3::/48"
port = "sites"
TOML
        for network in 10.0.0.0/8 2001:db8:b0::/44; do printf '[[route]]\nprefix = "%s"\nport = "sites"\n' $network; done
        for number in 1 2 3; do
            [ $number = $2 ] && continue
            printf '[[route]]\nprefix = "192.0.2.%s/30"\nvia = "192.0.2.%s"\n' $((number * 4 - 4)) $core
            printf '[[route]]\nprefix = "2001:db8:%s::/64"\nvia = "2001:db8:%s::1"\n' $number $2
        done
    } >"$work/$1.toml"
}

# core EXTRA: the core's router; EXTRA stands in each site's section.
core() {
    local number=0 wire
    {
        lisp_head
        for wire in w e n; do
            number=$((number + 1))
            printf '[port.%s]\nkind = "af_packet"\ndevice = "%s1"\naddresses = ["192.0.2.%s/30", "2001:db8:%s::1/64"]\n' $wire $wire $((number * 4 - 3)) $number
        done
        printf '[lisp]\nmap_server = true\n[lisp_site.west]\nkey = "secret-w"\neids = ["10.1.0.0/16", "2001:db8:b1::/48"]\n%s\n' "$1"
        printf '[lisp_site.east]\nkey = "secret-e"\neids = ["10.2.0.0/16", "2001:db8:b2::/48"]\n%s\n' "$1"
    } >"$work/core.toml"
}

# state NAME STATE: whether a site's map server stands so to it.
state() { json '.registrations[].state' "$1" show lisp | has "^$2$"; }
