//! What commands can say, for help and completion.

use super::info::Info;
use super::objects::{Command, commands};

/// The fields, a line each, with what they take and what holds when they are left out.
pub fn of_fields(infos: &[Info]) -> String {
    let mut text = String::new();
    let mut of = "";
    let width = infos.iter().map(|info| info.word.len()).max().unwrap_or(0);
    for info in infos.iter().filter(|info| info.is_field()) {
        if text.is_empty() || info.of != of {
            of = info.of;
            let heading = if of.is_empty() { "Fields:\n" } else { "Of the kind " };
            text.push_str(heading);
            text.push_str(of);
            text.push_str(if of.is_empty() { "" } else { ":\n" });
        }
        text.push_str(&format!("  {:width$}  {}{}\n", info.word, info.help, remark(info)));
        for inner in (info.inner)().iter().filter(|inner| inner.is_field()) {
            text.push_str(&format!(
                "  {:width$}    {}: {}{}\n",
                "",
                inner.word,
                inner.help,
                remark(inner)
            ));
        }
    }
    text
}

/// What a field takes and what holds without it, in brackets.
fn remark(info: &Info) -> String {
    let default =
        info.default.as_ref().map(|default| format!("default {}", default.replace('"', "")));
    let needed = info.is_required.then(|| format!("needed, as in {}", info.example));
    bracketed([takes(info), default.or(needed).unwrap_or_default()])
}

/// The words, or the numbers, that a field takes.
pub(crate) fn takes(info: &Info) -> String {
    let words = match info.words {
        [] | ["on", "off", ..] => String::new(),
        words => words.join(", "),
    };
    let limits = info.limits();
    match (words.is_empty(), limits.is_empty()) {
        (true, _) => limits,
        (_, true) => words,
        _ => format!("{words}; {limits}"),
    }
}

pub(crate) fn bracketed(parts: [String; 2]) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { String::new() } else { format!(" [{}]", parts.join("; ")) }
}

/// What could follow the words of a command that edits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Next {
    /// Words, each with a line of what it is; empty: it says itself.
    pub words: Vec<(String, String)>,
    /// What a running router has names for.
    pub names: Option<Names>,
}

/// Where a configuration has names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// The section, as in `port`.
    pub section: &'static str,
    /// The field of its rows that is meant; empty: their names.
    pub field: &'static str,
}

/// What could follow these words of a command that edits, as far as it is known.
pub fn next(said: &[&str]) -> Next {
    let [noun, verb, said @ ..] = said else { return Next::default() };
    let named = |command: &&Command| (command.noun, command.verb) == (noun, verb);
    let Some(command) = commands().iter().find(named) else { return Next::default() };
    let (wanted, all) = ((command.first)(), (command.fields)());
    // Fields of one kind go with its name, where the command says that.
    let says_kind = match *verb {
        "set" => wanted.iter().any(|info| info.name == "kind"),
        _ => wanted.iter().chain(&all).any(|info| info.name == "kind"),
    };
    let fits = |info: &&Info| {
        let is_named = wanted.iter().all(|it| it.name != info.name);
        is_named && (info.of.is_empty() || !says_kind || said.contains(&info.of))
    };
    let field = |infos: &[Info], word: &str| {
        infos.iter().find(|info| info.word == word && info.says.is_none()).cloned()
    };
    // Fields of a field may follow its own words.
    let outer = said.iter().rev().find_map(|word| field(&all, word));
    let inner = outer.map(|outer| (outer.inner)()).unwrap_or_default();
    let last = said.last().and_then(|word| field(&inner, word).or_else(|| field(&all, word)));
    let explained = |info: &Info| (info.word, info.help.clone());
    let plain = |word: &'static str| (word, String::new());
    let mut next: Vec<(&str, String)> = inner.iter().map(explained).collect();
    if let Some(last) = &last {
        let unset = if last.is_required { &[][..] } else { &["default"] };
        next.extend(last.words.iter().chain(unset).copied().map(plain));
        if !(last.inner)().is_empty() {
            next.extend(["on", "off"].map(plain));
        }
    }
    let names = match &last {
        Some(last) if last.names.is_empty() => None,
        Some(last) => Some(Names { section: last.names, field: "" }),
        None => first_names(command, &wanted, said.len()),
    };
    if last.is_none_or(|last| last.words.contains(&"on")) {
        match wanted.get(said.len()) {
            // What is wanted first has no name before it, and nothing else stands in its place.
            Some(first) => next.extend(first.words.iter().copied().map(plain)),
            None => next.extend(all.iter().filter(fits).map(explained)),
        }
    }
    Next { words: next.into_iter().map(|(word, help)| (word.to_owned(), help)).collect(), names }
}

/// The names of what a command wants first, at a place among its words.
fn first_names(command: &Command, wanted: &[Info], place: usize) -> Option<Names> {
    let listed = wanted.last().filter(|info| info.is_list);
    let info = wanted.get(place).or(listed)?;
    let is_new = command.verb == "add" && info.name == "name";
    match info.names {
        "" if command.verb == "del" && place == 0 => {
            Some(Names { section: command.noun, field: info.name })
        }
        "" => None,
        section => (!is_new).then_some(Names { section, field: "" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_asked_for_where_a_name_of_what_is_there_is_wanted() {
        let names = |said: &str| {
            let said: Vec<&str> = said.split(' ').collect();
            next(&said).names.map(|names| (names.section, names.field))
        };
        assert_eq!(names("port set"), Some(("port", "")));
        assert_eq!(names("port del"), Some(("port", "")));
        // A new one has a new name.
        assert_eq!(names("port add"), None);
        assert_eq!(names("port set p0 vrf"), Some(("vrf", "")));
        assert_eq!(names("port set p0 mtu"), None);
        assert_eq!(names("acl append"), Some(("acl", "")));
        assert_eq!(names("qos set"), Some(("port", "")));
        assert_eq!(names("route add 10.0.0.0/8 port"), Some(("port", "")));
        assert_eq!(names("route add 10.0.0.0/8 via_vrf"), Some(("vrf", "")));
        assert_eq!(names("route del"), Some(("route", "prefix")));
        assert_eq!(names("neighbor del"), Some(("neighbor", "address")));
        assert_eq!(names("xconnect add p0"), Some(("port", "")));
        assert_eq!(names("no such"), None);
    }
}
