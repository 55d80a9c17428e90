#!/usr/bin/env bash
# Docker's networks as bridges of the router, by a real engine: two networks apart, the router as gateway between two more, options
# and published ports that are refused, and nothing left when all is taken away.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/docker.bash"
fails() { ! "$@" >"$work/told" 2>&1 || { echo "this did not fail: $*"; exit 1; }; }

docker_says network create -d volley --subnet 10.77.1.0/24 red >/dev/null
docker_says network create -d volley --subnet 10.77.2.0/24 -o mtu=1400 blue >/dev/null
container r1 red
container r2 red --mac-address 02:00:00:00:00:42
container b1 blue --cap-add NET_ADMIN
until_true reaches r1 "$(address r2)"
docker_says exec r2 ip link show eth0 | has 02:00:00:00:00:42
docker_says exec b1 ip link show eth0 | has 'mtu 1400'
[ "$(json 'length' router show bridge)" = 2 ] && [ "$(json '[.[] | select(.mtu == 1400)] | length' router show ports)" = 1 ]

# Even with an address of the other network nobody hears the other network.
docker_says exec b1 ip addr add 10.77.1.99/24 dev eth0
fails reaches r1 10.77.1.99

# What cannot be is refused in words, and leaves nothing.
fails container bad red -p 8080:80
has 'port 8080:80 cannot be published' "$work/told"
docker_says rm bad >/dev/null
fails docker_says network create -d volley -o vlan=7 bad
has '`vlan` is no option of this driver' "$work/told"
fails docker_says network create -d volley -o gateway=maybe bad
[ "$(json 'length' router show bridge)" = 2 ]
[ "$(ip -n "$r" -o link | grep -c ': dk-')" = 3 ]

# Two networks whose gateway is the router reach each other through it.
docker_says network create -d volley --subnet 10.77.3.0/24 -o gateway=router east >/dev/null
docker_says network create -d volley --subnet 10.77.4.0/24 -o gateway=router west >/dev/null
container e1 east
container w1 west
until_true reaches e1 "$(address w1)"

# Who is no engine is told so.
ask() { curl -s --unix-socket "$work/plugins/volley.sock" "http://x$1" "${@:2}"; }
[ "$(ask /NetworkDriver.CreateNetwork -d '{')" != "" ] && ask /NetworkDriver.CreateNetwork -d '{' | jq -e .Err >/dev/null
ask /NetworkDriver.Dance -d '{}' -o /dev/null -w '%{http_code}' | has 404
ask /Plugin.Activate -o /dev/null -w '%{http_code}' | has 405
head -c 2000000 /dev/zero | ask /NetworkDriver.Join --data-binary @- | jq -e .Err >/dev/null
ends 1 "$bin/volley" docker-plugin --listen "$work/plugins/volley.sock" --state "$work/other.json" 2>"$work/told"
has 'a plugin answers there already' "$work/told"

docker_says rm -f r1 r2 b1 e1 w1 >/dev/null
docker_says network rm red blue east west >/dev/null
until_true all_is_gone
echo "ok $name"
