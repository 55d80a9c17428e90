//! The switches of a bridge, as Open vSwitch has them.
//!
//! ```text
//! learning off                     flood_vlans=0: on that VLAN it learns nothing
//! ageing on                        mac-aging-time=300; it cannot be off, as it forgets after an hour at the latest
//! both floods off                  no-flood at both ports, which holds for unknown stations and groups alike
//! one of the floods off            refused
//! ```

use super::bridge::{self, AGEING_S};
use crate::Error;
use crate::dut::device::{Device, Job};
use crate::place::Place;
use crate::scenario::{AGEING, FLOOD, LEARNING, UNKNOWN_UNICAST_FLOOD};

/// What can be set at all.
pub(super) const SETTABLE: [&str; 4] = [LEARNING, AGEING, UNKNOWN_UNICAST_FLOOD, FLOOD];

/// What it says at a port that floods leave out.
const NO_FLOOD: &str = "NO_FLOOD";

/// Why the switches of a job cannot be set, if so.
pub(super) fn refusal(job: &Job) -> Option<&'static str> {
    let function = &job.function;
    let floods = [function.unknown_unicast_flood, function.flood];
    if function.ageing == Some(false) && function.learning != Some(false) {
        return Some("it forgets what it learned after an hour at the latest, whatever it is told");
    }
    (floods.contains(&Some(false)) && floods != [Some(false); 2])
        .then_some("a port floods frames to unknown stations and to groups, or neither")
}

/// Sets the switches that a job names, and asks for what became of them.
pub(super) fn set(
    device: &dyn Device,
    job: &Job,
    (vsctl, bridge): (&str, &str),
    place: &mut Place,
) -> Result<(), Error> {
    let function = &job.function;
    if function.switches().next().is_none() {
        return Ok(());
    }
    if function.learning == Some(false) {
        place.run(&format!("{vsctl} set bridge br0 flood_vlans=0"))?;
    }
    if function.ageing == Some(true) {
        place.run(&format!("{vsctl} set bridge br0 other_config:mac-aging-time={AGEING_S}"))?;
    }
    if function.flood == Some(false) {
        for port in 1..=2 {
            place.run(&format!("ovs-ofctl mod-port {bridge} {port} no-flood"))?;
        }
    }
    let look = format!(
        "{vsctl} get bridge br0 flood_vlans && \
         {vsctl} --if-exists get bridge br0 other_config:mac-aging-time && \
         ovs-ofctl show {bridge}"
    );
    let told = place.quietly(&look)?;
    bridge::confirm(device, job, place, &said(&told, function.learning == Some(false)))
}

/// The switches out of what it says: the VLANs that it learns nothing on, the time after which it
/// forgets where that is set, its ports.
fn said(told: &str, static_alone: bool) -> Vec<(&'static str, bool)> {
    let learning = told.lines().next().is_some_and(|vlans| vlans.trim() == "[]");
    let ages = told.lines().any(|line| line.trim() == format!("\"{AGEING_S}\""));
    // Who learns nothing has nothing to forget, unless it is told how soon to.
    let ageing = ages || !static_alone;
    let floods = told.matches(NO_FLOOD).count() < 2;
    vec![(LEARNING, learning), (AGEING, ageing), (UNKNOWN_UNICAST_FLOOD, floods), (FLOOD, floods)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dut::testing::job;
    use crate::scenario::{Function, FunctionKind};

    #[test]
    fn what_it_cannot_do_is_refused() {
        let refused = |learning, ageing, unknown_unicast_flood, flood| {
            let plain = job(FunctionKind::Bridge, 1);
            let function =
                Function { learning, ageing, unknown_unicast_flood, flood, ..plain.function };
            refusal(&Job { function, ..plain }).is_some()
        };
        let (on, off) = (Some(true), Some(false));
        assert!(!refused(off, off, None, None) && !refused(on, on, off, off));
        assert!(refused(on, off, None, None) && refused(None, off, None, None));
        assert!(refused(on, on, off, None) && refused(on, on, on, off));
    }

    #[test]
    fn what_it_says_is_read() {
        let port =
            |flag: &str| format!(" 1(d0): addr:02:00\n     config:     {flag}\n     state: 0\n");
        let told = format!("[]\n\"300\"\n{}{}", port("0"), port("0"));
        assert_eq!(said(&told, false).iter().map(|it| it.1).collect::<Vec<_>>(), [true; 4]);
        let told = format!("[0]\n{}{}", port("NO_FLOOD"), port("NO_FLOOD"));
        assert_eq!(said(&told, true).iter().map(|it| it.1).collect::<Vec<_>>(), [false; 4]);
    }
}
