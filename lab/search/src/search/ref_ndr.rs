//! Whether an NDR is still what it was: a few trials at the ends of a reference, in place of a
//! search.
//!
//! ```text
//!               reference
//!          low ├─────────┤ high
//! carries          no                  lower: then down a ladder until it carries
//! carries    yes         no            holds
//! carries    yes        yes            higher
//! no telling at low                    undecided
//! ```
//! A load is carried where most trials meet the goal, as for an MLRsearch. Trials that missed it by
//! no fault of the device (unsent, the host away) count for neither; after so many trials without a
//! majority nobody can tell. The ends are the reference's with what starts differ by: one start of
//! an unchanged device lies within, nineteen times in twenty.

use lab_record::{Outcome, Reference, Trial, Verdict};

use super::kind::{Findings, Found, Kind};
use super::stand::Stand;
use super::terms::Terms;
use crate::Error;

/// As scenarios name it.
pub const KIND: Kind = Kind { shortens: true, ..Kind::new("ref-ndr", pursue) };

/// What the number is called.
pub const METRIC: &str = "ref-NDR";
/// Trials of a load that decide it, and trials after which it stays open.
const MAJORITY: usize = 3;
const MOST: usize = 12;
/// Where it is looked below a reference that does not hold, as shares of its lower end.
const LADDER: [f64; 5] = [0.98, 0.95, 0.9, 0.75, 0.5];

/// What an NDR should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ends {
    /// One start lies above this.
    pub low_pps: f64,
    /// And below this; none where the reference may have been more than was seen.
    pub high_pps: Option<f64>,
}

impl Ends {
    /// Those of a number over starts: its bounds, how starts spread, and a little.
    pub fn of(lower_pps: f64, upper_pps: f64, sd_pps: f64, at_least: bool) -> Self {
        // Two deviations of a start, and what the bounds of a search leave open.
        let room_pps = 2.0 * sd_pps + A_LITTLE * lower_pps;
        Self {
            low_pps: (lower_pps - room_pps).max(0.5 * lower_pps),
            high_pps: (!at_least).then_some(upper_pps.max(lower_pps) + room_pps),
        }
    }
}

/// A little above, and below, as a share.
const A_LITTLE: f64 = 0.005;

/// What trials at a load came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carried {
    Yes,
    No,
    /// No majority: the host or the generator, not the device, spoiled them.
    Unknown,
}

fn pursue(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Findings, Error> {
    let Some(ends) = terms.reference else { return Err(Error::NoReference) };
    let found = verify(terms, ends, stand)?;
    Ok(vec![found].into())
}

fn verify(terms: &Terms<'_>, ends: Ends, stand: &mut dyn Stand) -> Result<Found, Error> {
    let low_pps = ends.low_pps.min(terms.max_pps);
    let high_pps = ends.high_pps.filter(|high| *high < terms.max_pps);
    let (reference, low, high) = match at(low_pps, terms, stand)? {
        Carried::Unknown => (Reference::Undecided, 0.0, low_pps),
        Carried::No => {
            let (low, high) = descend(low_pps, terms, stand)?;
            (Reference::Lower, low, high)
        }
        // Nobody can ask for as much as it was.
        Carried::Yes if ends.low_pps > terms.max_pps => (Reference::Undecided, low_pps, low_pps),
        Carried::Yes => match high_pps {
            // Nor for more than there is.
            None => (Reference::Holds, low_pps, low_pps),
            Some(high_pps) => match at(high_pps, terms, stand)? {
                Carried::Yes => (Reference::Higher, high_pps, high_pps),
                Carried::No | Carried::Unknown => (Reference::Holds, low_pps, high_pps),
            },
        },
    };
    let verdict = Verdict::AgainstReference {
        finding: reference,
        low_pps: ends.low_pps,
        high_pps: ends.high_pps,
    };
    let loss_ratio = loss_ratio(terms);
    Ok(Found { loss_ratio, verdicts: vec![verdict], ..Found::between(METRIC, low, high) })
}

/// The first rung that carries, and the one above.
fn descend(from_pps: f64, terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<(f64, f64), Error> {
    let mut above_pps = from_pps;
    for share in LADDER {
        let load_pps = share * from_pps;
        if stand.is_over() {
            break;
        }
        if at(load_pps, terms, stand)? == Carried::Yes {
            return Ok((load_pps, above_pps));
        }
        above_pps = load_pps;
    }
    Ok((0.0, above_pps))
}

/// Asks for trials at a load until most say the same.
fn at(load_pps: f64, terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Carried, Error> {
    let goal = super::goal::Goal::all(terms)?;
    let used = goal.first().map(|goal| goal.on_stalling_host(terms.stalls_per_s));
    let trial_s = used.map_or(terms.trial_s, |goal| goal.final_trial_s);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..MOST {
        if stand.is_over() {
            return Err(Error::TimeUp { search: "whether the reference holds" });
        }
        match of(&stand.measure(Trial::new(load_pps, trial_s))?, loss_ratio(terms)) {
            Carried::Yes => good += 1,
            Carried::No => bad += 1,
            Carried::Unknown => {}
        }
        if good == MAJORITY {
            return Ok(Carried::Yes);
        }
        if bad == MAJORITY {
            return Ok(Carried::No);
        }
    }
    Ok(Carried::Unknown)
}

/// What one trial says.
fn of(outcome: &Outcome, loss_ratio: f64) -> Carried {
    match (outcome.loss_ratio() <= loss_ratio, outcome.device_loss_ratio() <= loss_ratio) {
        (true, _) => Carried::Yes,
        (false, true) => Carried::Unknown,
        (false, false) => Carried::No,
    }
}

/// The first goal's: that of an NDR.
fn loss_ratio(terms: &Terms<'_>) -> f64 {
    terms.loss_ratios.first().copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::kind::testing::terms;
    use super::*;
    use crate::sim::{Device, Model, Stalls};
    use lab_record::Limiter;

    /// A reference of 4 Mpps as ten starts of a device found it whose starts spread so.
    fn ends(spread: f64) -> Ends {
        Ends::of(3.99e6, 4.01e6, spread * 4e6, false)
    }

    fn verified(model: Model, ends: Ends, stalls_per_s: f64, seed: u64) -> (Found, usize) {
        let terms = Terms { reference: Some(ends), stalls_per_s, ..terms() };
        let mut device = Device::new(model, seed);
        let mut trials = 0;
        let mut stand = |trial: Trial| {
            trials += 1;
            Ok(device.measure(trial))
        };
        let found = KIND.carry_out(&terms, &mut stand).unwrap().rates.remove(0);
        (found, trials)
    }

    fn finding(found: &Found) -> Reference {
        match found.verdicts[..] {
            [Verdict::AgainstReference { finding, .. }] => finding,
            _ => panic!("{found:?}"),
        }
    }

    fn share(model: &Model, spread: f64, stalls_per_s: f64, wanted: Reference) -> usize {
        let told = (0..200).filter(|&seed| {
            let (found, trials) = verified(model.clone(), ends(spread), stalls_per_s, seed);
            assert!(trials <= 2 * MOST + LADDER.len() * MOST, "{trials}");
            finding(&found) == wanted
        });
        told.count()
    }

    #[test]
    fn a_device_that_is_as_it_was_holds_in_six_trials() {
        let (found, trials) = verified(Model::quiet(4e6), ends(0.0), 0.0, 1);
        assert_eq!((finding(&found), trials), (Reference::Holds, 6));
        assert!(found.low_pps < 4e6 && found.high_pps > 4e6 && found.limit.by == Limiter::Device);
        let noisy = Model { noise: 0.002, restart_noise: 0.01, ..Model::quiet(4e6) };
        let held = share(&noisy, 0.01, 0.0, Reference::Holds);
        assert!(held >= 186, "{held} of 200");
    }

    #[test]
    fn three_percent_less_or_more_is_told_as_such_and_about_how_much() {
        let of = |capacity_pps| Model {
            noise: 0.002,
            restart_noise: 0.002,
            ..Model::quiet(capacity_pps)
        };
        assert!(share(&of(0.97 * 4e6), 0.002, 0.0, Reference::Lower) >= 198);
        assert!(share(&of(1.03 * 4e6), 0.002, 0.0, Reference::Higher) >= 198);
        let (found, _) = verified(Model::quiet(0.93 * 4e6), ends(0.0), 0.0, 1);
        assert_eq!(finding(&found), Reference::Lower);
        assert!(found.low_pps <= 0.93 * 4e6 && 0.93 * 4e6 <= found.high_pps, "{found:?}");
        let (found, _) = verified(Model::quiet(1e5), ends(0.0), 0.0, 1);
        assert_eq!((finding(&found), found.low_pps), (Reference::Lower, 0.0));
    }

    #[test]
    fn a_host_that_stalls_makes_no_device_slower() {
        let stalls = Stalls::random(4.0, 0.002);
        let model = Model { stalls, ..Model::quiet(4e6) };
        let wrong = (0..200).filter(|&seed| {
            let (found, _) = verified(model.clone(), ends(0.002), 4.0, seed);
            matches!(finding(&found), Reference::Lower | Reference::Higher)
        });
        let wrong = wrong.count();
        assert!(wrong <= 10, "{wrong} of 200");
    }

    #[test]
    fn what_the_generator_cannot_send_is_undecided_and_a_lower_bound_is_held_as_one() {
        let slow = Model { generator_pps: 3e6, ..Model::quiet(2e7) };
        let (found, trials) = verified(slow, ends(0.0), 0.0, 1);
        assert_eq!((finding(&found), trials), (Reference::Undecided, MOST));
        // More than can be asked for here, and a device that takes all of that, or not.
        let fast = Ends::of(1.2e7, 1.2e7, 0.0, false);
        assert_eq!(finding(&verified(Model::quiet(2e7), fast, 0.0, 1).0), Reference::Undecided);
        assert_eq!(finding(&verified(Model::quiet(4e6), fast, 0.0, 1).0), Reference::Lower);
        let at_least = Ends::of(4e6, 4e6, 0.0, true);
        let (found, trials) = verified(Model::quiet(2e7), at_least, 0.0, 1);
        assert_eq!((finding(&found), trials), (Reference::Holds, 3));
        assert_eq!(found.limit.by, Limiter::Generator, "it may do more: {found:?}");
    }

    #[test]
    fn without_a_reference_there_is_nothing_to_verify() {
        let mut stand = |_: Trial| -> Result<Outcome, Error> { panic!("a trial") };
        let told = KIND.carry_out(&terms(), &mut stand).unwrap_err().to_string();
        assert!(told.contains("reference"), "{told}");
    }
}
