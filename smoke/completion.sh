#!/bin/bash
# What bash, zsh, fish and our own shell offer, typed at real terminals: commands cut short, names that the running
# router has, files where files belong, and nothing where there is no router.
. "$(dirname "$0")/lib.sh"
for shell in zsh fish; do command -v $shell >/dev/null || skip "no $shell: run make setup-tests"; done
cat >"$work/router.toml" <<END
[workers]
count = 1
[memory]
buffers = 2048
[vrf.red]
[port.dock]
kind = "memory"
[port.lan]
kind = "memory"
addresses = ["10.0.1.1/24"]
[[route]]
prefix = "198.51.100.0/24"
blackhole = true
END
ip netns add "$r"
router router
export PATH=$bin:$PATH VOLLEY_SOCKET=$work/router.sock
for shell in bash zsh fish; do volley completion $shell >"$work/completion.$shell"; done
touch "$work/some-file.toml"
python3 "$root/smoke/completion.py" "$work"
echo "ok: bash, zsh, fish and the shell complete what the router has"
