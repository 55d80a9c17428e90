//! `qos import`: `tc` scripts to take over.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::error::CliError;

/// The command that takes over a `tc` script: its lines, comments left out, parted by `;`, so that
/// a fault still names the right one.
pub(crate) fn import(file: &str) -> Result<String, CliError> {
    let text = if file == "-" {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(Path::new(file))
    };
    let text = text.map_err(|error| CliError::Usage(format!("error: {file}: {error}\n")))?;
    if text.contains(['"', ';']) {
        let message =
            format!("error: {file}: quotes and semicolons are a shell's: take them out\n");
        return Err(CliError::Usage(message));
    }
    let lines: Vec<&str> =
        text.lines().map(|line| line.split('#').next().unwrap_or("").trim_end()).collect();
    Ok(format!("qos import \"{}\"", lines.join(";")))
}
