#!/usr/bin/env bash
# What happens is told: in the log as JSON, to who asks, and to who follows, slow ones too.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
hosts
{
    two_ports af_packet
    printf '[log]\nformat = "json"\nlevel = "debug"\n'
} >"$work/router.toml"
router router
until_true pings "$a" 10.0.2.2
ctl router events --follow --last 0 >"$work/followed" 2>/dev/null &
daemons+=($!)
ctl router events --follow --json >"$work/followed.json" 2>/dev/null &
daemons+=($!)
followed() { has "$1" "$work/followed"; }
# A follower is there once it sees a refusal.
refused() { ! ctl router lookup 10.0.0.1 --vrf nowhere >/dev/null 2>&1; followed 'refused.*nowhere'; }
until_true refused

# A change, its end, and a change that nobody confirms.
ctl router route add 172.20.0.0/16 blackhole >/dev/null
until_true followed 'INFO .*committed .*changes=1 '
ctl router config rollback >/dev/null
until_true followed 'INFO .*rolled back .*to=1'
ctl router route add 172.20.0.0/16 blackhole --confirm-within 1s >/dev/null
until_true followed 'WARN .*nobody confirmed'

# A link, down and up, and a device that goes.
ip -n "$a" link set eth0 down
until_true followed 'link is down .*port=p1'
ip -n "$a" link set eth0 up
until_true followed 'link is up .*port=p1'
ip -n "$r" link del v1
until_true followed 'device is gone .*port=p1'

# The level changes while it runs.
latest() { ctl router events --last 1 --json | jq '.[0].number'; }
ctl router log set level error >/dev/null
before=$(latest)
! ctl router lookup 10.0.0.1 --vrf nowhere >/dev/null 2>&1 || fail "there is no such VRF"
[ "$(latest)" = "$before" ] || fail "more is told than was asked for"
ctl router log set level debug >/dev/null
[ "$(latest)" -gt "$before" ] || fail "less is told than was asked for"

# What is asked for is what is shown.
ctl router events --level warn | has 'device is gone'
! ctl router events --level warn | has 'committed' || fail "more than was asked for"
[ "$(ctl router events --last 3 --json | jq length)" = 3 ] || fail "not the last three"
ctl router events --last 3 --json | jq -e 'all(.number > 0 and (.time | fromdateiso8601? // true))' >/dev/null

# A follower that does not read holds nobody up.
(ctl router events --follow --json | sleep 1000) 2>/dev/null &
stuck=$!
for _ in $(seq 300); do ctl router lookup 10.0.0.1 --vrf nowhere >/dev/null 2>&1 || true; done
ctl router show version >/dev/null
pkill -P "$stuck" sleep || true

metric() { on "$r" curl -s --unix-socket "$work/router.sock" http://volley/metrics | awk -v name="$1" '$1 == name { print $2 }'; }
[ "$(metric 'volley_events_total{level="info"}')" -ge 300 ] || fail "events are not counted"
[ "$(metric volley_events_suppressed_total)" -ge 100 ] || fail "what repeats is not held back"
[ "$(metric volley_log_lines_lost_total)" = 0 ] || fail "lines are lost"
until_true has 'more suppressed' "$work/router.log"

kill "${daemons[0]}"
wait "${daemons[0]}"
# What was still suppressed is told behind it.
jq -es 'all(.level and .message and .time) and (map(.message | select(test("more suppressed") | not)) | last == "shutting down")' \
    "$work/router.log" >/dev/null || fail "the log is not JSON, or does not end as it should"
jq -es 'map(.message) | index("committed")' "$work/followed.json" >/dev/null || fail "no JSON is followed"
echo "ok $name"
