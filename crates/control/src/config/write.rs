//! Writes TOML that reads back as the same value, in the style of the examples.

use std::borrow::Cow;
use std::fmt::{self, Display, Write};

use super::field::Field;
use super::field_change::FieldChange;
use super::toml_text::of_toml;

/// Fields with their values as TOML, in the order in which they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(Vec<Entry>);

/// A field. Defaults are not written, but told when they change.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    key: Cow<'static, str>,
    toml: String,
    is_default: bool,
}

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
    pub fn unless<T: Field + PartialEq>(
        mut self,
        key: &'static str,
        value: &T,
        default: &T,
    ) -> Self {
        let is_default = value == default;
        self.0.push(Entry { key: key.into(), toml: value.to_toml(), is_default });
        self
    }

    /// A list that is written when it is another than usual.
    #[must_use]
    pub fn list<T: Field + PartialEq>(
        mut self,
        key: &'static str,
        values: &[T],
        default: &[T],
    ) -> Self {
        if values.is_empty() && default.is_empty() {
            return self;
        }
        let items: Vec<String> = values.iter().map(Field::to_toml).collect();
        let toml = format!("[{}]", items.join(", "));
        self.0.push(Entry { key: key.into(), toml, is_default: values == default });
        self
    }

    /// A field already in TOML.
    #[must_use]
    pub fn raw(mut self, key: impl Into<Cow<'static, str>>, toml: String) -> Self {
        self.0.push(Entry { key: key.into(), toml, is_default: false });
        self
    }

    /// A field already in TOML, if it is there.
    #[must_use]
    pub fn maybe_raw(self, key: &'static str, toml: Option<String>) -> Self {
        match toml {
            Some(toml) => self.raw(key, toml),
            None => self,
        }
    }

    /// The same fields behind one that names the row.
    #[must_use]
    pub fn led_by<T: Field>(mut self, key: &'static str, value: &T) -> Self {
        self.0.insert(0, Entry { key: key.into(), toml: value.to_toml(), is_default: false });
        self
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.written().next().is_none()
    }

    /// What is written.
    fn written(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter().filter(|entry| !entry.is_default)
    }

    /// The fields but those of this name, and what is told below it.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.retain(|entry| entry.key.split(['.', '[']).next() != Some(name));
        self
    }

    /// As short as it can be said: the first field alone where no other is written, `true` where
    /// none is.
    pub fn short(&self, first: Option<&str>) -> String {
        let mut written = self.written();
        match (written.next(), written.next()) {
            (None, _) => true.to_toml(),
            (Some(one), None) if first == Some(&*one.key) => one.toml.clone(),
            _ => self.inline(),
        }
    }

    /// All of them as one inline table.
    pub fn inline(&self) -> String {
        let pairs: Vec<String> =
            self.written().map(|entry| format!("{} = {}", entry.key, entry.toml)).collect();
        format!("{{ {} }}", pairs.join(", "))
    }

    /// What is written, as keys with their TOML.
    pub(crate) fn pairs(&self) -> Vec<(String, String)> {
        self.written().map(|entry| (entry.key.to_string(), entry.toml.clone())).collect()
    }

    /// A field's value, be it the default.
    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|entry| entry.key == key).map(|entry| entry.toml.as_str())
    }

    /// What differs, as values; of what is not there on one side, the other's default is nothing.
    pub(crate) fn differences(&self, new: &Self) -> Vec<FieldChange> {
        let is_alone = self.0.is_empty() || new.0.is_empty();
        let added = new.0.iter().filter(|entry| self.value(&entry.key).is_none());
        let change = |entry: &Entry| {
            let (before, after) = (self.value(&entry.key), new.value(&entry.key));
            let json = |toml: Option<&str>| toml.and_then(of_toml).unwrap_or_default();
            (before != after && !(is_alone && entry.is_default)).then(|| FieldChange {
                name: entry.key.to_string(),
                before: json(before),
                after: json(after),
            })
        };
        self.0.iter().chain(added).filter_map(change).collect()
    }

    /// What differs, as `mtu 1500 -> 9000, mac (none) -> "02:00:00:00:00:01"`.
    pub fn changes(&self, new: &Self) -> String {
        let added = new.0.iter().filter(|entry| self.value(&entry.key).is_none());
        let change = |entry: &Entry| {
            let (before, after) = (self.value(&entry.key), new.value(&entry.key));
            let none = "(none)";
            (before != after).then(|| {
                format!("{} {} -> {}", entry.key, before.unwrap_or(none), after.unwrap_or(none))
            })
        };
        self.0.iter().chain(added).filter_map(change).collect::<Vec<_>>().join(", ")
    }
}

impl Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, entry) in self.written().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma} {} = {}", entry.key, entry.toml)?;
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
        let width = fields.written().map(|entry| entry.key.len()).max().unwrap_or(0);
        for entry in fields.written() {
            // Writing to a String cannot fail.
            let _ = writeln!(self.text, "{:width$} = {}", entry.key, entry.toml);
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
