//! What checks of functions say, as a table: functions down, devices across, and why where not all
//! is well.
//!
//! ```text
//!                volley   linux-bridge   ovs
//! bridge         ok       ok             ok
//! vlan-tagging   wrong    refused        ok          wrong: the first packet that is not as it must be
//! ```

use lab_record::{CheckRecord, FailureRecord, Fault, Results, Subject};

/// What became of one function on one device, over all its restarts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Every packet was as it must be.
    Passed {
        /// How many starts of the device it was tried on.
        runs: usize,
    },
    /// Some packet was not.
    Wrong(String),
    /// The device cannot do it.
    Refused(String),
    /// Something else went wrong before anything could be checked.
    Failed(String),
}

impl Cell {
    /// In a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Passed { .. } => "ok",
            Self::Wrong(_) => "wrong",
            Self::Refused(_) => "refused",
            Self::Failed(_) => "failed",
        }
    }

    /// Why it is not well; none where it is.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Passed { .. } => None,
            Self::Wrong(reason) | Self::Refused(reason) | Self::Failed(reason) => Some(reason),
        }
    }
}

/// The table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matrix {
    /// The columns: devices, by name.
    pub devices: Vec<String>,
    /// Down: the cases, and what became of each on each device, as long as it was tried.
    pub rows: Vec<(String, Vec<Option<Cell>>)>,
}

/// The table of these results, devices and cases in the order in which they were met; empty where
/// nothing was checked.
pub fn matrix(results: &Results) -> Matrix {
    let mut matrix = Matrix::default();
    if results.checks.is_empty() {
        return matrix;
    }
    for check in &results.checks {
        let cell = match &check.fault {
            None => Cell::Passed { runs: 1 },
            Some(fault) => Cell::Wrong(told(fault)),
        };
        matrix.put(&check.subject, cell);
    }
    for FailureRecord { subject, refused, reason } in &results.failures {
        let cell = match refused {
            true => Cell::Refused(reason.clone()),
            false => Cell::Failed(reason.clone()),
        };
        matrix.put(subject, cell);
    }
    matrix
}

impl Matrix {
    fn put(&mut self, subject: &Subject, new: Cell) {
        let known = self.devices.iter().position(|device| *device == subject.device);
        let column = known.unwrap_or_else(|| {
            self.devices.push(subject.device.clone());
            self.devices.len() - 1
        });
        let case = subject.case();
        let known = self.rows.iter().position(|(name, _)| *name == case);
        let row = known.unwrap_or_else(|| {
            self.rows.push((case, Vec::new()));
            self.rows.len() - 1
        });
        for (_, cells) in &mut self.rows {
            cells.resize(self.devices.len(), None);
        }
        let cell = &mut self.rows[row].1[column];
        *cell = Some(match (cell.take(), new) {
            (Some(Cell::Passed { runs }), Cell::Passed { runs: more }) => {
                Cell::Passed { runs: runs + more }
            }
            // One restart that is not well is told, whatever the others were.
            (None | Some(Cell::Passed { .. }), new) => new,
            (Some(first), _) => first,
        });
    }
}

/// A fault in a phrase.
pub fn told(fault: &Fault) -> String {
    let Fault { stream, packet, reason, difference } = fault;
    let mut text = match packet {
        Some(packet) => format!("packet {packet} {stream} {reason}"),
        None => format!("{stream}: {reason}"),
    };
    if let Some(difference) = difference {
        text += &format!(
            ": {} at octet {}: {} instead of {}",
            difference.field, difference.at, difference.got, difference.expected
        );
    }
    text
}

/// What came of a check, in a line.
pub fn line(check: &CheckRecord) -> String {
    let [sent, came, kept_out, slipped] = check.counts();
    let what = match &check.fault {
        None => "as it must be".into(),
        Some(fault) => format!("WRONG: {}", told(fault)),
    };
    let blocked = match kept_out {
        0 => String::new(),
        _ => format!(", {slipped} of {kept_out} that must not"),
    };
    let name = format!("{} — {}", check.subject.device, check.subject.case());
    format!("{name:<44} {what}; {came} of {sent} packets came{blocked}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{Checked, Difference};

    fn check(device: &str, function: &str, fault: Option<Fault>) -> CheckRecord {
        let subject =
            Subject { device: device.into(), function: function.into(), ..Subject::default() };
        let stream =
            |must_emerge, sent, came| Checked { name: "there".into(), must_emerge, sent, came };
        let streams = vec![stream(true, 9, 9), stream(false, 7, 1)];
        CheckRecord { subject, streams, fault, ..CheckRecord::default() }
    }

    fn fault() -> Fault {
        let (expected, got) = ("0064".into(), "0065".into());
        let difference = Difference { at: 14, field: "vlan tag".into(), expected, got };
        let (stream, reason) = ("there".into(), "is not what it must be".into());
        Fault { stream, packet: Some(3), reason, difference: Some(difference) }
    }

    #[test]
    fn a_fault_names_the_packet_and_its_first_wrong_octets() {
        let said = line(&check("a", "vlan-tagging", Some(fault())));
        let wanted =
            "packet 3 there is not what it must be: vlan tag at octet 14: 0065 instead of 0064";
        assert!(said.contains(wanted), "{said}");
        assert!(said.ends_with("9 of 9 packets came, 1 of 7 that must not"), "{said}");
    }

    #[test]
    fn each_device_has_a_word_for_each_function_that_it_was_asked_for() {
        let refusal = FailureRecord {
            subject: Subject { device: "b".into(), function: "acl".into(), ..Subject::default() },
            refused: true,
            reason: "no lists".into(),
        };
        let mut results = Results {
            checks: vec![check("a", "acl", None), check("a", "acl", None), check("b", "gre", None)],
            failures: vec![refusal],
            ..Results::default()
        };
        results.checks.push(check("a", "gre", Some(fault())));
        results.checks.push(check("a", "gre", None));
        let Matrix { devices, rows } = matrix(&results);
        let words: Vec<(String, Vec<&str>)> = rows
            .into_iter()
            .map(|(case, cells)| {
                (case, cells.iter().map(|it| it.as_ref().map_or("", Cell::word)).collect())
            })
            .collect();
        assert_eq!(devices, ["a", "b"]);
        assert_eq!(
            words,
            [("acl".into(), vec!["ok", "refused"]), ("gre".into(), vec!["wrong", "ok"])]
        );
        assert_eq!(matrix(&Results::default()), Matrix::default());
    }
}
