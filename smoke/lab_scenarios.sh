#!/usr/bin/env bash
# Every scenario of scenarios/, in short (`volley-lab run --quick`), and whether what comes of it makes sense: lab_scenarios.py
# has what each must show, and a scenario that it does not know fails. All but functional.toml, which lab_functions.sh
# runs on more devices, and those that bear others beside them: lab_scenarios_beside.sh has them. NAME... runs only those.
# Alone: it measures rates.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work TMPDIR=$work
command -v iperf3 >/dev/null || skip "no iperf3"
python3 "$(dirname "$0")/lab_scenarios.py" "$root" "$bin/volley-lab" "$work" "$@"
! pgrep -af "$work" || { echo "something is left running"; exit 1; }
