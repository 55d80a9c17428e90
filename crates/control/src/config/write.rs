//! Writes TOML that reads back as the same value, in the style of the examples.

use std::fmt::{self, Display, Write};

use super::field::Field;

/// Fields with their values as TOML, in the order in which they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(Vec<(&'static str, String)>);

impl Fields {
    /// No fields yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A field that is always written.
    #[must_use]
    pub fn with<T: Field>(self, key: &'static str, value: &T) -> Self {
        self.raw(key, value.to_toml())
    }

    /// A field that is written when it is there.
    #[must_use]
    pub fn maybe<T: Field>(self, key: &'static str, value: &Option<T>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// A field that is written when it is not the default.
    #[must_use]
    pub fn unless<T: Field + PartialEq>(self, key: &'static str, value: &T, default: &T) -> Self {
        if value == default { self } else { self.with(key, value) }
    }

    /// A list that is written when it is not empty.
    #[must_use]
    pub fn list<T: Field>(self, key: &'static str, values: &[T]) -> Self {
        if values.is_empty() {
            return self;
        }
        let items: Vec<String> = values.iter().map(Field::to_toml).collect();
        self.raw(key, format!("[{}]", items.join(", ")))
    }

    /// A field already in TOML.
    #[must_use]
    pub fn raw(mut self, key: &'static str, toml: String) -> Self {
        self.0.push((key, toml));
        self
    }

    /// The same fields behind one that names the row.
    #[must_use]
    pub fn led_by<T: Field>(mut self, key: &'static str, value: &T) -> Self {
        self.0.insert(0, (key, value.to_toml()));
        self
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them as one inline table.
    pub fn inline(&self) -> String {
        let pairs: Vec<String> =
            self.0.iter().map(|(key, toml)| format!("{key} = {toml}")).collect();
        format!("{{ {} }}", pairs.join(", "))
    }

    /// What differs, as `mtu 1500 -> 9000, up (default) -> false`.
    pub fn changes(&self, new: &Self) -> String {
        let value = |fields: &Self, key: &str| {
            let found = fields.0.iter().find(|(name, _)| *name == key);
            found.map_or_else(|| "(default)".to_owned(), |(_, toml)| toml.clone())
        };
        let added = new.0.iter().filter(|(key, _)| !self.0.iter().any(|(name, _)| name == key));
        let parts: Vec<String> = self
            .0
            .iter()
            .chain(added)
            .map(|(key, _)| (*key, value(self, key), value(new, key)))
            .filter(|(_, before, after)| before != after)
            .map(|(key, before, after)| format!("{key} {before} -> {after}"))
            .collect();
        parts.join(", ")
    }
}

impl Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, toml)) in self.0.iter().enumerate() {
            write!(f, "{} {key} = {toml}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// A TOML document in the making.
#[derive(Debug, Default)]
pub struct Writer {
    text: String,
}

impl Writer {
    /// A section of the file: its header, as in `[port.p0]`, and its fields.
    pub fn section(&mut self, header: &str, fields: &Fields) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(header);
        self.text.push('\n');
        let width = fields.0.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
        for (key, toml) in &fields.0 {
            // Writing to a String cannot fail.
            let _ = writeln!(self.text, "{key:width$} = {toml}");
        }
    }

    /// A section that is left out when it holds nothing but defaults.
    pub fn section_unless_default(&mut self, header: &str, fields: &Fields) {
        if !fields.is_empty() {
            self.section(header, fields);
        }
    }

    /// The document.
    pub fn finish(self) -> String {
        self.text
    }
}

/// A TOML basic string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
