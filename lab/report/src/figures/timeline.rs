//! A campaign in order of time: each trial a bar at its load, stalls and spikes above.
//!
//! ```text
//! stalls  ▏  ▏▏      ▏
//!         ━━                       ━ no loss   ━ below 0.5 %   ━ more
//!   load     ━━  ━━ ━━━━ ━━━━
//!         ──────────────────── time
//! ```

use lab_record::TrialRecord;

use super::loss::start;
use crate::svg::scale::Unit;
use crate::svg::{Anchor, Plot, Scale};

const CLASSES: [(f64, &str, &str); 3] =
    [(0.0, "#009e73", "no loss"), (0.005, "#e69f00", "at most 0.5 %"), (1.0, "#d55e00", "more")];

/// Draws the trials of one subject; none of none.
pub fn draw(trials: &[&TrialRecord]) -> Option<String> {
    let start_s = trials.first()?.at_s;
    let end = |trial: &&TrialRecord| trial.at_s + trial.outcome.elapsed_s - start_s;
    let length_s = trials.iter().map(end).fold(0.0, f64::max);
    let most_pps = trials.iter().map(|trial| trial.outcome.trial.load_pps).fold(0.0, f64::max);
    let x = Scale::linear(0.0, length_s, Unit::Plain);
    let least_pps =
        trials.iter().map(|trial| trial.outcome.trial.load_pps).fold(most_pps, f64::min);
    let y = Scale::linear(start(least_pps, most_pps), most_pps, Unit::Count);
    let mut plot = Plot::new(340.0, (x, "time, s"), (y, "offered load, packets per second"));
    for trial in trials {
        let loss = trial.outcome.loss_ratio();
        let class = CLASSES.iter().find(|class| loss <= class.0).unwrap_or(&CLASSES[2]);
        let from = plot.x(trial.at_s - start_s);
        let to = plot.x(trial.at_s - start_s + trial.outcome.trial.duration_s);
        let y = plot.y(trial.outcome.trial.load_pps);
        let style = format!(r#"fill="{}""#, class.1);
        plot.canvas.rect((from, y - 2.5), ((to - from).max(1.8), 5.0), &style);
    }
    disturbances(&mut plot, trials, start_s);
    let mut x = plot.area.0 + 4.0;
    for (_, colour, name) in CLASSES {
        plot.canvas.rect((x, 11.5), (14.0, 5.0), &format!(r#"fill="{colour}""#));
        plot.canvas.text((x + 19.0, 18.0), Anchor::Start, "label", name);
        x += 19.0 + 7.0 * name.len() as f64 + 14.0;
    }
    let stalls = trials.iter().flat_map(|trial| &trial.stalls);
    let (device, lab): (Vec<_>, Vec<_>) = stalls.partition(|stall| stall.is_of_the_device());
    let spikes = trials.iter().map(|trial| trial.spikes.len()).sum::<usize>();
    let (device, lab) = (device.len(), lab.len());
    plot.note(&format!(
        "│ {lab} stalls of the lab (grey), {device} of the device (blue)   ▾ {spikes} latency spikes"
    ));
    Some(plot.canvas.finish("Offered load of each trial over time, with stalls and spikes"))
}

fn disturbances(plot: &mut Plot, trials: &[&TrialRecord], start_s: f64) {
    let top = plot.area.1;
    for trial in trials {
        let begin = trial.at_s - start_s;
        for stall in &trial.stalls {
            let x = plot.x(begin + stall.at_s);
            // Taller for longer ones, a decade a step from 10 us on.
            let height = 4.0 + 5.0 * (stall.length_us / 10.0).max(1.0).log10();
            let colour = if stall.is_of_the_device() { "#0072b2" } else { "#444" };
            let style = format!(r#"stroke="{colour}" stroke-width="1" stroke-opacity="0.7""#);
            plot.canvas.line((x, top), (x, top + height), &style);
        }
        for spike in &trial.spikes {
            let x = plot.x(begin + spike.at_s);
            let corners = [(x - 2.5, top - 5.0), (x + 2.5, top - 5.0), (x, top)];
            plot.canvas.polygon(&corners, r##"fill="#cc79a7""##);
        }
    }
}
