//! `version` of a configuration: which form it is written in.
//!
//! ```text
//!  file of version 1 ── STEPS[0] ──▶ of version 2 ── STEPS[1] ──▶ … ──▶ CURRENT ──▶ read as all are
//!  file of a later one ──▶ refused, and nothing else said of it
//! ```
//! Fields that come anew, and those that may be left out, need no version: files without them are
//! read as ever. A new one is for what an older router would read as something else, and what this
//! one no longer would. A file that does not say is of version 1.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::field::Field;
use super::report::{Problem, Report};

/// The key.
pub(crate) const KEY: &str = "version";

/// Makes a file's tables of one version those of the next. Places stay: what is wrong with a value
/// that was moved is told where it stands in the file.
type Step = fn(&mut DeTable<'_>);

/// How files of older versions are brought up: the first of version 1, and so on. There was no need
/// of one yet. Who adds one keeps a file of the version before in `tests/older`.
const STEPS: &[Step] = &[];

/// The version that this router writes.
pub const CURRENT: u32 = STEPS.len() as u32 + 1;

/// Takes the version out of a file, and makes its tables those of the current one; `None`, and why
/// in the report, if that cannot be.
pub(crate) fn bring_up(root: &mut DeTable<'_>, report: &mut Report) -> Option<()> {
    by(STEPS, root, report)
}

fn by(steps: &[Step], root: &mut DeTable<'_>, report: &mut Report) -> Option<()> {
    let current = steps.len() as u32 + 1;
    let version = match root.remove(KEY) {
        None => 1,
        Some(said) => read(&said, current, report)?,
    };
    let missing = usize::try_from(version - 1).ok().and_then(|done| steps.get(done..))?;
    missing.iter().for_each(|step| step(root));
    Some(())
}

/// A version that there is.
fn read(said: &Spanned<DeValue<'_>>, current: u32, report: &mut Report) -> Option<u32> {
    let version = u32::read(said, KEY, report)?;
    let wrong = |message: String| Problem::new(KEY, message).at(said.span());
    if version > current {
        report.push(
            wrong(format!(
                "a configuration of version {version}, and this router knows {current} at most"
            ))
            .expected(format!(
                "the configuration of a router of version {}, or an older one",
                env!("CARGO_PKG_VERSION")
            ))
            .help("a newer router wrote it: use that one, or the file that it was made from"),
        );
        return None;
    }
    if version == 0 {
        report.push(
            wrong("there is no version 0".to_owned())
                .expected(format!("a number from 1 to {current}")),
        );
        return None;
    }
    Some(version)
}

/// Whether a text that reads as a configuration is of the current version, said or not.
pub(crate) fn is_current(text: &str) -> bool {
    said(text).unwrap_or(1) == CURRENT
}

/// The text, which is of the current version, with that said: below the comment that the file
/// begins with, if an empty line parts that from the rest, or in front of all.
pub(crate) fn written(text: String) -> String {
    if said(&text).is_some() {
        return text;
    }
    let mut head = 0;
    for line in text.split_inclusive('\n') {
        match line.trim_start() {
            "" if head > 0 => return put(&text, head + line.len()),
            comment if comment.starts_with('#') => head += line.len(),
            _ => break,
        }
    }
    put(&text, 0)
}

fn put(text: &str, at: usize) -> String {
    let (head, rest) = text.split_at(at);
    let gap = if rest.is_empty() { "" } else { "\n" };
    format!("{head}{KEY} = {CURRENT}\n{gap}{rest}")
}

fn said(text: &str) -> Option<u32> {
    let root = DeTable::parse(text).ok()?;
    u32::read(root.get_ref().get(KEY)?, KEY, &mut Report::default())
}

#[cfg(test)]
mod tests {
    use super::super::{Host, Source, parse};
    use super::*;
    use toml::de::DeString;

    fn faults(text: &str) -> String {
        parse(&Source::new("router.toml", text), &Host::any()).unwrap_err().to_string()
    }

    #[test]
    fn one_that_says_its_version_is_read_as_one_that_does_not() {
        let read = |text: &str| parse(&Source::new("f", text), &Host::any()).unwrap();
        let port = "[port.p0]\nkind = \"memory\"\n";
        assert_eq!(read(&format!("version = 1\n{port}")), read(port));
        assert_eq!(read(port).ports.len(), 1);
    }

    #[test]
    fn a_later_one_is_refused_and_nothing_else_is_said_of_it() {
        let told = faults("# Ours.\nversion = 2\n[portal.p0]\nkind = \"wormhole\"\n");
        assert!(
            told.contains("a configuration of version 2, and this router knows 1 at most"),
            "{told}"
        );
        assert!(
            told.contains("router.toml:2:11") && told.contains("a newer router wrote it"),
            "{told}"
        );
        assert!(!told.contains("portal"), "{told}");
    }

    #[test]
    fn what_is_no_version_is_told_where_it_stands() {
        for (said, message) in [
            ("0", "there is no version 0"),
            ("\"1\"", "a whole number"),
            ("-1", "a whole number"),
            ("1.5", "a whole number"),
            ("[1]", "a whole number"),
        ] {
            let told = faults(&format!("version = {said}\n"));
            assert!(told.contains(message) && told.contains("router.toml:1:11"), "{said}: {told}");
        }
    }

    /// Version 2 calls ports otherwise, version 3 has one more.
    const OF_A_DAY_TO_COME: [Step; 2] = [
        |root| {
            let Some((key, ports)) = root.remove_entry("prot") else { return };
            root.insert(Spanned::new(key.span(), DeString::from("port")), ports);
        },
        |root| {
            let row = DeTable::parse("p9 = { kind = \"memory\" }").unwrap().into_inner();
            if let Some(DeValue::Table(ports)) = root.get_mut("port").map(Spanned::get_mut) {
                ports.extend(row);
            }
        },
    ];

    fn brought_up(text: &str) -> Result<Vec<String>, String> {
        let mut root = DeTable::parse(text).unwrap().into_inner();
        let mut report = Report::default();
        by(&OF_A_DAY_TO_COME, &mut root, &mut report)
            .ok_or_else(|| report.into_first().unwrap().message)?;
        let Some(DeValue::Table(ports)) = root.get("port").map(Spanned::get_ref) else {
            return Ok(Vec::new());
        };
        assert!(!root.contains_key(KEY));
        Ok(ports.keys().map(|key| key.get_ref().to_string()).collect())
    }

    #[test]
    fn older_ones_go_through_each_step_that_they_have_not_had_and_no_other() {
        let names = |names: &[&str]| Ok(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(brought_up("[prot.a]"), names(&["a", "p9"]));
        assert_eq!(brought_up("version = 1\n[prot.a]"), names(&["a", "p9"]));
        assert_eq!(brought_up("version = 2\n[port.a]"), names(&["a", "p9"]));
        assert_eq!(brought_up("version = 2\n[prot.a]"), names(&[]));
        assert_eq!(brought_up("version = 3\n[port.a]"), names(&["a"]));
        assert!(brought_up("version = 4\n[port.a]").unwrap_err().contains("version 4"));
    }

    #[test]
    fn what_is_saved_says_its_version_once_below_the_head() {
        for (text, expected) in [
            ("# My router.\n\n[port.p0]\n", "# My router.\n\nversion = 1\n\n[port.p0]\n"),
            ("# The uplink.\n[port.p0]\n", "version = 1\n\n# The uplink.\n[port.p0]\n"),
            ("", "version = 1\n"),
            ("\n\n[port.p0]\n", "version = 1\n\n\n\n[port.p0]\n"),
            ("# a\r\n\r\n[port.p0]\n", "# a\r\n\r\nversion = 1\n\n[port.p0]\n"),
            ("# No more.", "version = 1\n\n# No more."),
            ("port.p0.kind = \"memory\"\n", "version = 1\n\nport.p0.kind = \"memory\"\n"),
            ("# x\nversion = 1\n", "# x\nversion = 1\n"),
        ] {
            let once = written(text.to_owned());
            assert_eq!(once, expected);
            assert_eq!(written(once.clone()), once);
            assert!(is_current(text) && is_current(&once));
        }
        assert!(!is_current("version = 2\n"));
    }
}
