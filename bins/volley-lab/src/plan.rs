//! `volley-lab plan SCENARIO`: what it would take, and what a shorter campaign would lose.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use lab_trial::plan::Plan;
use lab_trial::{dut, scenario_file};

use crate::bench::Devices;
use crate::budget::Budget;
use crate::say::say;
use crate::shorter::Shorter;
use crate::{Failure, shorter};

/// Cases, starts and hours, by the same searches on simulated devices; nothing is started.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The scenario
    #[arg(value_hint = ValueHint::FilePath)]
    scenario: PathBuf,
    #[command(flatten)]
    devices: Devices,
    /// Starts of each device; the scenario's own unless said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    restarts: Option<u32>,
    #[command(flatten)]
    shorter: Shorter,
    #[command(flatten)]
    budget: Budget,
}

/// Says it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut scenario = scenario_file::load(&arguments.scenario)?;
    let cut = arguments.shorter.cut().apply(&mut scenario);
    arguments.shorter.part_of(&mut scenario)?;
    let Devices { devices } = &arguments.devices;
    for name in devices {
        dut::named(name)?;
    }
    let budget = arguments.budget.time();
    if let Some(budget) = budget {
        let plan = Plan::of(&scenario, devices.len(), 1);
        say!("{}: {}", scenario.name.get_ref(), scenario.title);
        shorter::tell(&cut);
        say!("{}", line(&plan));
        say!("{}", spent(&plan, budget));
        return Ok(());
    }
    let restarts = arguments.restarts.unwrap_or(scenario.campaign.restarts).max(1);
    let plan = Plan::of(&scenario, devices.len(), restarts);
    say!("{}: {}", scenario.name.get_ref(), scenario.title);
    shorter::tell(&cut);
    say!("{}", line(&plan));
    if let Some(minutes) = scenario.campaign.minutes.filter(|minutes| *minutes > 0.0) {
        say!(
            "The scenario has {minutes} minutes: then no further start is begun, and searches are cut to \
             their share of it. --minutes 0 lets it take as long as it takes."
        );
    }
    losing(&plan).iter().for_each(|told| say!("{told}"));
    Ok(())
}

/// A plan in a line.
pub(crate) fn line(plan: &Plan) -> String {
    let time = plan.seconds().map_or_else(
        || "as long as the device takes entries".to_owned(),
        |seconds| format!("about {}", time(seconds)),
    );
    format!(
        "{} cases on {} devices, {} times each: {} searches, {time}",
        plan.cases,
        plan.devices,
        plan.restarts,
        plan.searches()
    )
}

/// What a budget is spent on, by the plan of a first start of everything.
pub(crate) fn spent(plan: &Plan, budget: Duration) -> String {
    let whole = time(budget.as_secs_f64());
    let Some(once_s) = plan.seconds().filter(|once_s| *once_s > 0.0) else {
        return format!(
            "Budget of {whole}: each case once, then again where intervals are widest."
        );
    };
    let (once, left_s) = (time(once_s), budget.as_secs_f64() - once_s);
    if left_s < 0.0 {
        return format!(
            "Budget of {whole}: less than a first start of everything takes, about {once}. Its searches are \
             cut to their share, and there will be no intervals: fewer --points or --devices make room."
        );
    }
    let starts = plan.starts * plan.devices;
    let more = (left_s / once_s * starts as f64) as usize;
    let told = match more / starts.max(1) {
        0 | 1 => {
            "the fewest starts first; some or all will have fewer than three, and so no interval"
        }
        _ => "first until everything has three and so an interval, then where intervals are widest",
    };
    format!(
        "Budget of {whole}: a first start of everything takes about {once}, then there is time for about \
         {more} more starts of one device and case, {told}."
    )
}

/// What can be left out, what is left then, and what that loses.
fn losing(plan: &Plan) -> Vec<String> {
    let mut told = Vec::new();
    let seconds = |plan: &Plan| plan.seconds().map_or_else(|| "shorter".into(), time);
    if plan.restarts > 3 {
        let loses = "intervals are wider, as many of them as there were";
        told.push(format!("--restarts 3: {}; {loses}", seconds(&plan.with_restarts(3))));
    }
    if plan.restarts > 1 {
        let loses = "no interval, brackets alone: what a restart changes is not seen";
        told.push(format!("--restarts 1: {}; {loses}", seconds(&plan.with_restarts(1))));
    }
    if let (Some((axis, values)), Some(all_s)) = (plan.longest_axis, plan.seconds()) {
        let half = values.div_ceil(2);
        let left = time(all_s * half as f64 / values as f64);
        told.push(format!(
            "{half} of the {values} values of {axis} (in the scenario): {left}; a change between two \
             values is placed half as well"
        ));
    }
    told
}

/// Seconds in words.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7_200.0 => format!("{:.0} minutes", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} hours", s / 3_600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_says_what_there_is_time_for() {
        let plan = |case_s| Plan {
            cases: 2,
            devices: 2,
            restarts: 1,
            starts: 2,
            case_s: Some(case_s),
            longest_axis: None,
        };
        let told = |case_s, minutes: u64| spent(&plan(case_s), Duration::from_secs(60 * minutes));
        // 4 searches of 58 s, and 4 starts of 2 s: 4 minutes.
        let long = told(58.0, 30);
        assert!(long.contains("about 4 minutes, then there is time for about 26 more"), "{long}");
        assert!(long.contains("where intervals are widest"), "{long}");
        assert!(told(58.0, 7).contains("fewer than three"));
        assert!(told(58.0, 3).contains("less than a first start of everything takes"));
    }

    #[test]
    fn a_long_plan_says_what_a_shorter_one_would_lose() {
        let longest_axis = Some(("entries", 50));
        let case_s = Some(600.0);
        let plan = Plan { cases: 50, devices: 4, restarts: 5, starts: 50, case_s, longest_axis };
        assert_eq!(
            line(&plan),
            "50 cases on 4 devices, 5 times each: 1000 searches, about 7.0 days"
        );
        let told = losing(&plan);
        assert!(told[0].starts_with("--restarts 3: 4.2 days; intervals are wider"), "{told:?}");
        assert!(told[1].starts_with("--restarts 1: 33.4 hours; no interval"), "{told:?}");
        assert!(
            told[2].starts_with("25 of the 50 values of entries (in the scenario): 3.5 days"),
            "{told:?}"
        );
        assert_eq!([time(59.0), time(3_600.0)], ["59 s", "60 minutes"]);
    }
}
