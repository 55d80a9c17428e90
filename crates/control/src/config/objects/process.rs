//! `[process]`: what the kernel lets the router's process do while it runs. It gives up the rest
//! when it starts, for ever.

use rights::Capability;

use super::Object;
use crate::config::declare::object;
use crate::config::field::{Field, Refusal, word_field};
use crate::config::form::Form;
use crate::config::row::Row;
use crate::config::rows::Section;
use crate::config::toml_text::quoted;

word_field! {
    /// For which ports capabilities are kept.
    KeptFor {
        /// Those of any kind that may come while it runs, but cards.
        Any = "any",
        /// Those that are configured when it starts.
        Configured = "configured",
    }
}

/// A capability of the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapabilityName(pub Capability);

impl Field for CapabilityName {
    const EXPECTED: &'static str = "a capability of Linux, as in \"dac_override\": capabilities(7)";
    const FORM: Form = Form::Text("^[A-Za-z_]+$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        Capability::named(text).map(Self).ok_or_else(Refusal::default)
    }

    fn to_toml(&self) -> String {
        quoted(self.0.name())
    }
}

object! {
    /// What the kernel lets the router do while it runs; it gives up the rest when it starts
    pub struct Process {
        /// The ports whose capabilities it keeps: any that may come (but cards), or those
        /// configured when it starts
        pub capabilities: KeptFor = KeptFor::Any,
        /// The kernel refuses it all calls but those that routers make
        pub filter: bool = true,
        /// Capabilities that it keeps besides
        pub keep: Vec<CapabilityName> as "dac_override" = Vec::new(),
    }
}

impl Row for Process {
    const KIND: &'static str = "process";
}

impl Section for Process {}

impl Object for Process {
    const NEEDS_RESTART: bool = true;
}

#[cfg(test)]
mod tests {
    use crate::config::{Host, Source, parse, render};

    #[test]
    fn capabilities_are_called_by_their_names() {
        let read = |text: &str| parse(&Source::new("test", text), &Host::any());
        let text = "[process]\nkeep = [\"CAP_DAC_OVERRIDE\", \"sys_nice\"]\n";
        let written = render(&read(text).unwrap());
        assert_eq!(written, "[process]\nkeep = [\"dac_override\", \"sys_nice\"]\n");
        let error = read("[process]\nkeep = [\"dac\"]\n").unwrap_err().to_string();
        assert!(error.contains("a capability of Linux"), "{error}");
    }
}
