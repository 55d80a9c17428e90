//! Network namespaces of the machine.

use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;

use crate::config::field::{Field, Refusal};
use crate::config::form::Form;

/// A network namespace: its name, as `ip netns` lists it, or the path of its file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NetnsName(String);

impl Deref for NetnsName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NetnsName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Field for NetnsName {
    const EXPECTED: &'static str = "a network namespace: a name of `ip netns list`, or a path";
    const FORM: Form = <String as Field>::FORM;

    fn from_text(text: &str) -> Result<Self, Refusal> {
        String::from_text(text).map(Self)
    }

    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    /// A name alone leads nowhere but to what `ip netns` made.
    fn paths(&self, out: &mut Vec<PathBuf>) {
        if self.0.contains('/') {
            out.push(PathBuf::from(&self.0));
        }
    }
}
