# A Linux of user mode beside the router, for what the kernel here may lack. Sourced after lib.sh.
#
#   volleyd ── ut0, ut1 … (taps in the router's namespace) ── vec0, vec1 … of the other Linux
kernel=/usr/bin/linux.uml
modules=/usr/lib/uml/modules

# uml_taps COUNT: the wires. The router's ports are packet sockets on them.
uml_taps() {
    local number
    [ -x $kernel ] && [ -d $modules ] || skip "user-mode-linux is missing"
    # It sets its programs' registers by ptrace, and knows none of AMX: the host's kernel refuses that (EFAULT).
    ! has -w amx_tile /proc/cpuinfo || cannot "user-mode Linux 6.1 does not run on processors with AMX"
    for ((number = 0; number < $1; number++)); do
        on "$r" ip tuntap add "ut$number" mode tap || skip "no tap devices"
        on "$r" sysctl -qw "net.ipv6.conf.ut$number.disable_ipv6=1"
        ip -n "$r" link set "ut$number" mtu 1600 up
    done
}

# uml COUNT "MODULES": starts it with so many wires; what it does comes from standard input. What that writes goes to
# uml.txt, and `uml_done` says that it is through; then it waits for `uml_stop`.
uml() {
    local number devices=()
    for ((number = 0; number < $1; number++)); do
        devices+=("vec$number:transport=tap,ifname=ut$number,depth=64,mtu=1600")
    done
    mkdir "$work/lib"
    ln -s $modules "$work/lib/modules"
    cat >"$work/init.sh" <<INIT
#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sys /sys
export PATH=/usr/sbin:/usr/bin:/sbin:/bin work="$work"
for module in $2; do modprobe -d "$work" \$module; done
sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip link set lo up
for number in $(seq -s ' ' 0 $(($1 - 1))); do ethtool -K vec\$number tx off sg off tso off gso off gro off; done
# Turns IPv6 on at a device, with an address.
six() { echo 0 >/proc/sys/net/ipv6/conf/\$1/disable_ipv6; ip addr add \$2 dev \$1 nodad; }
# Pings until it is answered.
try() { for turn in 1 2 3 4 5 6 7 8; do ping -q -c 2 -i 0.2 -W 1 "\$@" && return 0; done; return 1; }
# What the other side says: a file that it makes.
until_there() { while [ ! -e "$work/\$1" ]; do sleep 0.1; done; }
{
$(cat)
} >"$work/uml.txt" 2>&1
echo done >"$work/done"
until_there stop
echo o >/proc/sysrq-trigger
sleep 10
INIT
    chmod 755 "$work/init.sh"
    ip netns exec "$r" $kernel rootfstype=hostfs rootflags=/ rw mem=192M con=null con0=fd:0,fd:1 \
        "init=$work/init.sh" "${devices[@]}" </dev/null >"$work/console.log" 2>&1 &
    daemons+=($!)
}
uml_done() { until_true test -e "$work/done" || uml_fails; }
uml_stop() { touch "$work/stop"; }
uml_fails() {
    cat "$work/uml.txt" "$work/console.log"
    ctl router show errors
    ctl router show ports
    exit 1
}
