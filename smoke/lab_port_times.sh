#!/usr/bin/env bash
# Latencies by the time at which the port received each packet: the kernel's, mapped to the generator's clock. Of the
# same packets none came before it was sent, and none after the receiver had it, within what the map says of itself.
# Two: it measures delays.
. "$(dirname "$0")/lib.sh"
ip netns add "$r"
lab_link
traffic() { on "$r" "$bin/volley-lab" traffic "$@"; }

traffic af_packet:g0 af_packet:g1 --rate 4kpps --packets 4000 --seconds 2 --arrivals poisson \
    --timestamps port --out "$work/port.json" >"$work/port.txt"
so() { jq -e "$2" "$work/$1.json" >/dev/null || { echo "not so: $2"; cat "$work/$1.txt"; exit 1; }; }
so port '.latency_clock == "port" and (.ends[1].port_times.clock == "realtime")'
so port '.streams[0] | .offered == 4000 and .sequence.unique == 4000 and ([.latency.buckets[][1]] | add) == 4000'
# Every packet had a time, and as many are told by the generator's clock.
so port '.ends[1].port_times | .unstamped == 0 and ([.software_latency.buckets[][1]] | add) == 4000'
# The clocks are known to each other, and no packet contradicts that.
so port '.ends[1].port_times.fit | .readings > 10 and .uncertainty_ns > 0 and .ticks_per_s > 0.999e9 and .ticks_per_s < 1.001e9'
so port '.ends[1].port_times | .before_sent_ns <= .fit.uncertainty_ns and .after_seen_ns <= .fit.uncertainty_ns'
# The receiver's own way is no longer in it.
so port '.streams[0].latency.sum_ns <= .ends[1].port_times.software_latency.sum_ns + 4000 * .ends[1].port_times.fit.uncertainty_ns'

traffic af_packet:g0 af_packet:g1 --rate 1kpps --packets 100 --seconds 1 --out "$work/own.json" >"$work/own.txt"
so own '.latency_clock == "processor" and (.ends[1] | has("port_times") | not)'

# refused PORT…: at the start, with the reason.
refused() {
    if traffic "$@" --timestamps port >"$work/refused.txt" 2>&1; then echo "$* was not refused"; exit 1; fi
    has "$reason" "$work/refused.txt" || { cat "$work/refused.txt"; exit 1; }
}
reason='its driver offers no time stamps' refused ring
reason='no ports that could tell the time' refused memory
within=$(jq '.ends[1].port_times.fit.uncertainty_ns | round' "$work/port.json")
echo "ok $name: within $within ns"
