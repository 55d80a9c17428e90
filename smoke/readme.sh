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
echo "ok: README's samples are what is printed"
