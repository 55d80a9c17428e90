//! Fields of a filter: flags of the command, parameters of the API.

use serde_json::Value;
use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterIn};

use super::answer::View;

/// One field of a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Its name.
    pub name: String,
    /// One line of what it chooses.
    pub help: String,
    /// What stands for its value in usage lines, as in `PREFIX`.
    pub value: String,
    /// What it may be.
    pub kind: Kind,
    /// Whether it stands alone, without its name, and must be given: it is a part of the path.
    pub in_path: bool,
}

/// What a field may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// Any words: all that stand behind the command, without its name.
    Words,
    /// One of these words.
    Word(Vec<String>),
    /// A number, this or more.
    Number(u64),
    /// An address, IPv4 or IPv6.
    Address,
    /// So or not: the name alone says that it is so.
    Switch,
}

/// The fields of a view's filter, as the API's document has them.
pub fn parameters<V: View>() -> Vec<Parameter> {
    let mut parameters = V::Filter::into_params(|| Some(ParameterIn::Query));
    for parameter in &mut parameters {
        if V::PATH.contains(&format!("{{{}}}", parameter.name)) {
            (parameter.parameter_in, parameter.required) = (ParameterIn::Path, Required::True);
        }
    }
    parameters
}

/// The fields of a view's filter, as its command has them.
pub fn flags<V: View>() -> Vec<Flag> {
    parameters::<V>().into_iter().map(flag).collect()
}

/// The fields of what a verb is told, as its command has them.
pub fn flags_of<T: IntoParams>() -> Vec<Flag> {
    T::into_params(|| Some(ParameterIn::Query)).into_iter().map(flag).collect()
}

fn flag(parameter: Parameter) -> Flag {
    let schema = serde_json::to_value(&parameter.schema).unwrap_or_default();
    let format = found(&schema, "format").and_then(Value::as_str);
    let least = found(&schema, "minimum").and_then(Value::as_f64);
    let words = found(&schema, "enum").and_then(Value::as_array);
    let is_switch = found(&schema, "type").and_then(Value::as_str) == Some("boolean");
    let (kind, value) = match (words, least, format) {
        _ if is_switch => (Kind::Switch, &parameter.name[..]),
        (Some(words), ..) => {
            let words = words.iter().filter_map(Value::as_str).map(str::to_owned);
            (Kind::Word(words.collect()), &parameter.name[..])
        }
        (_, Some(least), format) => {
            // What is said of every number is no word for people.
            let said = format.filter(|format| !format.starts_with("int")).unwrap_or("count");
            (Kind::Number(least as u64), said)
        }
        (.., Some("words")) => (Kind::Words, &parameter.name[..]),
        (.., Some("ipv4")) => (Kind::Address, &parameter.name[..]),
        (.., format) => (Kind::Text, format.unwrap_or(&parameter.name)),
    };
    let help = parameter.description.unwrap_or_default();
    Flag {
        help: help.trim().trim_end_matches('.').replace('\n', " "),
        value: value.to_uppercase(),
        kind,
        in_path: parameter.parameter_in == ParameterIn::Path,
        name: parameter.name,
    }
}

/// What a schema says under a name, at any depth: what may be absent is described one deeper.
pub(crate) fn found<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    match schema {
        Value::Object(fields) => {
            fields.get(name).or_else(|| fields.values().find_map(|value| found(value, name)))
        }
        Value::Array(items) => items.iter().find_map(|item| found(item, name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Lookup, Routes};

    #[test]
    fn a_filters_fields_are_the_flags_of_its_command() {
        let said = |flag: Flag| (flag.name, flag.value, flag.kind, flag.in_path);
        let routes: Vec<_> = flags::<Routes>().into_iter().map(said).collect();
        let words = ["connected", "static", "dynamic"].map(str::to_owned).to_vec();
        let wanted = [
            ("within", "PREFIX", Kind::Text, false),
            ("source", "SOURCE", Kind::Word(words), false),
            ("vrf", "NAME", Kind::Text, false),
            ("limit", "COUNT", Kind::Number(1), false),
            ("counters", "COUNTERS", Kind::Switch, false),
        ];
        assert_eq!(routes, wanted.map(|(name, value, k, p)| (name.into(), value.into(), k, p)));
        let address = &flags::<Lookup>()[0];
        assert_eq!((address.in_path, &address.kind), (true, &Kind::Address));
        assert_eq!(address.help, "The destination");
    }
}
