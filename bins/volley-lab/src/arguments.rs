//! Words of a command line: flags with a value each, and the rest in order.

use std::collections::BTreeMap;

use lab_traffic::rate::with_prefix as number;

use crate::Failure;

/// A parsed command line.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Arguments {
    /// What is not a flag.
    pub(crate) words: Vec<String>,
    flags: BTreeMap<String, String>,
}

impl Arguments {
    /// Reads `--name value`, `--name=value` and plain words.
    pub(crate) fn parse(mut from: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut arguments = Self::default();
        while let Some(word) = from.next() {
            let Some(flag) = word.strip_prefix("--") else {
                arguments.words.push(word);
                continue;
            };
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (flag.to_owned(), from.next()),
            };
            let value = value.ok_or_else(|| Failure::Usage(format!("--{name} needs a value")))?;
            arguments.flags.insert(name, value);
        }
        Ok(arguments)
    }

    /// Refuses flags that the command does not know.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), Failure> {
        match self.flags.keys().find(|flag| !known.contains(&flag.as_str())) {
            Some(flag) => Err(Failure::Usage(format!("no flag --{flag}; see volley-lab help"))),
            None => Ok(()),
        }
    }

    /// The value of a flag.
    pub(crate) fn text(&self, flag: &str) -> Option<&str> {
        self.flags.get(flag).map(String::as_str)
    }

    /// A number, with k, M or G behind it; `default` where the flag is not there.
    pub(crate) fn number(&self, flag: &str, default: f64) -> Result<f64, Failure> {
        self.text(flag).map_or(Ok(default), |text| {
            number(text).ok_or_else(|| Failure::Usage(format!("--{flag} {text:?} is no number")))
        })
    }

    /// A whole number, not negative.
    pub(crate) fn count(&self, flag: &str, default: u64) -> Result<u64, Failure> {
        let value = self.number(flag, default as f64)?;
        if value < 0.0 || value.fract() != 0.0 {
            return Err(Failure::Usage(format!("--{flag} {value} is not a whole number")));
        }
        Ok(value as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, Failure> {
        Arguments::parse(line.split(' ').map(str::to_owned))
    }

    #[test]
    fn flags_and_words_may_stand_in_any_order() {
        let arguments = parse("check --runs 3 a.toml --max=1.5M").unwrap();
        assert_eq!(arguments.words, ["check", "a.toml"]);
        assert_eq!(arguments.count("runs", 1).unwrap(), 3);
        assert_eq!(arguments.number("max", 0.0).unwrap(), 1.5e6);
        assert_eq!(arguments.number("noise", 0.25).unwrap(), 0.25);
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        let told = |line: &str, flag: &str| match parse(line) {
            Ok(arguments) => arguments.count(flag, 1).unwrap_err().to_string(),
            Err(failure) => failure.to_string(),
        };
        assert_eq!(told("--runs", "runs"), "--runs needs a value");
        assert_eq!(told("--runs many", "runs"), "--runs \"many\" is no number");
        assert_eq!(told("--runs 1.5", "runs"), "--runs 1.5 is not a whole number");
        let unknown = parse("--rusn 3").unwrap().only(&["runs"]).unwrap_err().to_string();
        assert_eq!(unknown, "no flag --rusn; see volley-lab help");
    }
}
