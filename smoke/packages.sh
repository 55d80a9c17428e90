#!/usr/bin/env bash
# The packages on this machine's Debian or Ubuntu, with nothing else in it: installed with what they
# depend on, started as the unit would start it (its capabilities, nothing writable but what it names),
# set up by the commands that the default file tells, and a ping goes through, also after a new start;
# then removed, and purged.
. "$(dirname "$0")/lib.sh"
command -v debootstrap >/dev/null || skip "no debootstrap"

(cd "$root" && PROGRAMS="$bin" OUT="$work/packages" COMPRESSION="-Zgzip -z1" scripts/packages) >"$work/packages.log" 2>&1 ||
    { cat "$work/packages.log"; exit 1; }

bare=$work/bare
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
case $(. /etc/os-release && echo "$ID") in
    debian) from=http://deb.debian.org/debian components=main ;;
    ubuntu) from=http://archive.ubuntu.com/ubuntu components=main,universe ;;
    *) cannot "packages are for Debian and Ubuntu" ;;
esac
debootstrap --variant=minbase --components=$components "$suite" "$bare" "$from" >"$work/debootstrap.log" 2>&1 || skip "no $suite to be had"
mkdir "$bare/packages"
cp "$work"/packages/*.deb "$bare/packages"
# What Debian's own scripts print is of use where something fails.
apt() { DEBIAN_FRONTEND=noninteractive chroot "$bare" apt-get -y -q --no-install-recommends "$@" >"$work/apt.log" 2>&1; }
apt update
apt install $(cd "$bare" && printf '/%s ' packages/*.deb)
# The router's user, and what it may write; nobody else reads its configuration but its group.
id=$(chroot "$bare" id -u volley)
[ "$id" -gt 0 ] && [ "$(stat -c '%u %a' "$bare/etc/volley" "$bare/etc/volley/volley.toml" | xargs)" = "$id 750 $id 640" ] ||
    { ls -la "$bare/etc/volley"; echo "the router's files are not its own"; exit 1; }

# Every command has its page, and shells read the completions.
for page in man1/volley man1/volley-port-add man1/volley-show-nodes man1/volley-lab-run man8/volleyd; do
    gzip -dc "$bare/usr/share/man/$page".?.gz | has '^\.TH'
done
bash -n "$bare/usr/share/bash-completion/completions/volley"
# Wireshark finds the ports there; without a router it has none, and that is no fault.
chroot "$bare" /usr/lib/x86_64-linux-gnu/wireshark/extcap/volley-extcap --extcap-interfaces | has 'value=volley:-dropped'
"$bin/volleyd" --help | grep -oE -- '--[a-z]+' | while read -r option; do
    gzip -dc "$bare/usr/share/man/man8/volleyd.8.gz" | tr -d '\\' | has -e "$option"
done

# The archive has what the packages have.
tar -tzf "$work"/packages/volley-*.tar.gz | sed 's|^\./||; s|/$||' | sort >"$work/archive.list"
for package in "$work"/packages/*.deb; do dpkg-deb -c "$package" | awk '{ sub("^./", "", $6); sub("/$", "", $6); print $6 }'; done | sort -u >"$work/packages.list"
diff "$work/packages.list" "$work/archive.list"

# What they are made of is told: every crate of the lock file that is linked, none that tests or builds need alone, and DPDK.
bill=$bare/usr/share/doc/volley/volley.cdx.json
cmp "$bill" "$work"/packages/volley-*.cdx.json
jq -e '.bomFormat == "CycloneDX" and ([.components[]."bom-ref"] | length == (unique | length))
    and ([.dependencies[].dependsOn[]?] - [.components[]."bom-ref"] == [])
    and ([.components[].name] | contains(["volleyd", "router", "tokio", "librte-eal"]) and (index("proptest") == null))
    and all(.components[] | select(.purl | startswith("pkg:cargo/")); .licenses[0].expression != null)' "$bill" >/dev/null || { echo "the bill is wrong"; exit 1; }
(cd "$root" && cargo tree --offline --locked -p volley -p volleyd -p volley-lab -e normal --prefix none --format '{p}' 2>/dev/null) |
    awk 'NF { print $1, substr($2, 2) }' | sort -u >"$work/crates.list"
jq -r '.components[] | select(.purl | startswith("pkg:cargo/")) | "\(.name) \(.version)"' "$bill" | sort -u | diff "$work/crates.list" -

hosts
unit=$bare/usr/lib/systemd/system/volley.service
# There is no systemd in there that could have that target.
systemd-analyze verify --man=no --root="$bare" "$unit" >"$work/verify.log" 2>&1 || true
! grep -v 'sysinit.target not found' "$work/verify.log" || { echo "systemd finds fault with the unit"; exit 1; }
[ "$(sed -n 's/^\(User\|Group\)=//p' "$unit" | xargs)" = 'volley volley' ] && [ "$(sed -n 's/^CapabilityBoundingSet=//p' "$unit")" = "$(sed -n 's/^AmbientCapabilities=//p' "$unit")" ] ||
    { echo "the unit has no user of its own that may what it needs"; exit 1; }
capabilities=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
start=$(sed -n 's/^ExecStart=//p' "$unit")
# In a mount namespace of its own, which ends with the router.
cat >"$work/as-unit" <<SH
mount --bind "$bare" "$bare" && mount -o remount,bind,ro "$bare" &&
mount --bind "$bare/etc/volley" "$bare/etc/volley" && mount -o remount,bind,rw "$bare/etc/volley" &&
mount --bind "$work/run" "$bare/run" &&
mount --rbind /proc "$bare/proc" && mount --rbind /dev "$bare/dev" && mount --rbind /sys "$bare/sys" &&
exec chroot "$bare" setpriv --reuid volley --regid volley --init-groups --no-new-privs --inh-caps=-all,$capabilities \
    --ambient-caps=-all,$capabilities --bounding-set=-all,$capabilities $start
SH
mkdir -p "$work/run/volley"
chown "$id:$(chroot "$bare" id -g volley)" "$work/run/volley"
as_unit() {
    (exec ip netns exec "$r" sh "$work/as-unit") >>"$work/volleyd.log" 2>&1 &
    daemons+=($!)
    until_true volley show version
}
volley() { chroot "$bare" env VOLLEY_SOCKET=/run/volley/api.sock volley "$@"; }
ends() { kill "${daemons[-1]}"; wait "${daemons[-1]}"; unset 'daemons[-1]'; }
mount --bind "$work/run" "$bare/run"
trap 'outcome=$?; umount "$bare/run" || true; clean_up $outcome' EXIT

as_unit
[ "$(volley --json show ports | jq length)" = 0 ]
[ "$(stat -c %u "/proc/$(volley --json show version | jq .pid)")" = "$id" ] || { volley show process; echo "it runs as another user"; exit 1; }
volley port add lan af_packet device v1 addresses 10.0.1.1/24
volley port add wan af_packet device v2 addresses 10.0.2.1/24
volley config save
# What it needs is there; a device that is down is told with the command that mends it, and that mends it.
doctor() { on "$r" "$bin/volley" doctor "$bare/etc/volley/volley.toml" >"$work/doctor.log" 2>&1; }
doctor
has 'fine    port lan: v1 is up, and the kernel leaves it alone' "$work/doctor.log"
ip -n "$r" link set v1 down
! doctor || { echo "a device that is down is fine"; exit 1; }
grep -A 1 'wrong   port lan: v1 is down' "$work/doctor.log" | tail -n 1 | ip netns exec "$r" sh
doctor
until_true on "$a" ping -c 1 -W 1 10.0.2.2
ends
as_unit
until_true on "$a" ping -c 1 -W 1 10.0.2.2
ends

# Another version keeps what was set; who removes it keeps it, too; who purges it has nothing left.
apt install --reinstall $(cd "$bare" && printf '/%s' packages/volley_*.deb)
grep -q '10.0.1.1/24' "$bare/etc/volley/volley.toml"
apt remove volley volley-lab volley-doc
grep -q '10.0.1.1/24' "$bare/etc/volley/volley.toml"
apt purge volley
[ ! -e "$bare/etc/volley" ] && [ ! -e "$bare/usr/sbin/volleyd" ]
echo "ok $name"
