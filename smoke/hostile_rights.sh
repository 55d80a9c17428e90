#!/usr/bin/env bash
# Users of this machine who may see, change, or have files opened, each try for more: the answer is why not, nothing is
# opened, made shorter or written through a link; and the router has no more of root's capabilities than it needs.
. "$(dirname "$0")/lib.sh"
command -v setpriv >/dev/null || skip "no setpriv"
chmod 711 "$work"
install -m 755 "$bin/volley" "$work/volley"
mkdir -m 755 "$work/captures" "$work/outside" "$work/etc"
cat >"$work/etc/router.toml" <<TOML
[api]
see_group = "games"
group = "users"
files_group = "mail"
[files]
folders = ["$work/captures"]
[port.p1]
kind = "memory"
TOML
ip netns add "$r"
ip -n "$r" link set lo up
(exec ip netns exec "$r" "$bin/volleyd" --config "$work/etc/router.toml" --socket "$work/router.sock") 2>"$work/router.log" &
daemons+=($!)
ctl() { "$work/volley" --socket "$work/router.sock" "$@"; }
until_true ctl show version

# as GROUP COMMAND...: by a user who is nobody, in this group.
as() { setpriv --reuid=nobody --regid="$1" --clear-groups "$work/volley" --socket "$work/router.sock" "${@:2}"; }
# refused WHY GROUP COMMAND...
refused() {
    ! as "${@:2}" >"$work/said.log" 2>&1 || { echo "done, and should not: ${*:2}"; exit 1; }
    has -e "$1" "$work/said.log" || { echo "${*:2}: not refused for '$1'"; exit 1; }
}

refused 'in no group that may see' nogroup show ports
as games show ports | has p1
refused 'takes the right .change' games port set p1 mtu 1400
refused 'takes the right .change' games config save
as users port set p1 mtu 1400
refused 'takes the right .files' users port add rec pcap tx "$work/captures/a.pcap"
refused 'takes the right .all' mail port add rec pcap tx "$work/outside/a.pcap"
refused 'takes the right .all' mail port add rec pcap rx /etc/shadow
refused 'takes a restart' users files set folders /
refused 'takes a restart' mail files set folders /
refused 'takes the right' users port set p1 twin on netns /proc/1/ns/net
[ -z "$(find "$work/outside" "$work/captures" -type f)" ] || { echo "a file was made"; exit 1; }

# A crowd that says nothing, or half of something, of one user and of root itself, keeps out neither others nor its own.
cat >"$work/crowd.py" <<'PY'
import socket, sys, time
crowd = []
for number in range(int(sys.argv[2])):
    one = socket.socket(socket.AF_UNIX)
    one.connect(sys.argv[1])
    try:
        one.send(b"GET /v1/version HTTP/1.1\r\nHo"[: 30 * (number % 2)])
    except OSError:
        pass
    crowd.append(one)
print("there", flush=True)
time.sleep(600)
PY
setpriv --reuid=nobody --regid=games --clear-groups /usr/bin/python3 - "$work/router.sock" 80 <"$work/crowd.py" >>"$work/crowd.txt" &
daemons+=($!)
/usr/bin/python3 "$work/crowd.py" "$work/router.sock" 300 >>"$work/crowd.txt" &
daemons+=($!)
both_there() { [ "$(wc -l <"$work/crowd.txt")" = 2 ]; }
until_true both_there
timeout 20 "$work/volley" --socket "$work/router.sock" show version >"$work/said.log" 2>&1 || { echo "root is kept out"; exit 1; }
for group in games users; do timeout 20 setpriv --reuid=nobody --regid=$group --clear-groups "$work/volley" --socket "$work/router.sock" show version >/dev/null || { echo "$group is kept out"; exit 1; }; done
kill "${daemons[@]:1}"

# Below the folders, and nowhere else, by whatever name.
as mail port add rec pcap tx "$work/captures/a.pcap"
# It is written when it is closed; a capture of ours is taken again.
as mail port del rec
[ "$(head -c 4 "$work/captures/a.pcap" | xxd -p)" = 4d3cb2a1 ]
as mail port add rec pcap tx "$work/captures/a.pcap"
echo precious >"$work/outside/text"
ln -s "$work/outside/text" "$work/captures/link.pcap"
ln -s "$work/outside" "$work/captures/way"
echo precious >"$work/captures/text.pcap"
ln "$work/outside/text" "$work/captures/twice.pcap"
mkfifo "$work/captures/pipe.pcap"
for planted in link way/new text twice pipe; do
    ! as mail port add more pcap tx "$work/captures/$planted.pcap" >"$work/said.log" 2>&1 || { echo "$planted was opened"; exit 1; }
done
! as mail port add more pcap tx "$work/captures/../outside/b.pcap" >"$work/said.log" 2>&1 || { echo "it went up"; exit 1; }
# Root may name any file, and what is no capture is not made one.
! ctl port add more pcap tx "$work/outside/text" >"$work/said.log" 2>&1 || { echo "a text was overwritten"; exit 1; }
[ "$(cat "$work/outside/text" "$work/captures/text.pcap" "$work/captures/twice.pcap" | sort -u)" = precious ]
[ ! -e "$work/outside/new.pcap" ] && [ ! -e "$work/outside/b.pcap" ]
as users show ports >"$work/ports.log"
[ "$(grep -c pcap "$work/ports.log")" = 1 ]

# Sockets of machines likewise, which the router connects to again and again: one that becomes a link later is not followed.
refused 'takes the right .all' mail port add vm vhost socket "$work/outside/vm.sock" role client
ln -s "$work/router.sock" "$work/captures/vm.sock"
! as mail port add vm vhost socket "$work/captures/vm.sock" role client >"$work/said.log" 2>&1 || { echo "a link was connected to"; exit 1; }
has link "$work/said.log"
rm "$work/captures/vm.sock"
as mail port add vm vhost socket "$work/captures/vm.sock" role client
ln -s "$work/router.sock" "$work/captures/vm.sock"
not_followed() { ctl --json show ports | jq -r '.[] | select(.name == "vm").problem' | has 'it is no socket'; }
until_true not_followed
as mail port del vm
[ -L "$work/captures/vm.sock" ]

# Saving writes through no link that somebody put in the file's place.
mv "$work/etc/router.toml" "$work/etc/kept.toml"
ln -s "$work/outside/text" "$work/etc/router.toml"
! ctl config save >"$work/said.log" 2>&1 || { echo "saved through a link"; exit 1; }
has link "$work/said.log"
[ "$(cat "$work/outside/text")" = precious ]
mv "$work/etc/kept.toml" "$work/etc/router.toml"
ctl config save >/dev/null
has 'mtu = 1400' "$work/etc/router.toml" || { cat "$work/etc/router.toml"; exit 1; }

# A name cannot move a terminal's cursor.
! ctl port add $'p\e[2J' memory >"$work/said.log" 2>&1 || { echo "a name with an escape was taken"; exit 1; }
! has $'\e' "$work/said.log" || { echo "the escape was printed"; exit 1; }

# What it does not need it cannot do any more, no thread of it.
pid=$(ctl --json show process | jq .pid)
for status in /proc/"$pid"/task/*/status; do
    has '^CapBnd:	0000008000207000' "$status" && has '^CapPrm:	0000008000207000' "$status" && has '^NoNewPrivs:	1' "$status" || {
        grep -E '^(Name|Cap|NoNew)' "$status"
        echo "a thread may more"
        exit 1
    }
done
# And ports of the usual kinds come while it runs.
ip -n "$r" link add v1 type veth peer name v2
ip -n "$r" link set v1 up
ctl port add wire af_packet device v1
ctl port add tap0 tap device "t$$"
ctl port add other memif role server socket "$work/memif.sock"
has -e 'wire .* up ' <(ctl show ports)

# A router that kept what its file asks for alone says what it lacks for more, and where that is set.
printf '[process]\ncapabilities = "configured"\n[port.p1]\nkind = "memory"\n' >"$work/few.toml"
(exec ip netns exec "$r" "$bin/volleyd" --config "$work/few.toml" --socket "$work/few.sock") 2>"$work/few.log" &
daemons+=($!)
few() { "$work/volley" --socket "$work/few.sock" "$@"; }
until_true few show version
! few port add t tap device "t$$" >"$work/said.log" 2>&1 || { echo "a tap came without CAP_NET_ADMIN"; exit 1; }
has 'gave CAP_NET_ADMIN up' "$work/said.log"
has -F 'help: `[process]` in the router' "$work/said.log" || { cat "$work/said.log"; exit 1; }
echo "ok $name"
