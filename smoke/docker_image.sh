#!/usr/bin/env bash
# The OCI image, made of files alone: Docker's engine loads it, and a container of it, set up as docs/containerlab has it, routes
# between two hosts. containerlab itself has no part in it: its topology is read for what it says to type.
ENGINE_ALONE=1
. "$(dirname "$0")/lib.sh"
hosts
. "$(dirname "$0")/docker.bash"
fail() { echo "$1"; exit 1; }
(cd "$root" && PROGRAMS="$bin" OUT="$work/made" scripts/image) >"$work/image.log" 2>&1 || fail "no image was made"
tar=("$work"/made/volley-*.oci.tar)
tag=volley:$("$bin/volley" --version | cut -d ' ' -f 2)

# The layout is OCI's: every blob is what its name says, and the index leads to all of them.
mkdir "$work/layout"
tar -C "$work/layout" -xf "${tar[0]}"
(cd "$work/layout/blobs/sha256" && for blob in *; do echo "$blob  $blob"; done | sha256sum -c --quiet)
blob() { echo "$work/layout/blobs/sha256/${1#sha256:}"; }
manifest=$(blob "$(jq -r '.manifests[0].digest' "$work/layout/index.json")")
jq -e '.imageLayoutVersion == "1.0.0"' "$work/layout/oci-layout" >/dev/null
for part in "$(jq -c .config "$manifest")" "$(jq -c '.layers[0]' "$manifest")"; do
    [ "$(stat -c %s "$(blob "$(jq -r .digest <<<"$part")")")" = "$(jq .size <<<"$part")" ] || fail "another size: $part"
done

# The topology: devices are called as there, and each node types its own lines.
topology=$root/docs/containerlab/volley.clab.yml
types() { awk -v node="$1" '/^    [a-z]+:$/ { in_it = $1 == node ":" } /^      [a-z]/ { exec = $1 == "exec:" } in_it && exec && /^        - / { sub(/^ *- /, ""); print }' "$topology"; }
grep -qF "image: $tag" "$topology" || fail "the topology asks for another version than $tag"
# What it names is there: files, nodes at both ends of each wire, and a wire for each device of the router's configuration.
clab=$(dirname "$topology")
for file in $(sed -n 's/^ *- \([^: ]*\):\/.*/\1/p' "$topology"); do [ -f "$clab/$file" ] || fail "it binds $file, which is not there"; done
ends=$(sed -n 's/^ *- endpoints: \["\(.*\)", "\(.*\)"\]$/\1 \2/p' "$topology")
[ "$(wc -w <<<"$ends")" = $((2 * $(grep -c 'endpoints:' "$topology"))) ] || fail "wires without two ends: $ends"
for end in $ends; do grep -qx "    ${end%%:*}:" "$topology" || fail "a wire to no node: $end"; done
for device in $(sed -n 's/^device *= "\(.*\)"$/\1/p' "$clab/volley.toml"); do
    has -w "router:$device" <<<"$ends" || fail "no wire for the router's $device"
done
# The one for netlab, which makes such a topology of it: the same image, and what the router applies is what is made for it there.
netlab=$root/docs/netlab
grep -qF "image: $tag" "$netlab/topology.yml" || fail "netlab's topology asks for another version than $tag"
IFS=': ' read -r made place < <(sed -n '/config_templates:/,/exec:/s/^ *\([a-z.]*\): \(\/.*\)$/\1: \2/p' "$netlab/topology.yml")
[ -f "$netlab/templates/unknown/$made.j2" ] || fail "netlab would make $made of a template that is not there"
grep -qx " *- $(types router | sed "s|/[^ ]*$||")$place" "$netlab/topology.yml" || fail "netlab's router does not apply $place"
for host in "$a:1:lan" "$b:2:wan"; do
    IFS=: read -r space number node <<<"$host"
    ip -n "$r" link set "v$number" name "eth$number"
    ip -n "$space" address flush dev eth0
    ip -n "$space" link set eth0 down
    ip -n "$space" link set eth0 name eth1
    ip -n "$space" link set eth1 up
    while read -r line; do ip netns exec "$space" $line; done < <(types $node)
done
docker_says load -i "${tar[0]}" | has "$tag"
# The rights that its ports take, and no more.
docker_says run -d --name router --cap-drop ALL --cap-add NET_ADMIN --cap-add NET_RAW --cap-add IPC_LOCK --network host \
    --stop-timeout 5 -v "$root/docs/containerlab/volley.toml:/etc/volley/lab.toml:ro" "$tag" >/dev/null
until_true docker_says exec router volley show version || { docker_says logs router; exit 1; }
[ "$(docker_says exec router volley --json show ports)" = '[]' ] || fail "it has ports before it was told of any"
[ "$(types router)" = "volley config apply /etc/volley/lab.toml" ] || fail "the router types something else: $(types router)"
docker_says exec router $(types router) | has '^+ port lan'
until_true pings "$a" 198.51.100.10

# It ends when it is told to, by itself.
docker_says stop router >/dev/null
[ "$(docker_says inspect -f '{{.State.ExitCode}}' router)" = 0 ] || { docker_says logs router; fail "it had to be killed"; }
docker_says rm router >/dev/null
echo "ok $name"
