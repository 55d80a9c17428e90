//! A command ends as it would have, whoever reads what it says.
#![expect(clippy::unwrap_used, reason = "all of it is test")]

use std::process::Command;

/// The exit code of a command whose standard error nobody reads.
fn code(words: &[&str]) -> Option<i32> {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    Command::new(env!("CARGO_BIN_EXE_volley")).args(words).stderr(writer).status().unwrap().code()
}

#[test]
fn a_fault_that_nobody_reads_is_the_same_fault() {
    assert_eq!(code(&["config", "check", "no-such-file.toml"]), Some(1));
    assert_eq!(code(&["show", "version", "--socket", "no-such-socket"]), Some(3));
    assert_eq!(code(&["qos", "import", "no-such-file"]), Some(2));
    assert_eq!(code(&["nonsense"]), Some(2));
}
