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

/// The words that could follow these of a command that edits, as far as they are known.
pub fn next_words(said: &[&str]) -> Vec<String> {
    let [noun, verb, said @ ..] = said else { return Vec::new() };
    let named = |command: &&Command| (command.noun, command.verb) == (noun, verb);
    let Some(command) = commands().iter().find(named) else { return Vec::new() };
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
    let mut next: Vec<&str> = inner.iter().map(|info| info.word).collect();
    if let Some(last) = &last {
        let unset = if last.is_required { &[][..] } else { &["default"] };
        next.extend(last.words.iter().chain(unset));
        if !(last.inner)().is_empty() {
            next.extend(["on", "off"]);
        }
    }
    if last.is_none_or(|last| last.words.contains(&"on")) {
        next.extend(all.iter().filter(fits).map(|info| info.word));
        // What commands want first has no name before it.
        next.extend(wanted.iter().flat_map(|info| info.words));
    }
    next.into_iter().map(str::to_owned).collect()
}
