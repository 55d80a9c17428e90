//! What the endpoints of streams are.

use super::axis::{Axis, SetBy, Value};

/// Where an end of a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// In a network namespace.
    Namespace,
    /// In a container.
    Container,
    /// In a virtual machine.
    Vm,
}

impl Value for Endpoint {
    const WORDS: &'static [&'static str] = &["namespace", "container", "vm"];

    fn read(text: &str) -> Option<Self> {
        let all = [Self::Namespace, Self::Container, Self::Vm];
        Self::WORDS.iter().zip(all).find(|(word, _)| **word == text).map(|(_, endpoint)| endpoint)
    }
}

impl Axis for Endpoint {
    const NAME: &'static str = "endpoint";
    const SET_BY: SetBy = SetBy::Generator;
    type Value = Self;
}
