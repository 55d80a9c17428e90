# Types tasks of docs/tasks in a place of their own, which docs/tasks.md tells how to make: network namespaces, /run and /etc that nobody else
# sees and that go with it, so that what is typed is what stands on the pages, paths included. Sourced, never run, after lib.sh; or run by
# itself inside of that place.
tour() {
    local page
    for page; do
        mkdir -p "$work/$page"
        (
            cd "$work/$page"
            exec unshare --net --mount --pid --fork --kill-child --mount-proc \
                env "PATH=$bin:$PATH" bash "$root/smoke/tour.bash" "$root/docs" "tasks/$page.md"
        ) >"$work/$page.said" 2>&1 &
        daemons=($!)
        wait $! || { cat "$work/$page.said"; exit 1; }
        cat "$work/$page.said"
    done
    daemons=()
}

if [ "$0" = "${BASH_SOURCE[0]}" ]; then
    set -euo pipefail
    smoke=$(realpath "$(dirname "$0")")
    mkdir over
    mount -t tmpfs tmpfs over
    mkdir over/{etc,etc.work}
    mount -t overlay overlay -o "lowerdir=/etc,upperdir=over/etc,workdir=over/etc.work" /etc
    mount -t tmpfs tmpfs /run
    mount -t tmpfs tmpfs /var/tmp
    # As the package volley-doc has it.
    mount -t tmpfs tmpfs /usr/share/doc
    mkdir /usr/share/doc/volley-doc
    ln -s "$1" /usr/share/doc/volley-doc/docs
    # As the package of FRR makes it when the machine starts.
    ! getent passwd frr >/dev/null || install -d -o frr -g frr /run/frr
    bash -e <(sed -n '/^```sh$/,/^```$/p' "$1/tasks.md" | grep -v '^```')
    exec ip netns exec router python3 "$smoke/tour.py" "$1/$2"
fi
