#!/usr/bin/env bash
# The schedulers beside Linux's own, of a user-mode kernel: the same lines of tc and the same packets through both
# (crates/sched/tests/uml).
# Alone: what leaves in each quarter of a second is compared.
. "$(dirname "$0")/lib.sh"
cd "$root"
said=$(cargo test --quiet -p sched --test uml -- --ignored --nocapture 2>&1) || { echo "$said"; exit 1; }
if why=$(grep '^SKIPPED: ' <<<"$said"); then cannot "${why#SKIPPED: }"; fi
grep -E '^[a-z_, ]+: .*(in the same order|windows of|of them the same packets)' <<<"$said" || { echo "it compared nothing: $said"; exit 1; }
echo "ok $name"
