//! Writes the searches that there are into the lab's YANG module: `make yang`.

use std::process::ExitCode;

use lab_trial::yang::with_searches;

fn main() -> ExitCode {
    let write = |path: &String| {
        let text = std::fs::read_to_string(path).ok()?;
        std::fs::write(path, with_searches(&text)?).ok()
    };
    let files: Vec<String> = std::env::args().skip(1).collect();
    match files.iter().find(|path| write(path).is_none()) {
        None => ExitCode::SUCCESS,
        Some(path) => {
            eprintln!("{path}: no module with a list of searches");
            ExitCode::FAILURE
        }
    }
}
