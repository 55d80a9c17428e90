#!/usr/bin/env bash
# Front ends of a vhost port that keep no rule: the router lives, other ports lose nothing, what was done is told and counted,
# and an honest one that comes afterwards is served.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
is_up() { [ "$(json ".[] | select(.name == \"$2\").link_up" "$1" show ports)" = true ]; }
hosts
{
    two_ports af_packet
    cat <<END
[port.v0]
kind = "vhost"
socket = "$work/vhost"
addresses = ["10.0.9.1/24"]
[port.v1]
kind = "vhost"
socket = "$work/machine"
role = "client"
addresses = ["10.0.8.1/24"]
[[neighbor]]
address = "10.0.9.9"
port = "v0"
mac = "06:00:00:00:00:09"
END
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
# Not through `on`: see router.
ip netns exec "$a" ping -i 0.01 10.0.2.2 >"$work/pings" 2>&1 &
pinging=$!
# What goes to the port meanwhile: nobody answers it.
ip netns exec "$a" ping -q -i 0.002 -s 1000 10.0.9.9 >/dev/null 2>&1 &
daemons+=($!)
timeout 300 python3 "$root/smoke/hostile_vhost.py" "$work/vhost" "${ROUNDS:-60}" || fail "the hostile front end did not do its part"
# One that makes the socket; then what is none, at which the router goes on knocking.
timeout 120 python3 "$root/smoke/hostile_vhost.py" "$work/machine" 1 listen || fail "the hostile front end that listens did not do its part"
rm "$work/machine"
for other in mkdir touch mkfifo "ln -s $work/router.sock"; do
    $other "$work/machine"
    says() { json '.[] | select(.name == "v1").problem' router show ports | has "$work/machine cannot be connected to, and is tried again: it is no socket"; }
    until_true says || fail "what is no socket is not told of"
    rm -rf "$work/machine"
done
kill -0 "${daemons[0]}" 2>/dev/null || fail "the router died"
until_true pings "$a" 10.0.2.2
kill -INT $pinging; wait $pinging || true
all_answered "$work/pings" || { tail -n 3 "$work/pings"; fail "other ports lost packets"; }
[ "$(json '[.[] | select(.counter == "rx_errors").value] | add' router show device-counters --port v0)" -gt 0 ] || fail "no frame was wrong"
[ "$(json '[.[] | select(.fields.fault == "vhost-peer")] | length' router events --last 512)" -gt 0 ] || fail "no event tells of it"
# An honest one: a second router.
cat >"$work/honest.toml" <<END
[port.link]
kind = "virtio_user"
socket = "$work/vhost"
addresses = ["10.0.9.2/24"]
END
router honest
until_true is_up router v0
until_true is_up honest link
until_true ctl honest ping 10.0.9.1 --count 1
echo "ok $name"
