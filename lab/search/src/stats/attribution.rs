//! Which spikes the host explains: those that a stall of it lies under.
//!
//! ```text
//! spikes   ▾      ▾   ▾        ▾          the second is nobody's: the device's own
//! stalls   ▏          ▏        ▏
//! ```
//! A spike begins with the first packet that waited, a stall with the last clock reading before it:
//! they may lie apart by as much as the stall lasts, and by what the probes poll at.

use lab_record::Spike;

/// For each spike, the index of the stall (begin, length in seconds) that explains it, if one does.
pub fn attribute(spikes: &[Spike], stalls: &[(f64, f64)], slack_s: f64) -> Vec<Option<usize>> {
    let explains = |spike: &Spike, &(at_s, length_s): &(f64, f64)| {
        let (from, to) = (at_s - slack_s, at_s + length_s + slack_s);
        spike.at_s <= to && spike.at_s + spike.length_s >= from
    };
    spikes.iter().map(|spike| stalls.iter().position(|stall| explains(spike, stall))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_over_a_stall_is_the_hosts_and_another_is_the_devices_own() {
        let spike = |at_s: f64| Spike { at_s, length_s: 1e-4, peak: 1e-3, count: 3 };
        let spikes = [spike(0.1001), spike(0.2), spike(0.3)];
        let stalls = [(0.1, 5e-5), (0.2999, 2e-4)];
        assert_eq!(attribute(&spikes, &stalls, 1e-4), [Some(0), None, Some(1)]);
    }

    #[test]
    fn without_stalls_nothing_is_explained() {
        let spike = Spike { at_s: 1.0, length_s: 0.0, peak: 1.0, count: 1 };
        assert_eq!(attribute(&[spike], &[], 1.0), [None]);
    }
}
