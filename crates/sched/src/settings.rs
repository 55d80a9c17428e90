//! What a discipline or a class can be set to: one declared list each, from which everybody reads
//! and writes it.
//!
//! ```text
//!   settings! { pub struct CodelShape: "codel" { limit: usual u32 = 1000; … } }
//!        │
//!        ├─▶ the struct, its defaults, serde
//!        ├─▶ ranges                       check
//!        ├─▶ tc's words                   tc
//!        └─▶ names, types, defaults       whoever else reads and writes settings, field by field
//! ```
//! A setting is `usual` (it has a default), `maybe` (it may be left out) or `needed`.

use crate::curve::Curve;
use crate::units::{Rate, Size, Time};
use crate::{ClassId, Error, Isolation, LinkLayer, Tins};

/// One setting: how it is called and what it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// The words that `tc` has for it; `None`: its name.
    tc: Option<&'static [&'static str]>,
    /// The word by which `tc` switches it off.
    tc_off: Option<&'static str>,
    /// Whether `tc` counts it in seconds, not in microseconds.
    tc_seconds: bool,
    range: Option<(u64, u64, &'static str)>,
    /// Whether it is what the whole is called.
    is_its_name: bool,
}

impl Setting {
    pub(crate) const fn new(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            about,
            tc: None,
            tc_off: None,
            tc_seconds: false,
            range: None,
            is_its_name: false,
        }
    }

    /// The least and the most that it may be, and how a person is told so.
    pub(crate) const fn within(mut self, least: u64, most: u64, told: &'static str) -> Self {
        self.range = Some((least, most, told));
        self
    }

    /// `tc` calls it otherwise.
    pub(crate) const fn tc(mut self, words: &'static [&'static str]) -> Self {
        self.tc = Some(words);
        self
    }

    /// `tc` has a word that switches it off.
    pub(crate) const fn tc_off(mut self, word: &'static str) -> Self {
        self.tc_off = Some(word);
        self
    }

    /// `tc` counts it in seconds.
    pub(crate) const fn tc_seconds(mut self) -> Self {
        self.tc_seconds = true;
        self
    }

    /// It is what the whole is called, which `tc` says before all options.
    pub(crate) const fn its_name(mut self) -> Self {
        self.is_its_name = true;
        self.tc = Some(&[]);
        self
    }

    pub(crate) fn is_its_name(&self) -> bool {
        self.is_its_name
    }

    pub(crate) fn is_called(&self, word: &str) -> bool {
        self.tc.map_or(self.name == word, |words| words.contains(&word))
    }

    pub(crate) fn is_switched_off_by(&self, word: &str) -> bool {
        self.tc_off == Some(word)
    }

    pub(crate) fn is_in_seconds(&self) -> bool {
        self.tc_seconds
    }

    /// The least and the most that it may be.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        self.range.map(|(least, most, _)| (least, most))
    }

    /// What it may be, as a person is told.
    pub fn range(&self) -> Option<&'static str> {
        self.range.map(|(_, _, told)| told)
    }

    fn check(&self, kind: &'static str, value: u64) -> Result<(), Error> {
        match self.range {
            Some((least, most, range)) => within(kind, self.name, value, least, most, range),
            None => Ok(()),
        }
    }
}

/// Refuses a value out of its range.
pub(crate) fn within(
    kind: &'static str,
    setting: &'static str,
    value: u64,
    least: u64,
    most: u64,
    range: &'static str,
) -> Result<(), Error> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::Range { kind, setting, value, range })
}

/// Where the value of a setting stands.
#[derive(Debug)]
pub enum Place<'a, T> {
    /// It has a default, which comes with it.
    Usual(&'a mut T, T),
    /// It may be left out.
    Maybe(&'a mut Option<T>),
    /// It must be given.
    Needed(&'a mut T),
}

impl<T: Clone> Place<'_, T> {
    /// Gives it a value.
    pub fn set(self, value: T) {
        match self {
            Self::Usual(place, _) | Self::Needed(place) => *place = value,
            Self::Maybe(place) => *place = Some(value),
        }
    }

    /// Its value, if it has one.
    pub fn value(&self) -> Option<T> {
        match self {
            Self::Usual(place, _) | Self::Needed(place) => Some((**place).clone()),
            Self::Maybe(place) => (**place).clone(),
        }
    }

    /// Whether it must be given.
    pub fn is_needed(&self) -> bool {
        matches!(self, Self::Needed(_))
    }
}

macro_rules! slots {
    ($($(#[$doc:meta])* $variant:ident($type:ty): $number:expr,)+) => {
        /// A setting's place, by the type of its value.
        #[derive(Debug)]
        pub enum Slot<'a> { $($(#[$doc])* $variant(Place<'a, $type>),)+ }

        $(impl<'a> From<Place<'a, $type>> for Slot<'a> {
            fn from(place: Place<'a, $type>) -> Self {
                Self::$variant(place)
            }
        })+

        impl Slot<'_> {
            /// Whether a value must be given.
            pub fn is_needed(&self) -> bool {
                match self { $(Self::$variant(place) => place.is_needed(),)+ }
            }

            /// The value as a number that a range can bound.
            fn number(&self) -> Option<u64> {
                match self {
                    $(Self::$variant(place) => {
                        let number: fn(&$type) -> Option<u64> = $number;
                        place.value().as_ref().and_then(number)
                    })+
                }
            }
        }

        /// Does the same with a slot's place whatever the type of its value.
        #[macro_export]
        macro_rules! each_slot {
            ($slot:expr, $place:ident => $do:expr) => {
                match $slot { $($crate::Slot::$variant($place) => $do,)+ }
            };
        }
    };
}
slots! {
    /// A count.
    Count(u32): |count| Some(u64::from(*count)),
    /// A small number.
    Small(u8): |number| Some(u64::from(*number)),
    /// A number of bytes.
    Size(Size): |size| Some(size.0),
    /// A time.
    Time(Time): |time| Some(time.0),
    /// A rate.
    Rate(Rate): |rate| Some(rate.0),
    /// Yes or no.
    Flag(bool): |_| None,
    /// The name of a class or of a discipline.
    Class(ClassId): |_| None,
    /// A service curve.
    Curve(Curve): |_| None,
    /// From priority to band.
    Bands([u8; 16]): |_| None,
    /// How a link carries packets.
    Layer(LinkLayer): |_| None,
    /// How packets are told apart by their code points.
    Tins(Tins): |_| None,
    /// What has a queue of its own.
    Isolation(Isolation): |_| None,
}

/// Sees settings one after the other.
pub type Visit<'v> = &'v mut dyn FnMut(&Setting, Slot<'_>);

/// What has settings.
pub trait Settings {
    /// What it is called: a discipline by `tc`'s name.
    fn kind(&self) -> &'static str;

    /// Shows every setting, in the order in which a person writes them.
    fn each(&mut self, visit: Visit<'_>);

    /// Refuses settings out of their ranges.
    fn check_ranges(&self) -> Result<(), Error>;
}

/// Refuses settings out of their ranges.
pub(crate) fn check_ranges<S: Settings + Clone>(settings: &S) -> Result<(), Error> {
    let (kind, mut outcome) = (settings.kind(), Ok(()));
    settings.clone().each(&mut |setting, slot| {
        if let (Ok(()), Some(number)) = (&outcome, slot.number()) {
            outcome = setting.check(kind, number);
        }
    });
    outcome
}

/// Whether a value is left out where it is written.
pub(crate) trait LeftOut {
    fn is_left_out(&self) -> bool {
        false
    }
}
impl LeftOut for u32 {}
impl LeftOut for u8 {}
impl LeftOut for bool {}
impl LeftOut for Size {}
impl LeftOut for Time {}
impl LeftOut for Rate {}
impl LeftOut for ClassId {}
impl LeftOut for Curve {}
impl LeftOut for [u8; 16] {}
impl LeftOut for LinkLayer {}
impl LeftOut for Tins {}
impl LeftOut for Isolation {}
impl<T> LeftOut for Option<T> {
    fn is_left_out(&self) -> bool {
        self.is_none()
    }
}

pub(crate) fn is_left_out<T: LeftOut>(value: &T) -> bool {
    value.is_left_out()
}

/// Declares what can be set, and what else belongs to the value (behind `with`).
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $name:ident: $kind:literal {
            $($(#[doc = $about:literal])+ $field:ident: $need:ident $type:ty $(= $usual:expr)?
                $(, $rule:ident($($argument:expr),*))*;)*
            $(with $(#[$part_meta:meta])+ $part:ident: $part_type:ty $(= $part_usual:expr)?;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[doc = $about])+
            #[serde(skip_serializing_if = "crate::settings::is_left_out")]
            pub $field: $crate::settings::settings!(@type $need $type),)*
            $($(#[$part_meta])+ pub $part: $part_type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($field: $crate::settings::settings!(@usual $need $($usual)?),)*
                    $($part: $crate::settings::settings!(@part $($part_usual)?),)*
                }
            }
        }

        impl $crate::settings::Settings for $name {
            fn kind(&self) -> &'static str {
                $kind
            }

            fn check_ranges(&self) -> Result<(), $crate::Error> {
                $crate::settings::check_ranges(self)
            }

            #[allow(unused_variables, reason = "some have nothing to set")]
            fn each(&mut self, visit: $crate::settings::Visit<'_>) {
                use $crate::settings::{Place, Setting};
                $({
                    const ABOUT: &str = concat!($($about),+).trim_ascii();
                    const SETTING: Setting =
                        Setting::new(stringify!($field), ABOUT)$(.$rule($($argument),*))*;
                    let place = $crate::settings::settings!(@place $need &mut self.$field, $($usual)?);
                    visit(&SETTING, place.into());
                })*
            }
        }
    };
    (@type maybe $type:ty) => { Option<$type> };
    (@type $need:ident $type:ty) => { $type };
    (@usual usual $usual:expr) => { $usual };
    (@usual $need:ident) => { Default::default() };
    (@part) => { Default::default() };
    (@part $usual:expr) => { $usual };
    (@place usual $place:expr, $usual:expr) => { Place::Usual($place, $usual) };
    (@place maybe $place:expr,) => { Place::Maybe($place) };
    (@place needed $place:expr,) => { Place::Needed($place) };
}
pub(crate) use settings;
