# A Docker engine of the test's own, in the router's network namespace: its processes, mounts, images and plugins are of
# namespaces that go with it, and nothing of the host's engine is touched. Sourced, never run, after lib.sh.
for program in dockerd docker busybox; do
    command -v $program >/dev/null || skip "$program is missing: make setup"
done
grep -qw cgroup2\\\|cgroup /proc/filesystems || skip "this kernel has no control groups"
engine=
mkdir -p "$work"/{plugins,image}

engine_starts() {
    # Not by `ip netns exec`, which mounts a /sys without control groups.
    nsenter --net="/run/netns/$r" unshare --mount --pid --fork --kill-child --mount-proc sh -c "
        mkdir -p /run/docker && mount -t tmpfs tmpfs /run/docker && mkdir /run/docker/plugins &&
        mount --bind '$work/plugins' /run/docker/plugins &&
        exec dockerd --data-root '$work/data' --exec-root '$work/exec' --pidfile '$work/docker.pid' -H 'unix://$work/docker.sock' \
            --iptables=false --ip6tables=false --bridge=none --ip-forward=false --userland-proxy=false \
            --shutdown-timeout 2 --cgroup-parent volley-smoke-$$" >>"$work/engine.log" 2>&1 &
    until_true docker_says info
    engine=$(pgrep -P $!)
    daemons+=("$engine")
}
# As it is told to, or as a crash does it.
engine_ends() {
    kill "-$1" "$engine"
    until_true eval "! kill -0 $engine 2>/dev/null"
    # The next one numbers its processes anew: what has this containerd's number then is taken for it, and none is started.
    rm -f "$work/docker.pid" "$work/docker.sock" "$work/exec/containerd/containerd.pid"
}
# The engine's own client: another's may speak another version of its API.
client=/usr/bin/docker
[ -x $client ] || client=docker
docker_says() { $client -H "unix://$work/docker.sock" "$@"; }
engine_is_tidied() {
    local outcome=$?
    [ -z "$engine" ] || { kill "$engine" 2>/dev/null && until_true eval "! kill -0 $engine 2>/dev/null"; } || true
    find /sys/fs/cgroup -depth -type d -path "*/volley-smoke-$$*" -exec rmdir {} + 2>/dev/null || true
    clean_up $outcome
}
trap engine_is_tidied EXIT

# An image of this host's busybox, and of nothing else.
image() {
    local file
    mkdir -p "$work"/image/{bin,proc,sys,dev,etc,tmp}
    cp "$(type -P busybox)" "$work/image/bin/busybox"
    for file in $(ldd "$(type -P busybox)" | grep -o '/[^ :]*' | sort -u); do
        mkdir -p "$work/image${file%/*}" && cp -L "$file" "$work/image$file"
    done
    for file in sh ping ip sleep; do ln -s busybox "$work/image/bin/$file"; done
    tar -C "$work/image" -c . | docker_says import - volley-smoke >/dev/null
}

# plugin: starts ours, and waits until it listens.
plugin() {
    nsenter --net="/run/netns/$r" "$bin/volley" --socket "$work/router.sock" docker-plugin \
        --listen "$work/plugins/volley.sock" --state "$work/state/docker.json" 2>>"$work/plugin.log" &
    plugin=$!
    daemons+=($plugin)
    # A dead one's socket is there, too.
    until_true curl -sf --unix-socket "$work/plugins/volley.sock" http://x/Plugin.Activate -d ""
}

# container NAME NETWORK OPTIONS…
container() {
    docker_says run -d --stop-timeout 1 --name "$1" --network "$2" "${@:3}" volley-smoke sleep 1000000 >/dev/null
}
address() { docker_says inspect -f "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}" "$1"; }
reaches() { docker_says exec "$1" ping -q -c 2 -W 1 "$2"; }
# Nothing in the router, nothing in the kernel, nothing written down.
all_is_gone() {
    [ "$(json 'length' router show bridge)" = 0 ] && [ "$(json 'length' router show ports)" = 0 ] &&
        ! ip -n "$r" -o link | has ': d[kcg]-' && [ "$(jq -c '[.networks, .endpoints, .doomed | length] | add' "$work/state/docker.json")" = 0 ]
}

if [ ! -e "/run/netns/$r" ]; then
    ip netns add "$r"
    ip -n "$r" link set lo up
fi
# ENGINE_ALONE: without a router, its plugin, and an image for containers on its networks.
if [ -z "${ENGINE_ALONE:-}" ]; then
    printf '[workers]\ncount = 1\n[memory]\nbuffers = 8192\n' >"$work/router.toml"
    router router
    router=${daemons[-1]}
    plugin
fi
engine_starts
[ -n "${ENGINE_ALONE:-}" ] || image
