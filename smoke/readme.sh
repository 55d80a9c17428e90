#!/bin/bash
# README's samples are what the programs print: each of its commands, against a router that runs
# configs/memory-demo.toml; numbers aside.
. "$(dirname "$0")/lib.sh"
mkdir "$work/configs"
export VOLLEY_SOCKET=$work/api.sock
sed "s#/tmp/volley.sock#$VOLLEY_SOCKET#" "$root/configs/memory-demo.toml" > "$work/configs/memory-demo.toml"
cd "$work"
"$bin/volleyd" --config configs/memory-demo.toml > daemon.log 2>&1 &
daemons+=($!)
until_true "$bin/volley" show version
until_true sh -c "'$bin/volley' show nodes | grep '^port-tx .* taken'"
python3 "$root/smoke/readme.py" "$root/README.md" "$bin/volley"
# All pages are a site, with those that the program writes itself, and no link leads nowhere.
VOLLEY=$bin/volley "$root/scripts/site" >"$work/site.log" 2>&1 || { cat "$work/site.log"; exit 1; }
for page in commands:'volley capture live' configuration:peer_offloads; do
    grep -q "${page#*:}" "$root/target/site/docs/reference/${page%%:*}.html" || { echo "the site lacks $page"; exit 1; }
done
echo "ok: README's samples are what is printed"
