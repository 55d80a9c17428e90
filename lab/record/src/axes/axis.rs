//! What an axis says of itself.

/// Something that scenarios vary.
pub trait Axis {
    /// Its name in scenarios and results.
    const NAME: &'static str;
    /// Who sets it.
    const SET_BY: SetBy;
    /// The figure over it, where there are three values or more.
    const FIGURE: Option<Figure> = None;
    /// What a value of it is.
    type Value: Value;

    /// Whether a value is what every device does anyway: no adapter need set it.
    fn is_usual(_: &Self::Value) -> bool {
        false
    }

    /// What is wrong with a value, if anything.
    fn fault(_: &Self::Value) -> Option<String> {
        None
    }
}

/// A value of an axis: a whole number, or one of some words.
pub trait Value: Sized {
    /// The words; none where it is a number.
    const WORDS: &'static [&'static str];

    /// Out of its text.
    fn read(text: &str) -> Option<Self>;
}

impl Value for u64 {
    const WORDS: &'static [&'static str] = &[];

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// Who sets an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetBy {
    /// The generator, while the device runs on.
    Generator,
    /// The lab, whatever the device: it is started with it.
    Lab,
    /// The device's adapter, if it can: it is started with it, or refuses.
    Adapter,
}

/// The curves over an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure {
    /// Its place among the figures.
    pub place: u8,
    /// What stands below.
    pub label: &'static str,
    /// Whether each step is a factor.
    pub log: bool,
}

/// An axis without its type.
#[derive(Debug)]
pub struct Spec {
    /// Its name.
    pub name: &'static str,
    /// Its words; none where its values are numbers.
    pub words: &'static [&'static str],
    /// Who sets it.
    pub set_by: SetBy,
    /// The figure over it.
    pub figure: Option<Figure>,
    /// Whether the value of this text is what every device does anyway.
    pub is_usual: fn(&str) -> bool,
    /// What is wrong with the value of this text, if anything.
    pub fault: fn(&str) -> Option<String>,
}

impl PartialEq for Spec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// An axis for the list.
pub(super) const fn spec<A: Axis>() -> Spec {
    Spec {
        name: A::NAME,
        words: A::Value::WORDS,
        set_by: A::SET_BY,
        figure: A::FIGURE,
        is_usual: |text| A::Value::read(text).is_some_and(|value| A::is_usual(&value)),
        fault: |text| A::Value::read(text).and_then(|value| A::fault(&value)),
    }
}
