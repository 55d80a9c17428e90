//! Reads TOML tables field by field, so that every fault gets its place and none hides another.
//!
//! A reader learns the known keys from what it is asked for; what remains is unknown.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::field::Field;
use super::report::{Problem, Report};
use super::suggest::nearest;
use super::toml_text::found;

/// Keys that a small table is asked for: of those there are a million.
const KEYS: usize = 16;

/// One table being read.
pub struct TableReader<'a> {
    table: &'a DeTable<'a>,
    span: Range<usize>,
    path: String,
    known: Vec<&'static str>,
    /// Whether the field that says which others there are is missing or wrong.
    is_undecided: bool,
    report: &'a mut Report,
}

/// A number that has a range, or none at all.
pub trait Within<T> {
    /// The number, if it is out of the range.
    fn outside(&self, range: &RangeInclusive<T>) -> Option<T>;
}

impl<T: PartialOrd + Copy> Within<T> for T {
    fn outside(&self, range: &RangeInclusive<T>) -> Option<T> {
        (!range.contains(self)).then_some(*self)
    }
}

impl<T: PartialOrd + Copy> Within<T> for Option<T> {
    fn outside(&self, range: &RangeInclusive<T>) -> Option<T> {
        self.as_ref().and_then(|number| number.outside(range))
    }
}

/// A key's value with its place.
type Value<'a> = &'a Spanned<DeValue<'a>>;

impl<'a> TableReader<'a> {
    /// A reader of `table`; `path` is how problems call it, empty for the whole file.
    pub fn new(
        table: &'a DeTable<'a>,
        span: Range<usize>,
        path: impl Into<String>,
        report: &'a mut Report,
    ) -> Self {
        let path = path.into();
        if !path.is_empty() {
            report.place(&path, span.clone());
        }
        let known = Vec::with_capacity(KEYS);
        Self { table, span, path, known, is_undecided: false, report }
    }

    /// How problems call a field of this table.
    pub fn field(&self, key: &str) -> String {
        if self.report.is_whether() {
            return String::new();
        }
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Where problems without a better place go.
    pub fn report(&mut self) -> &mut Report {
        self.report
    }

    /// The table's own place.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Whether the key is there.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Whether somebody has asked for the key.
    pub fn knows(&self, key: &str) -> bool {
        self.known.contains(&key)
    }

    /// Whether the key is there with a list.
    pub fn has_list(&self, key: &str) -> bool {
        self.table.get(key).is_some_and(|value| value.get_ref().is_array())
    }

    /// A value that another field depends on, as far as it can be read: whoever has it tells its
    /// faults.
    pub fn peek<T: Field>(&self, key: &str) -> Option<T> {
        T::from_value(self.table.get(key)?.get_ref()).ok()
    }

    /// Notes keys that could stand here, too.
    pub fn know(&mut self, keys: &[&'static str]) {
        self.known.extend_from_slice(keys);
    }

    /// Renames the table once its key is known, and remembers its fields' places under that name.
    pub fn rename(&mut self, path: impl FnOnce() -> String) {
        if self.report.is_whether() {
            return;
        }
        self.path = path();
        self.report.place(&self.path, self.span.clone());
        for (key, value) in self.table {
            let field = self.field(key.get_ref());
            self.report.place(&field, value.span());
        }
    }

    /// The value of a key, noted as known.
    pub fn value(&mut self, key: &'static str) -> Option<Value<'a>> {
        self.known.push(key);
        let value = self.table.get(key)?;
        let field = self.field(key);
        self.report.place(&field, value.span());
        Some(value)
    }

    /// A field that may be left out.
    pub fn optional<T: Field>(&mut self, key: &'static str) -> Option<T> {
        let value = self.value(key)?;
        let field = self.field(key);
        T::read(value, &field, self.report)
    }

    /// A field with a default.
    pub fn or<T: Field>(&mut self, key: &'static str, default: T) -> T {
        self.optional(key).unwrap_or(default)
    }

    /// A field that must be there.
    pub fn required<T: Field>(&mut self, key: &'static str) -> Option<T> {
        if !self.has(key) {
            self.known.push(key);
            let problem = Problem::new(self.field(key), format!("`{key}` is missing"))
                .expected(T::EXPECTED)
                .at(self.span());
            self.report.push(problem);
            return None;
        }
        self.optional(key)
    }

    /// A field that must be there, and says which others may be: where it lacks or is wrong, a key
    /// may be one of those, and is only told when it is nearly another.
    pub fn deciding<T: Field>(&mut self, key: &'static str) -> Option<T> {
        let said = self.required(key);
        self.is_undecided |= said.is_none();
        said
    }

    /// A number with a default and a range.
    pub fn number<T: Field + PartialOrd + Display + Copy>(
        &mut self,
        key: &'static str,
        default: T,
        range: RangeInclusive<T>,
    ) -> T {
        let number = self.optional::<T>(key);
        self.within(key, number, &range).unwrap_or(default)
    }

    /// The value of a field, unless it is out of range.
    pub fn within<V: Within<T>, T: Display>(
        &mut self,
        key: &'static str,
        value: Option<V>,
        range: &RangeInclusive<T>,
    ) -> Option<V> {
        let number = value.as_ref().and_then(|value| value.outside(range));
        if number.is_none() && self.report.is_empty() {
            return value;
        }
        let expected = numbers(range.start(), range.end());
        let out_of_range =
            |number: &dyn Display| format!("`{key}` is {number}, which is out of range");
        let Some(number) = number else {
            // It may be more than its type holds, which knows nothing of this range.
            let said = match self.table.get(key).map(Spanned::get_ref) {
                Some(DeValue::Integer(number)) => Some(out_of_range(number)),
                _ => None,
            };
            let field = self.field(key);
            self.report.bound(&field, said, expected);
            return value;
        };
        let problem = Problem::new(self.field(key), out_of_range(&number)).expected(expected);
        self.report.push(problem);
        None
    }

    /// A list of values; a single value stands for a list of one.
    pub fn list<T: Field>(&mut self, key: &'static str) -> Vec<T> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let field = self.field(key);
        let DeValue::Array(items) = value.get_ref() else {
            return T::read(value, &field, self.report).into_iter().collect();
        };
        let read = |(index, item): (usize, Value<'a>)| {
            let field = self.report.named(|| format!("{field}[{index}]"));
            self.report.place(&field, item.span());
            T::read(item, &field, self.report)
        };
        items.iter().enumerate().filter_map(read).collect()
    }

    /// A table within this one, to be read and finished by `read`.
    pub fn table<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut TableReader<'_>) -> T,
    ) -> Option<T> {
        let value = self.value(key)?;
        let field = self.field(key);
        read_table(value, field, self.report, read)
    }

    /// Every table of a table of tables, as in `[port.NAME]`.
    pub fn each_table(
        &mut self,
        key: &'static str,
        mut read: impl FnMut(&str, Range<usize>, &mut TableReader<'_>),
    ) {
        let Some(value) = self.value(key) else { return };
        let Some(entries) = value.get_ref().as_table() else {
            let problem = Problem::new(self.field(key), format!("`{key}` is {}", found(value)))
                .expected(format!("tables with a name, as in [{key}.NAME]"));
            return self.report.push(problem);
        };
        for (name, value) in in_file_order(entries) {
            let field = format!("{}.{}", self.field(key), name.get_ref());
            read_table(value, field, self.report, |reader| {
                read(name.get_ref(), name.span(), reader);
            });
        }
    }

    /// Every table of an array of tables, as in `[[route]]`.
    pub fn each_item(&mut self, key: &'static str, mut read: impl FnMut(&mut TableReader<'_>)) {
        let Some(value) = self.value(key) else { return };
        let Some(items) = value.get_ref().as_array() else {
            let problem = Problem::new(self.field(key), format!("`{key}` is {}", found(value)))
                .expected(format!("a list of tables, as in [[{key}]]"))
                .help(format!("write [[{key}]] with two brackets"));
            return self.report.push(problem);
        };
        for (index, item) in items.iter().enumerate() {
            let field = self.report.named(|| format!("{}[{index}]", self.field(key)));
            read_table(item, field, self.report, &mut read);
        }
    }

    /// Refuses every key that nobody asked for.
    pub fn finish(&mut self) {
        let is_known = |key: &Spanned<Cow<'_, str>>| self.known.contains(&key.get_ref().as_ref());
        if self.table.iter().all(|(key, _)| is_known(key)) {
            return;
        }
        for (key, _) in in_file_order(self.table) {
            let name = key.get_ref().as_ref();
            if self.known.contains(&name) {
                continue;
            }
            let near = nearest(name, self.known.iter().copied());
            if self.is_undecided && near.is_none() {
                continue;
            }
            let mut problem = Problem::new(self.field(name), format!("unknown key `{name}`"))
                .expected(format!("one of {}", self.known.join(", ")))
                .at(key.span());
            if let Some(word) = near {
                problem = problem.help(format!("did you mean `{word}`?"));
            }
            self.report.push(problem);
        }
    }
}

/// What a number with a range is to be.
pub(crate) fn numbers(least: impl Display, most: impl Display) -> String {
    format!("a number from {least} to {most}")
}

/// Reads one value as a table and refuses its unknown keys.
pub(crate) fn read_table<T>(
    value: &Spanned<DeValue<'_>>,
    field: String,
    report: &mut Report,
    read: impl FnOnce(&mut TableReader<'_>) -> T,
) -> Option<T> {
    let Some(table) = value.get_ref().as_table() else {
        let problem = Problem::new(&field, format!("`{field}` is {}", found(value)))
            .expected("a table")
            .at(value.span());
        report.push(problem);
        return None;
    };
    let mut reader = TableReader::new(table, value.span(), field, report);
    let result = read(&mut reader);
    reader.finish();
    Some(result)
}

type Entry<'a> = (&'a Spanned<Cow<'a, str>>, Value<'a>);

/// The parser sorts keys by name; people think in the order they wrote.
fn in_file_order<'a>(table: &'a DeTable<'a>) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}
