//! `fib-bench`: our forwarding tables beside DPDK's, in one run, over the same keys.
//!
//! ```text
//!   fib-bench ─┬─ child: ip4-1 huge   fills all tables, looks up in turn, prints rows
//!              ├─ child: ip4-1 4k     …
//!              └─ target/bench-fib.json, docs/bench-fib.md, docs/bench-fib.svg
//! ```
//!
//! Each case runs in a process of its own, so that DPDK starts with fresh memory of the right
//! pages.

mod clock;
mod contestant;
mod measure;
mod poptrie;
mod random;
mod reference;
mod report;
mod table;

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use fib::pages::PageSize;
use serde_json::{Value, json};

use crate::table::{CASES, Case};

const USAGE: &str = "\
usage: fib-bench [--quick] [--plot] [--only TEXT] [--data DIR] [--out FILE]
  --quick      a few small tables on huge pages, in less than a minute
  --plot       also writes docs/bench-fib.md and docs/bench-fib.svg
  --only TEXT  only cases whose names contain TEXT; rows of others stay in the file
  --data DIR   where internet-ipv4.txt.zst and internet-ipv6.txt.zst are (data)
  --out FILE   where the rows go (target/bench-fib.json)";

/// What can go wrong in a run.
#[derive(Debug, thiserror::Error)]
enum BenchError {
    #[error("DPDK does not start with {megabytes} MiB: it says {status}")]
    Dpdk { status: i32, megabytes: u32 },
    #[error("cannot read {file}: {why}")]
    Data { file: String, why: String },
    #[error("cannot write {file}: {source}")]
    Write { file: String, source: std::io::Error },
    #[error("cannot run {case}: {why}")]
    Child { case: &'static str, why: String },
    #[error("`{0}` is not understood\n{USAGE}")]
    Usage(String),
}

struct Options {
    quick: bool,
    plot: bool,
    only: String,
    data: PathBuf,
    out: PathBuf,
    /// Set in a child: the case and its pages.
    child: Option<(String, PageSize)>,
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, BenchError> {
    let mut options = Options {
        quick: false,
        plot: false,
        only: String::new(),
        data: "data".into(),
        out: "target/bench-fib.json".into(),
        child: None,
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| BenchError::Usage(word.clone()));
        match word.as_str() {
            "--quick" => options.quick = true,
            "--plot" => options.plot = true,
            "--only" => options.only = value()?,
            "--data" => options.data = value()?.into(),
            "--out" => options.out = value()?.into(),
            "--child" => {
                let case = value()?;
                let pages = if value()? == "huge" { PageSize::Huge } else { PageSize::Small };
                options.child = Some((case, pages));
            }
            _ => return Err(BenchError::Usage(word)),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let run = options(std::env::args().skip(1)).and_then(|options| match &options.child {
        Some((case, pages)) => child(&options, case, *pages),
        None => parent(&options),
    });
    match run {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fib-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures one case and prints its rows.
fn child(options: &Options, name: &str, pages: PageSize) -> Result<(), BenchError> {
    let case = CASES.iter().find(|case| case.name == name);
    let case = case.ok_or_else(|| BenchError::Usage(name.to_owned()))?;
    let items = case.items(&options.data)?;
    let rounds = if options.quick { 5 } else { 9 };
    println!("{}", Value::from(measure::run(case, &items, pages, rounds)));
    Ok(())
}

/// Runs a child for each case, and gathers what they say.
fn parent(options: &Options) -> Result<(), BenchError> {
    let begun = Instant::now();
    let mut rows = if options.only.is_empty() { Vec::new() } else { earlier_rows(&options.out) };
    for case in CASES.iter().filter(|case| case.name.contains(&options.only)) {
        for pages in ["huge", "4k"] {
            if options.quick && !(case.quick && pages == "huge") {
                continue;
            }
            eprint!("[{:4} s] {} on {pages} pages", begun.elapsed().as_secs(), case.name);
            rows.retain(|row: &Value| row["case"] != case.name || row["pages"] != pages);
            for mut row in run_child(options, case, pages)? {
                row["case"] = json!(case.name);
                row["pages"] = json!(pages);
                if let Some(cycles) = row["uniform"]["median"].as_f64() {
                    eprint!(", {} {cycles:.1}", row["contestant"].as_str().unwrap_or_default());
                }
                rows.push(row);
            }
            eprintln!();
            rows.sort_by_key(|row| {
                CASES
                    .iter()
                    .position(|case| row["case"] == case.name)
                    .map(|place| (place, row["pages"] != "huge"))
            });
            // After each case, so that a run that is stopped leaves what it has.
            let result = result(&rows);
            write(&options.out, &format!("{result:#}\n"))?;
            if options.plot {
                write(&"docs/bench-fib.md".into(), &report::markdown(&result))?;
                write(&"docs/bench-fib.svg".into(), &report::svg(&result))?;
            }
        }
    }
    eprintln!("[{:4} s] wrote {}", begun.elapsed().as_secs(), options.out.display());
    Ok(())
}

/// The rows of an earlier run, if there was one.
fn earlier_rows(file: &PathBuf) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut result: Value = serde_json::from_str(&text).unwrap_or_default();
    match result["rows"].take() {
        Value::Array(rows) => rows,
        _ => Vec::new(),
    }
}

fn result(rows: &[Value]) -> Value {
    json!({ "unit": "time-stamp cycles a lookup", "machine": machine(), "rows": rows })
}

/// The rows of one case; where it cannot run, one row that says why.
fn run_child(
    options: &Options,
    case: &'static Case,
    pages: &str,
) -> Result<Vec<Value>, BenchError> {
    let failed = |why: String| BenchError::Child { case: case.name, why };
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["--child", case.name, pages]).arg("--data").arg(&options.data);
    if options.quick {
        command.arg("--quick");
    }
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    // DPDK may print to the same stream: the rows are the last line.
    let text = String::from_utf8_lossy(&output.stdout);
    if let Some(Ok(Value::Array(rows))) = text.lines().last().map(serde_json::from_str) {
        return Ok(rows);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let why = said.lines().last().map_or_else(|| output.status.to_string(), str::to_owned);
    eprint!(": {why}");
    Ok(vec![json!({ "contestant": "all", "note": why })])
}

/// The processor's name.
fn machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    model.unwrap_or("unknown").to_owned()
}

fn write(file: &PathBuf, text: &str) -> Result<(), BenchError> {
    let failed = |source| BenchError::Write { file: file.display().to_string(), source };
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(file, text).map_err(failed)
}
