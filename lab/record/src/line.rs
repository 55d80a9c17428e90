//! A line of the raw file, made from the list of records in `lib.rs`.
//!
//! ```text
//! {"v":1,"trial":{…}}     ◀─▶  Line::Trial(…)  ─▶  Results::trials
//!         └ the record's key
//! ```
//! A record of a kind that this version has never heard of is passed over.

/// Version of the lines written here.
pub const SCHEMA: u32 = 1;

/// Something that can be written down.
pub trait Record {
    /// As a line.
    fn line(self) -> crate::Line;
}

/// The enum of lines, all that a raw file holds, and how one becomes the other: a record is one
/// line of the list.
macro_rules! records {
    (
        lists { $($(#[$about:meta])* $key:literal $kind:ident($record:ty) => $field:ident,)+ }
        joined { $($joined_key:literal $joined:ident($part:ty) => $join:path,)+ }
    ) => {
        /// A line of the raw file.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Line {
            $($(#[$about])* $kind(Box<$record>),)+
            $(#[doc = concat!("Part of another: ", $joined_key, ".")] $joined(Box<$part>),)+
        }

        /// All that a raw file holds.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Results {
            $($(#[$about])* pub $field: Vec<$record>,)+
            /// Cases of one start that are over.
            pub done: Vec<$crate::Subject>,
            /// Lines that could not be read, each with its number and why.
            pub skipped: Vec<String>,
        }

        impl Line {
            /// Puts it where it belongs among all that was read.
            pub(crate) fn keep(self, results: &mut Results) {
                match self {
                    $(Self::$kind(record) => results.$field.push(*record),)+
                    $(Self::$joined(part) => $join(results, *part),)+
                }
            }
        }

        $(impl $crate::line::Record for $record {
            fn line(self) -> Line {
                Line::$kind(Box::new(self))
            }
        })+
        $(impl $crate::line::Record for $part {
            fn line(self) -> Line {
                Line::$joined(Box::new(self))
            }
        })+

        impl serde::Serialize for Line {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut line = serializer.serialize_map(Some(2))?;
                line.serialize_entry("v", &$crate::line::SCHEMA)?;
                match self {
                    $(Self::$kind(record) => line.serialize_entry($key, record)?,)+
                    $(Self::$joined(part) => line.serialize_entry($joined_key, part)?,)+
                }
                line.end()
            }
        }

        /// Reads the record of a line; none where it is of a kind that is not known here.
        struct Reading;

        impl<'de> serde::de::Visitor<'de> for Reading {
            type Value = Option<Line>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a line of raw results")
            }

            fn visit_map<M: serde::de::MapAccess<'de>>(
                self,
                mut line: M,
            ) -> Result<Self::Value, M::Error> {
                let (mut version, mut read) = (None::<u32>, None);
                while let Some(key) = line.next_key::<std::borrow::Cow<'_, str>>()? {
                    match &*key {
                        "v" => version = Some(line.next_value()?),
                        $($key => read = line.next_value::<Option<_>>()?.map(Line::$kind).or(read),)+
                        $($joined_key => {
                            read = line.next_value::<Option<_>>()?.map(Line::$joined).or(read);
                        })+
                        _ => drop(line.next_value::<serde::de::IgnoredAny>()?),
                    }
                }
                version.map(|_| read).ok_or_else(|| serde::de::Error::missing_field("v"))
            }
        }
    };
}
pub(crate) use records;

/// Reads a line of this version.
pub(crate) fn read(text: &str) -> serde_json::Result<Option<crate::Line>> {
    use serde::Deserializer;
    let mut line = serde_json::Deserializer::from_str(text);
    let read = line.deserialize_map(crate::Reading)?;
    line.end().map(|()| read)
}
