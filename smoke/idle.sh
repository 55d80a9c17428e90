#!/usr/bin/env bash
# An idle router leaves the processor alone, however its threads are placed; two workers share a
# port's queues, and know when they were stopped; and where no device needs it, no privilege is needed either.
# Two: it measures processor time.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
# What threads named worker-… have had of a core, in microseconds.
workers_us() {
    local thread
    for thread in "/proc/$1/task/"*; do
        ! has ^worker "$thread/comm" || cat "$thread/schedstat"
    done | awk '{ us += $1 / 1000 } END { printf "%d\n", us }'
}
# Below a tenth of a core over 5 s, and all workers below a hundredth, where ports tell of packets;
# a machine that disturbs a measurement gets two more.
idles() {
    local before after workers
    for _ in 1 2 3; do
        sleep 3
        before=$(ticks "$1") workers=$(workers_us "$1")
        sleep 5
        after=$(ticks "$1") workers=$(($(workers_us "$1") - workers))
        echo "$2: $(((after - before) * 100 / (5 * $(getconf CLK_TCK)))) % of a core when idle"
        echo "$2: of it workers $((workers / 5)) millionths"
        [ $((after - before)) -ge $(($(getconf CLK_TCK) / 2)) ] || [ "$workers" -ge 50000 ] || return 0
    done
    fail "$2 is busy doing nothing"
}
for workers in 'count = 1' 'mode = "single-thread"' 'count = 2'; do
    [ "$workers" != 'count = 2' ] || [ "$(nproc)" -ge 2 ] || continue
    hosts
    two_ports af_packet | sed "s/^count = 1/$workers/" >"$work/router.toml"
    router router
    until_true pings "$a" 10.0.2.2
    on "$a" ping -q -c 200 -i 0.005 -W 2 10.0.2.2 >/dev/null
    idles "${daemons[-1]}" "$workers"
    pings "$a" 10.0.2.2 >/dev/null || fail "$workers: asleep for good"
    if [ "$workers" = 'count = 1' ]; then
        # A port that is polled keeps its worker from rest, at once and until it no longer is.
        sleeps() { json '[.[].sleeps] | add' router show workers; }
        has_rest() { local before; before=$(sleeps) && sleep 0.2 && [ "$(sleeps)" != "$before" ]; }
        polls() { ! has_rest; }
        ctl router port set p2 rx_mode polling
        until_true polls
        pings "$a" 10.0.2.2 >/dev/null || fail "polls, and forwards nothing"
        # By its word alone: a rest for each of many packets that come closer than a moment.
        for port in p1 p2; do ctl router port set "$port" rx_mode interrupt; done
        until_true has_rest
        # Beside others it finds several at once when it wakes: of three tries the best.
        for try in 1 2 3; do
            before=$(sleeps)
            on "$a" ping -q -f -c 2000 -W 5 10.0.2.2 >/dev/null || fail "packets are lost by interrupt"
            rests=$(($(sleeps) - before))
            [ $rests -lt 1500 ] || break
            [ $try -lt 3 ] || fail "$rests rests of 2000 pings"
        done
    fi
    kill "${daemons[-1]}"; wait "${daemons[-1]}" || true
    for space in "$a" "$b" "$r"; do ip netns del "$space"; done
done

# A port that waits for a machine, and one whose machine is silent.
ip netns add "$r"
end() { printf '[workers]\ncount = 1\n[memory]\nbuffers = 4096\n[port.v]\nkind = "%s"\nsocket = "%s/v"\naddresses = ["10.0.9.%s/24"]\n' $1 "$work" $2; }
end vhost 1 >"$work/host.toml"
end virtio_user 2 >"$work/machine.toml"
router host
host=${daemons[-1]}
idles "$host" "a vhost port without a machine"
router machine
until_true ctl machine ping 10.0.9.1 --count 1
idles "$host" "a vhost port with a silent machine"
until_true ctl machine ping 10.0.9.1 --count 1
for daemon in "${daemons[-1]}" "$host"; do kill "$daemon"; wait "$daemon" || true; done
ip netns del "$r"

# As nobody, without huge pages: a source of packets for ever, two queues on two workers.
frame=$(/usr/bin/python3 "$(dirname "$0")/frame.py")
cat >"$work/memory.toml" <<END
[workers]
count = $(($(nproc) < 2 ? 1 : 2))
[memory]
buffers = 8192
hugepages = "never"
[port.source]
kind = "memory"
frames = ["$frame"]
mac = "02:00:00:00:00:01"
rx_queues = 2
addresses = ["10.0.1.1/24"]
[port.sink]
kind = "memory"
addresses = ["10.0.2.1/24"]
[[neighbor]]
address = "10.0.2.2"
port = "sink"
mac = "02:00:00:00:00:02"
END
chmod 755 "$work"
mkdir -m 777 "$work/open"
install -m 644 "$work/memory.toml" "$work/open"
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
"${nobody[@]}" --bounding-set -all --no-new-privs \
    "$bin/volleyd" --config "$work/open/memory.toml" --socket "$work/open/memory.sock" 2>"$work/memory.log" &
daemons+=($!)
volley() { "$bin/volley" --socket "$work/open/memory.sock" "$@" --json; }
until_true volley show version
forwards() { volley show ports | jq -e '.[] | select(.name == "sink").tx.packets > 100000'; }
until_true forwards
all_poll() { volley show workers | jq -e 'all(.[]; .packets > 0)'; }
until_true all_poll
echo "memory as nobody: $(volley show workers | jq length) workers forward"
# Workers that have packets all the time and are stopped know that they were away, when, and for how long.
stopped=$(date +%s.%N)
kill -STOP "${daemons[-1]}"
sleep 0.3
kill -CONT "${daemons[-1]}"
knew() {
    volley show workers | jq -e --argjson stopped "$stopped" 'all(.[].stalls; .count > 0 and .longest_us > 290000 and
        any(.latest[]; .length_us > 290000 and .ended_unix_s > $stopped + 0.29 and .ended_unix_s <= now))'
}
until_true knew || { volley show workers; fail "a stall of 0.3 s was not seen"; }
kill "${daemons[-1]}"
wait "${daemons[-1]}" || fail "SIGTERM: exit code $?"

# A packet socket needs two capabilities.
hosts
two_ports af_packet >"$work/open/caps.toml"
ip netns exec "$r" "${nobody[@]}" --inh-caps=-all,+net_raw,+net_admin \
    --ambient-caps=-all,+net_raw,+net_admin --bounding-set=-all,+net_raw,+net_admin \
    "$bin/volleyd" --config "$work/open/caps.toml" --socket "$work/open/caps.sock" 2>"$work/caps.log" &
daemons+=($!)
until_true pings "$a" 10.0.2.2
echo "af_packet as nobody with net_raw and net_admin: pings"
echo "ok $name"
