//! The kernel's own test cases of `tc` (tc-testing, in the kernel's source), held against our
//! reader and what we show: each command has tc's exit status, and what is shown afterwards has
//! what tc shows as often as it does.
//!
//! `scripts/tc-cases` fetches them: they are GPL-2.0, and no part of this repository.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use sched::tc::{self, show_classes, show_qdiscs};
use sched::{Config, Error, build};
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;

/// The disciplines that we have, by their files; 96 cases.
const FILES: [&str; 9] =
    ["pfifo_fast", "fifo", "sfq", "codel", "fq_codel", "htb", "hfsc", "prio", "tbf"];
const CASES: usize = 96;

/// The cases that we do not follow, each with its reason. docs/shaping.md has them, too.
const EXCEPTIONS: [(&str, &str); 2] = [
    ("6472", "sfq has no RED of its own here: `redflowlimit` is refused by name"),
    (
        "9283",
        "`replace` begins anew: Linux changes a qdisc of the same kind and handle, and keeps what \
         the line does not name",
    ),
];

fn folder() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let folder = cache.or_else(home)?.join("volley/tc-cases");
    folder.is_dir().then_some(folder)
}

#[test]
fn cases_of_the_kernel_go_as_tc_has_them() {
    let Some(folder) = folder() else {
        let reason = "the kernel's cases are not there: `scripts/tc-cases` fetches them";
        assert!(std::env::var_os("CI").is_none(), "{reason}");
        // Past the capture of tests that pass.
        writeln!(std::io::stderr(), "SKIPPED, nothing is tested: {reason}").unwrap();
        return;
    };
    let mut told = Vec::new();
    let (mut count, mut odd) = (0, Vec::new());
    for file in FILES {
        let text = std::fs::read_to_string(folder.join(format!("{file}.json"))).unwrap();
        for case in serde_json::from_str::<Vec<Value>>(&text).unwrap() {
            count += 1;
            if let Err(reason) = play(&case) {
                let id = case["id"].as_str().unwrap().to_owned();
                told.push(format!("{id} {}: {reason}", case["name"]));
                odd.push(id);
            }
        }
    }
    let mut expected: Vec<&str> = EXCEPTIONS.iter().map(|(id, _)| *id).collect();
    expected.sort_unstable();
    odd.sort_unstable();
    assert_eq!(odd, expected, "{}", told.join("\n"));
    assert_eq!(count, CASES);
}

/// A device that has what commands gave it.
#[derive(Default)]
struct Device(Option<Config>);

impl Device {
    /// Runs a command, and tells what `tc` would exit with.
    fn run(&mut self, command: &str) -> (u8, String) {
        // Devices come and go as they are needed; what is asked of them does not matter here.
        if command.starts_with("$IP ") {
            return (0, String::new());
        }
        let line = command.replace("$TC", "tc").replace("$DUMMY", "dummy1");
        match tc::change(&line, &|_| Ok(self.0.clone())) {
            Ok(devices) => {
                for (_, config) in devices {
                    self.0 = config;
                }
                (0, String::new())
            }
            Err(faults) => {
                let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
                let status = match faults.first() {
                    Some(Error::Tc { status, .. }) => *status,
                    _ => panic!("{faults:?}"),
                };
                (status, told.join("\n"))
            }
        }
    }

    fn show(&self, command: &str) -> String {
        let words: Vec<&str> = command.split_whitespace().collect();
        let report = self.0.as_ref().map(|config| build::<u64>(config).unwrap().report());
        match words[..] {
            ["$TC", "qdisc", "show", "dev", "$DUMMY"] => show_qdiscs(None, report.as_ref(), false),
            ["$TC", "-s", "qdisc", "show", "dev", "$DUMMY"] => {
                show_qdiscs(None, report.as_ref(), true)
            }
            ["$TC", "class", "show", "dev", "$DUMMY"] => show_classes(None, report.as_ref(), false),
            _ => panic!("`{command}` shows nothing that is known"),
        }
    }
}

fn play(case: &Value) -> Result<(), String> {
    let mut device = Device::default();
    for command in case["setup"].as_array().unwrap() {
        let command = command.as_str().unwrap();
        let (status, told) = device.run(command);
        if status != 0 {
            return Err(format!("`{command}` ends with {status}: {told}"));
        }
    }
    let command = case["cmdUnderTest"].as_str().unwrap();
    let (status, told) = device.run(command);
    let wanted = case["expExitCode"].as_str().unwrap().parse::<u8>().unwrap();
    if status != wanted {
        return Err(format!("`{command}` ends with {status}, not {wanted}: {told}"));
    }
    let shown = device.show(case["verifyCmd"].as_str().unwrap());
    let pattern = case["matchPattern"].as_str().unwrap();
    let found: usize = shown.lines().map(|line| matches_in(&Pattern::of(pattern), line)).sum();
    let wanted = case["matchCount"].as_str().unwrap().parse::<usize>().unwrap();
    if found != wanted {
        return Err(format!("{found} times, not {wanted}: {pattern}\n{shown}"));
    }
    Ok(())
}

/// A character of a pattern, or any of several.
enum One {
    Any,
    Digit,
    Exactly(char),
}

/// The expressions that the cases have: characters, `.`, `[0-9]`, and `*` or `+` behind them.
struct Pattern(Vec<(One, usize, bool)>);

impl Pattern {
    fn of(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let (one, length) = match first {
                _ if rest.starts_with("[0-9]") => (One::Digit, 5),
                '.' => (One::Any, 1),
                '\\' => (One::Exactly(rest.chars().nth(1).unwrap()), 2),
                '[' | '(' | '|' | '?' | '^' | '$' => panic!("`{first}` in {text}"),
                other => (One::Exactly(other), other.len_utf8()),
            };
            rest = &rest[length..];
            let (least, many) = match rest.chars().next() {
                Some('*') => (0, true),
                Some('+') => (1, true),
                _ => (1, false),
            };
            rest = &rest[usize::from(many)..];
            parts.push((one, least, many));
        }
        Self(parts)
    }
}

impl One {
    fn fits(&self, c: char) -> bool {
        match self {
            Self::Any => true,
            Self::Digit => c.is_ascii_digit(),
            Self::Exactly(own) => *own == c,
        }
    }
}

/// How often it is found, one behind the other.
fn matches_in(pattern: &Pattern, line: &str) -> usize {
    let line: Vec<char> = line.chars().collect();
    let (mut at, mut found) = (0, 0);
    while at <= line.len() {
        match end_of(&pattern.0, &line, at) {
            Some(end) => {
                found += 1;
                at = end.max(at + 1);
            }
            None => at += 1,
        }
    }
    found
}

/// Where the longest match from there ends.
fn end_of(parts: &[(One, usize, bool)], line: &[char], at: usize) -> Option<usize> {
    let Some(((one, least, many), rest)) = parts.split_first() else { return Some(at) };
    let run = line[at..].iter().take_while(|c| one.fits(**c)).count();
    let most = if *many { run } else { run.min(1) };
    (*least..=most).rev().find_map(|count| end_of(rest, line, at + count))
}

#[test]
fn patterns_are_found_as_often_as_they_stand_there() {
    let count = |pattern, line| matches_in(&Pattern::of(pattern), line);
    assert_eq!(
        count("class prio 1:[0-9]+ parent", "class prio 1:12 parent class prio 1: parent"),
        1
    );
    assert_eq!(count("Sent.*bytes.*pkt \\(dropped", "Sent 0 bytes 0 pkt (dropped 0"), 1);
    assert_eq!(count("a", "banana"), 3);
    assert_eq!(count("noecn", "ecn"), 0);
}
