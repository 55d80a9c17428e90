#!/usr/bin/env bash
# What docs/tasks says of a router that runs, typed: shaping, access lists, drops, changes, Prometheus.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tour.bash"
tour shaping access-list drops changes prometheus
echo "ok $name"
