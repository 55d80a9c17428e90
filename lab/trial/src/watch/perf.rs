//! What `perf` tells of the devices' cores during a trial: counters of the processor, and the share
//! of each function.
//!
//! ```text
//! perf stat   -C cores -e cycles,instructions,…     where the host shows its counters; else a refusal, told
//! perf record -C cores -e cycles | cpu-clock        without counters the timer samples: shares, but no cycles
//! ```

use std::path::Path;
use std::process::{Child, Command, Stdio};

use lab_record::Share;

use crate::place::{has_program, output};

/// Functions that are told, the largest share first.
const MOST_FUNCTIONS: usize = 15;
const EVENTS: &str = "cycles,instructions,L1-dcache-load-misses,LLC-load-misses";

/// Whether the processor's counters can be read here, and why not.
pub fn counters() -> Result<(), String> {
    if !has_program("perf") {
        return Err("perf is not installed (package linux-perf)".into());
    }
    let told = output(&["sh", "-c", "perf stat -x, -e cycles,instructions true 2>&1"])?;
    match told.contains("<not supported>") || told.contains("<not counted>") {
        true => Err("this host hides the counters of its processor".into()),
        false => Ok(()),
    }
}

/// Starts a command of perf's that ends by itself.
pub(crate) fn start(arguments: &str, cores: &str, seconds: f64) -> Option<Child> {
    let line = format!("exec perf {arguments} -C {cores} -- sleep {seconds:.3} 2>&1");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().ok()
}

pub(crate) fn stat() -> String {
    format!("stat -x, -e {EVENTS}")
}

/// Samples by the processor's cycles where it shows them, by the timer elsewhere.
pub(crate) fn record(file: &Path, by_cycles: bool) -> String {
    let event = if by_cycles { "cycles" } else { "cpu-clock" };
    format!("record -q -e {event} -F 997 -o {}", file.display())
}

/// What a child said, once it is over.
pub(crate) fn told(child: Option<Child>) -> String {
    let output = child.and_then(|child| child.wait_with_output().ok());
    output.map_or_else(String::new, |it| String::from_utf8_lossy(&it.stdout).into_owned())
}

/// Lines of `perf stat -x,`: count, unit, event …
pub fn parse_stat(text: &str) -> Vec<(String, u64)> {
    let counter = |line: &str| {
        let mut fields = line.split(',');
        let count = fields.next()?.parse().ok()?;
        Some((fields.nth(1)?.to_owned(), count))
    };
    text.lines().filter_map(counter).collect()
}

/// The functions of a recording.
pub(crate) fn shares(file: &Path) -> Vec<Share> {
    let line = format!(
        "perf report -q -i {} --stdio --no-children --sort dso,symbol 2>/dev/null",
        file.display()
    );
    parse_report(&output(&["sh", "-c", &line]).unwrap_or_default())
}

/// Lines of `perf report`: `  50.00%  volleyd  [.] name`.
pub fn parse_report(text: &str) -> Vec<Share> {
    let share = |line: &str| {
        let (percent, rest) = line.trim().split_once('%')?;
        // Of user space or of the kernel.
        let (object, symbol) = rest.split_once("[.] ").or_else(|| rest.split_once("[k] "))?;
        let symbol = symbol.trim().split("  ").next()?;
        let percent = percent.parse().ok()?;
        Some(Share { function: format!("{symbol} ({})", object.trim()), percent })
    };
    text.lines().filter_map(share).take(MOST_FUNCTIONS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_and_those_that_are_hidden_left_out() {
        let text = "123456,,cycles,1000,100.00,,\n<not supported>,,instructions,0,100.00,,\n";
        assert_eq!(parse_stat(text), [("cycles".to_owned(), 123_456)]);
    }

    #[test]
    fn a_functions_share_is_told_with_where_it_is() {
        let text = "# comment\n    61.50%  volleyd            [.] nodes::ip4_lookup        -      -\n\
                    \x20    8.25%  [kernel.kallsyms]  [k] copy_user\n\n";
        let shares = parse_report(text);
        assert_eq!(shares[0].function, "nodes::ip4_lookup (volleyd)");
        assert_eq!(shares[0].percent, 61.5);
        assert_eq!(shares[1].function, "copy_user ([kernel.kallsyms])");
        assert_eq!(shares.len(), 2);
    }
}
