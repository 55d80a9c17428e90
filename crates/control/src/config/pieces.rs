//! Reads a file of very many routes piece by piece: parsed as one, it takes a kilobyte of memory a
//! route, and half of the time goes into that.
//!
//! ```text
//!  [port.p0] …        ─┐
//!  [[route]] …         │─▶ what is no route ─▶ one table ─┐
//!  [[route]] …   ─▶ pieces of 64 KiB, one at a time ──────┴▶ Config, if all is as it should be
//!  [[neighbor]] …     ─┘                                   ▶ none: the file is read as a whole
//! ```
//! A piece of routes of the usual form is read by `plain_routes`, any other as TOML. It begins at
//! a line that says `[[route]]` and no more, and ends before one with a bracket. If such a line is
//! within a list, what is before it is a list without an end, and the file is read as a whole, as
//! it is whenever there is anything to tell: that pass knows places.

use toml::de::DeTable;

use super::field::Field;
use super::host::Host;
use super::objects::Config;
use super::objects::route::{Route, RouteKey, Routes};
use super::plain_routes::{self, HEADER};
use super::read::TableReader;
use super::report::Report;
use super::row::Row;
use super::rows::Stored;
use super::version;

/// Files below this are read as a whole.
pub(super) const LARGE: usize = 1 << 20;
/// How long a piece is, about.
const PIECE: usize = 1 << 16;

/// A text without its routes, and these.
struct Pieces<'t> {
    rest: String,
    routes: Vec<&'t str>,
}

/// Reads and checks a configuration, if it has at least `large` bytes, and nothing is to be told of
/// it.
pub(super) fn read(text: &str, large: usize, host: &Host) -> Option<Config> {
    if text.len() < large {
        return None;
    }
    let Pieces { rest, routes } = split(text)?;
    let mut whether = Report::whether();
    let (mut root, faults) = DeTable::parse_recoverable(&rest);
    let is_current = match root.get_ref().get(version::KEY) {
        None => version::CURRENT == 1,
        Some(said) => u32::from_value(said.get_ref()).ok() == Some(version::CURRENT),
    };
    let has_routes = root.get_ref().contains_key(Route::KIND);
    if !faults.is_empty() || !is_current || has_routes {
        return None;
    }
    version::bring_up(root.get_mut(), &mut whether)?;
    let mut reader = TableReader::new(root.get_ref(), 0..0, "", &mut whether);
    let mut config = Config::read(&mut reader);
    reader.finish();
    drop(root);
    for piece in routes {
        let rows = plain_routes::read(piece).or_else(|| by_toml(piece, &mut whether))?;
        for (key, route) in rows {
            if config.routes.insert(key, route).is_some() {
                return None;
            }
        }
    }
    config.check(host, &mut whether);
    whether.is_silent().then_some(config)
}

/// The routes of a piece that is of any form, if nothing is to be told of it.
pub(super) fn by_toml(piece: &str, whether: &mut Report) -> Option<Vec<(RouteKey, Route)>> {
    let (root, faults) = DeTable::parse_recoverable(piece);
    let mut reader = TableReader::new(root.get_ref(), 0..0, "", whether);
    let rows = <Routes as Stored>::read(&mut reader);
    reader.finish();
    (faults.is_empty() && whether.is_silent()).then(|| rows.into_rows().collect())
}

/// Takes the routes out of a text; none if it has none, or texts of several lines.
fn split(text: &str) -> Option<Pieces<'_>> {
    if text.contains("\"\"\"") || text.contains("'''") {
        return None;
    }
    let mut pieces = Pieces { rest: String::new(), routes: Vec::new() };
    let (mut first, mut at, mut is_route) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        let words = line.trim_ascii();
        if words.starts_with('[') {
            let begins_route = words == HEADER;
            if begins_route != is_route || (begins_route && at - first >= PIECE) {
                pieces.add(&text[first..at], is_route);
                (first, is_route) = (at, begins_route);
            }
        }
        at += line.len();
    }
    pieces.add(&text[first..], is_route);
    (!pieces.routes.is_empty()).then_some(pieces)
}

impl<'t> Pieces<'t> {
    fn add(&mut self, some: &'t str, is_route: bool) {
        match is_route {
            true => self.routes.push(some),
            false => self.rest.push_str(some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arbitrary, host};
    use super::super::{Source, parse_and_warn, render};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_read_in_pieces_is_what_the_whole_file_says(
            config in arbitrary::config(),
            changes in prop::collection::vec((0usize..200, 0usize..200, 0u8..4), 0..3),
        ) {
            let text = render(&config);
            let mut lines: Vec<&str> = text.lines().collect();
            for (from, to, what) in changes {
                let (from, to) = (from % lines.len().max(1), to % lines.len().max(1));
                match what {
                    _ if lines.is_empty() => {}
                    0 => drop(lines.remove(from)),
                    1 => lines.insert(to, lines[from]),
                    2 => lines.swap(from, to),
                    _ => lines.insert(to, ["x = [", "]", "[[route]]", "[route]"][from % 4]),
                }
            }
            let text = lines.join("\n");
            let whole = parse_and_warn(&Source::new("f", text.clone()), &host());
            if let Some(config) = read(&text, 0, &host()) {
                let (whole, warnings) = whole.unwrap();
                prop_assert_eq!(config, whole);
                prop_assert!(warnings.findings().is_empty());
            }
        }
    }

    const ROUTES: &str = "[[route]]\nprefix = \"10.0.0.0/8\"\nvia = [\"192.0.2.9\"]\n\n\
                          [[route]]\nprefix = \"10.1.0.0/16\"\nblackhole = true # gone\n";
    const PORT: &str = "[port.p0]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\"]\n";

    #[test]
    fn routes_wherever_they_stand_are_read_in_pieces() {
        for text in [
            format!("{PORT}{ROUTES}"),
            format!("{ROUTES}{PORT}"),
            format!(
                "version = 1\r\n{ROUTES}{PORT}  [[route]]\nprefix = \"::/0\"\nblackhole = true"
            ),
        ] {
            let whole = parse_and_warn(&Source::new("f", text.clone()), &host()).unwrap().0;
            assert_eq!(read(&text, 0, &host()), Some(whole));
        }
    }

    #[test]
    fn many_routes_are_many_pieces() {
        let route = |n: usize| {
            format!("[[route]]\nprefix = \"10.{}.{}.0/24\"\nblackhole = true\n", n / 256, n % 256)
        };
        let text: String = (0..5_000).map(route).collect();
        assert!(split(&text).unwrap().routes.len() > 3);
        assert_eq!(read(&text, 0, &host()).unwrap().routes.len(), 5_000);
        assert_eq!(read(&text, text.len() + 1, &host()), None);
        let twice = format!("{text}{}", route(0));
        assert_eq!(read(&twice, 0, &host()), None);
    }

    #[test]
    fn what_is_to_be_told_of_is_left_to_who_knows_places() {
        for text in [
            PORT.to_owned(),
            format!("{PORT}{ROUTES}name = 1\n"),
            format!("{ROUTES}{ROUTES}"),
            format!("route = []\n{ROUTES}"),
            format!("version = 2\n{ROUTES}"),
            format!("x = [\n{ROUTES}]\n"),
            format!("{ROUTES}[route.more]\nx = 1\n"),
            format!("[port.p0]\nkind = \"memory\"\nlabel = \"\"\"\n{ROUTES}\"\"\"\n"),
            format!("{ROUTES}[[route]]\nprefix = \"10.2.0.0/16\"\nvia = [\n[\"192.0.2.9\"]\n]\n"),
        ] {
            assert_eq!(read(&text, 0, &host()), None, "{text}");
        }
    }
}
