#!/usr/bin/env bash
# Containers on networks of the router, while everything is started anew: a container, the router (killed), the plugin (killed), the
# engine (told to stop, then killed). All find each other again, and nothing is left in the end.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/docker.bash"
docker_says network create -d volley --subnet 10.78.1.0/24 red >/dev/null
container r1 red
container r2 red
both() { reaches r1 "$(address r2)" && reaches r2 "$(address r1)"; }
until_true both

docker_says restart -t 1 r2 >/dev/null
until_true both
echo "a container started anew"

router_is_killed() { kill -9 "$router"; wait "$router" 2>/dev/null || true; }
router_is_killed
router router
router=${daemons[-1]}
until_true both
echo "the router was killed, and has its bridges again"

kill -9 "$plugin"
wait "$plugin" 2>/dev/null || true
plugin
both >/dev/null
container r3 red
until_true reaches r3 "$(address r1)"
# What goes while the router is away is gone when it is back.
router_is_killed
docker_says rm -f r3 >/dev/null
router router
until_true both
until_true eval '[ "$(json length router show ports)" = 2 ]'
echo "the plugin was killed, and goes on"

for how in TERM KILL; do
    engine_ends $how
    engine_starts
    docker_says network inspect red >/dev/null
    docker_says start r1 r2 >/dev/null
    until_true both
    until_true eval '[ "$(json length router show ports)" = 2 ]'
    echo "the engine ended by $how, and goes on with its network"
done

docker_says rm -f r1 r2 >/dev/null
docker_says network rm red >/dev/null
until_true all_is_gone
echo "ok $name"
