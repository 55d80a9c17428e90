//! What a command ends with where CI asks it a question: a code, and a file for the build server.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use lab_report::gate::{Gate, Worst};

use crate::Failure;

/// What commands that judge take.
#[derive(Debug, Args)]
pub(crate) struct Junit {
    /// Write what passed and what did not as JUnit's XML
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) junit: Option<PathBuf>,
}

/// How much slower still passes.
#[derive(Debug, Args)]
pub(crate) struct FailBelow {
    /// What is slower by no more than this passes, as in 2%
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "0%")]
    pub(crate) fail_below: f64,
}

/// A share, written in percent.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|digits| digits.trim().parse::<f64>().ok());
    let share = number.filter(|percent| (0.0..100.0).contains(percent)).map(|it| it / 100.0);
    share.ok_or_else(|| "not a share below 100 %, as in 2%".to_owned())
}

impl Junit {
    /// Writes the file, where one is wanted; what did not pass is a failure of the command.
    pub(crate) fn close(&self, suite: &str, gate: &Gate) -> Result<(), Failure> {
        if let Some(file) = &self.junit {
            std::fs::write(file, gate.junit(suite)).map_err(lab_record::Error::file(file))?;
        }
        match gate.worst() {
            Worst::Passed => Ok(()),
            Worst::Failed => Err(Failure::NotPassed(gate.told())),
            Worst::Missing => Err(Failure::Missing(gate.told())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_written_in_percent() {
        assert_eq!((percent("2%"), percent("0.5 %")), (Ok(0.02), Ok(0.005)));
        assert!(["2", "x%", "-1%", "100%"].iter().all(|text| percent(text).is_err()));
    }
}
