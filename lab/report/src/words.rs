//! Numbers and verdicts as a reader wants them.

use lab_record::{Limit, Limiter, Reference, Verdict};

/// A rate with three or four digits: 12.35 Mpps.
pub fn rate(pps: f64) -> String {
    let (value, unit) = match pps.abs() {
        0.0 => return "0 pps".into(),
        size if size >= 1e6 => (pps / 1e6, "Mpps"),
        size if size >= 1e3 => (pps / 1e3, "kpps"),
        _ => (pps, "pps"),
    };
    format!("{} {unit}", digits(value))
}

/// A number with three or four digits.
pub fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// What kept a rate from being higher, as a phrase.
pub fn limit(limit: &Limit) -> String {
    if *limit == Limit::LARGEST_LOAD {
        return "the largest load was carried".into();
    }
    let Limit { by, blame } = limit;
    let name = match by {
        Limiter::Device => "device",
        Limiter::Host => "host",
        Limiter::Generator => "generator",
    };
    format!(
        "{name}: {} lost by the device, {} unsent by the generator, {} lost to the host",
        blame.device, blame.generator, blame.host
    )
}

/// A verdict as a phrase.
pub fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::LossInversion { loads_pps } => {
            let loads: Vec<String> = loads_pps.iter().map(|&load| rate(load)).collect();
            format!("loss inversion: carried {} above a load that it did not", loads.join(", "))
        }
        Verdict::Bimodal { modes: [low, high] } => format!(
            "two modes: {} ({} runs) and {} ({} runs)",
            rate(low.mean),
            low.count,
            rate(high.mean),
            high.count
        ),
        Verdict::Drift { share, p } => format!("drifts by {:+.2} % (p = {p:.2e})", 100.0 * share),
        Verdict::CutShort { trials } => format!("the time was up after {trials} trials"),
        Verdict::NotCounted { starts: 1 } => {
            "a start is not counted: the time was up before its search had ended".into()
        }
        Verdict::NotCounted { starts } => format!(
            "{starts} starts are not counted: the time was up before their searches had ended"
        ),
        Verdict::StillWarmingUp => "was still warming up".into(),
        Verdict::AgainstReference { finding, low_pps, high_pps } => {
            let word = reference(*finding);
            match high_pps {
                Some(high) => {
                    format!("{word} the reference of {} to {}", rate(*low_pps), rate(*high))
                }
                None => format!("{word} the reference of at least {}", rate(*low_pps)),
            }
        }
        Verdict::GeneratorBound { share } => {
            format!("generator-bound: {:.0} % of the generator's ceiling", 100.0 * share)
        }
        Verdict::NoBound { through_pps } => format!(
            "no rate was found that it carries: loads are shares of {}, the most that came through it",
            rate(*through_pps)
        ),
        Verdict::EmulatedEnds => lab_record::EMULATED_ENDS.into(),
        Verdict::EmulatedDevice => lab_record::EMULATED_DEVICE.into(),
        Verdict::OrderUnknown { queues, reordered } => format!(
            "{reordered} packets seem overtaken, but {queues} queues brought them: their order is not known"
        ),
        Verdict::CountersDisagree { missing } => format!("{missing} packets unaccounted for"),
        Verdict::DeviceStalled { stalls, longest_us, share } => format!(
            "the device stalled {stalls} times, up to {longest_us:.0} µs, {:.2} % of the time",
            100.0 * share
        ),
        Verdict::HostStalled { stalls, longest_us, share } => format!(
            "host stalled {stalls} times, longest {longest_us:.0} µs, {:.2} % of the time",
            100.0 * share
        ),
    }
}

/// What came of a number held against what it was, in front of what that was.
pub fn reference(finding: Reference) -> &'static str {
    match finding {
        Reference::Holds => "holds",
        Reference::Lower => "lower than",
        Reference::Higher => "higher than",
        Reference::Undecided => "undecided against",
    }
}

/// What a packet costs two devices, in words.
pub fn compared_cost(cost: &lab_record::ComparedCost) -> String {
    let ([base, other], [full, also]) = (cost.cycles, cost.vector_packets);
    format!(
        "{other:.1} cycles a packet against {base:.1}, vectors of {also:.1} and {full:.1} packets"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_limits_is_told_with_the_packets_of_each() {
        let blame = lab_record::Blame { device: 3, generator: 40, host: 5 };
        let told = limit(&Limit { by: Limiter::Generator, blame });
        let packets = "3 lost by the device, 40 unsent by the generator, 5 lost to the host";
        assert_eq!(told, format!("generator: {packets}"));
        assert_eq!(limit(&Limit::LARGEST_LOAD), "the largest load was carried");
    }

    #[test]
    fn rates_have_three_or_four_digits() {
        assert_eq!(rate(14_880_952.0), "14.88 Mpps");
        assert_eq!(rate(0.0), "0 pps");
        assert_eq!([rate(999.0), rate(123_456.0)], ["999.0 pps", "123.5 kpps"]);
    }
}
