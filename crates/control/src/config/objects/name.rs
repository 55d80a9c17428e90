//! Names of configured things, each kind a type of its own, written as ports' names are.

/// Declares the names of a kind: `what` is how a person calls one, as in `a bridge name`, and `of`
/// how the file calls the kind, as in `bridge`.
macro_rules! name_field {
    ($(#[$doc:meta])* $name:ident = $what:literal of $of:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($crate::config::objects::port_name::PortName);

        impl $name {
            /// The name.
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl $crate::config::field::Field for $name {
            const EXPECTED: &'static str =
                concat!($what, ": a letter, then up to 14 letters, digits, `-`, `_` or `.`");
            const FORM: $crate::config::form::Form =
                <$crate::config::objects::port_name::PortName as $crate::config::field::Field>::FORM;

            const NAMES: &'static str = $of;

            fn from_text(text: &str) -> Result<Self, $crate::config::field::Refusal> {
                let name = $crate::config::objects::port_name::PortName::from_text(text);
                name.map(Self).map_err(|_| $crate::config::field::Refusal {
                    message: Some(format!(concat!("`{}` is not ", $what), text)),
                    suggestion: None,
                })
            }

            fn to_toml(&self) -> String {
                self.0.to_toml()
            }
        }

        $crate::config::key::name_key!($name = $what);
    };
}
pub(crate) use name_field;
