//! The switches of a bridge, held to: what is asked for is set, asked back from the device, and
//! written down beside its commands.
//!
//! ```text
//! learning = false ─▶ adapter sets it ─▶ adapter asks the device ─▶ the same? "# the device says: learning off"
//!        └ it cannot ─▶ refused                                      └ no ─▶ an error
//! ```

use crate::Error;
use crate::dut::device::{Device, Job};
use crate::place::Place;

/// For how long stations that are not heard are remembered where ageing is asked for: what bridges
/// usually do (IEEE 802.1Q).
pub(super) const AGEING_S: u64 = 300;

/// Writes down what a device says of its switches; an error where it is not what was asked for, or
/// where it says nothing of it.
pub(super) fn confirm(
    device: &dyn Device,
    job: &Job,
    place: &mut Place,
    says: &[(&str, bool)],
) -> Result<(), Error> {
    place.note(&told(says));
    match contradiction(job, says) {
        None => Ok(()),
        Some(reason) => Err(Error::Command { line: device.name().to_owned(), reason }),
    }
}

/// What was asked for and is not so.
fn contradiction(job: &Job, says: &[(&str, bool)]) -> Option<String> {
    let is = |name: &str| says.iter().find(|said| said.0 == name).map(|said| said.1);
    let wrong = job.function.switches().find(|&(name, on)| is(name) != Some(on));
    wrong.map(|(name, on)| {
        let says = is(name).map_or("nothing of it", word);
        format!("its {name} was set to {}, and it says {says}", word(on))
    })
}

fn told(says: &[(&str, bool)]) -> String {
    let each: Vec<String> = says.iter().map(|(name, on)| format!("{name} {}", word(*on))).collect();
    format!("the device says: {}", each.join(", "))
}

/// A switch in a word.
pub(super) fn word(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dut::testing::job;
    use crate::scenario::{Function, FunctionKind};

    #[test]
    fn a_switch_that_the_device_has_otherwise_is_no_measurement() {
        let plain = job(FunctionKind::Bridge, 1);
        let function = Function { learning: Some(false), ageing: Some(true), ..plain.function };
        let job = Job { function, ..plain };
        let held = |says: &[(&str, bool)]| contradiction(&job, says);
        assert_eq!(held(&[("learning", false), ("ageing", true), ("flood", true)]), None);
        let wrong = held(&[("learning", true), ("ageing", true)]).unwrap();
        assert_eq!(wrong, "its learning was set to off, and it says on");
        let silent = held(&[("learning", false)]).unwrap();
        assert_eq!(silent, "its ageing was set to on, and it says nothing of it");
        assert_eq!(
            told(&[("learning", false), ("flood", true)]),
            "the device says: learning off, flood on"
        );
    }
}
