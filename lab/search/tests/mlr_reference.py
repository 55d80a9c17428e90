"""Runs the published MLRsearch implementation on devices read from standard input.

One JSON object a line in (search configuration and a simulated device), one a line out: the trials
that the search asked for and its answers. The device below and the one in `mlr_parity.rs` are the
same arithmetic, so that only the searches can differ.
"""

import json
import math
import sys

from MLRsearch import AbstractMeasurer, Config, MeasurementResult
from MLRsearch import MultipleLossRatioSearch, SearchGoal

MASK = (1 << 64) - 1


def uniform(seed, index):
    """The index-th number of a SplitMix64 sequence, in [0, 1)."""
    word = (seed + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    word ^= word >> 31
    return (word >> 11) * 2.0**-53


class Device(AbstractMeasurer):
    """Capacity with noise, stalls, a base loss, a generator's ceiling."""

    def __init__(self, case):
        self.case = case
        self.trials = []

    def measure(self, intended_duration, intended_load):
        case, index = self.case, len(self.trials)
        noise = uniform(case["seed"], 2 * index)
        luck = uniform(case["seed"], 2 * index + 1)
        intended = math.floor(intended_load * intended_duration + 0.5)
        offered = min(intended, math.floor(case["ceiling_pps"] * intended_duration))
        capacity = case["capacity_pps"] * (1.0 + case["noise"] * (2.0 * noise - 1.0))
        received = min(offered, math.floor(capacity * intended_duration))
        if luck < case["stalls_per_s"] * intended_duration:
            received -= math.floor(offered * case["stall_share"])
        received = max(0, received - math.floor(offered * case["base_loss"]))
        self.trials.append([intended_load, intended_duration])
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            intended_count=intended,
            offered_count=offered,
            forwarding_count=received,
            duration_with_overheads=intended_duration + case["overhead_s"],
        )


def throughput(result):
    """Conditional throughput; none where a rounding error in the sum of durations makes it raise."""
    try:
        found = result.conditional_throughput
    except RuntimeError:
        return None
    return None if found is None else float(found)


def search(case):
    """One search; its trials, its answers, and the kind of its failure if it failed."""
    goals = [
        SearchGoal(
            loss_ratio=goal["loss_ratio"],
            exceed_ratio=goal["exceed_ratio"],
            relative_width=goal["relative_width"],
            initial_trial_duration=goal["initial_trial_s"],
            final_trial_duration=goal["final_trial_s"],
            duration_sum=goal["duration_sum_s"],
            preceding_targets=goal["preceding_targets"],
            expansion_coefficient=goal["expansion"],
            fail_fast=goal["fail_fast"],
        )
        for goal in case["goals"]
    ]
    config = Config()
    config.goals = goals
    config.max_load = 1e12
    config.min_load = case["min_pps"]
    config.max_load = case["max_pps"]
    config.search_duration_max = 1e9
    config.warmup_duration = case["warmup_s"]
    device = Device(case)
    answers, failure = [], None
    try:
        found = MultipleLossRatioSearch(config=config).search(device, debug=lambda _: None)
        for goal in goals:
            result = found[goal]
            bounds = (result.relevant_lower_bound, result.relevant_upper_bound)
            bounds = [None if x is None else float(x) for x in bounds]
            answers.append([*bounds, throughput(result)])
    except RuntimeError as error:
        failure = str(error).split(":")[0]
    return {"trials": device.trials, "answers": answers, "failure": failure}


for line in sys.stdin:
    print(json.dumps(search(json.loads(line))), flush=True)
