//! Settings that are one of a few words.

/// Declares an enum whose values are words, as `tc` writes them.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident: $what:literal {
            $($(#[$value_meta:meta])+ $value:ident = $word:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$value_meta])+ #[serde(rename = $word)] $value,)+
        }

        impl $name {
            /// All of them.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$value => $word,)+ })
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Error;

            fn from_str(text: &str) -> Result<Self, $crate::Error> {
                match text {
                    $($word => Ok(Self::$value),)+
                    _ => Err($crate::Error::Quantity {
                        what: $what,
                        text: text.to_string(),
                        reason: format!("it is none of {}", Self::WORDS.join(", ")),
                    }),
                }
            }
        }
    };
}

pub(crate) use words;
