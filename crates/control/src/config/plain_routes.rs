//! Routes of the usual form, read line by line: a parser of TOML, which could read anything, takes
//! several times as long.
//!
//! ```text
//!  [[route]]
//!  prefix = "10.0.0.0/8"     as this program writes routes of one next hop, by its address or by
//!  via = "192.0.2.9"         a `port`, of any `vrf`: no comments, no lists, each key once
//! ```
//! Of what is of another form nothing is said here: that is TOML's to read, or to refuse.

use std::net::IpAddr;

use super::field::Field;
use super::objects::port_name::PortName;
use super::objects::route::{NextHop, Route, RouteKey};
use super::objects::vrf::VrfName;
use super::prefix::Prefix;

/// The line that a route begins with.
pub(super) const HEADER: &str = "[[route]]";

/// What was said of a route so far.
#[derive(Default)]
struct Said {
    prefix: Option<Prefix>,
    vrf: Option<VrfName>,
    via: Option<IpAddr>,
    port: Option<PortName>,
}

/// All routes of a text, in its order; none if it has anything else.
pub(super) fn read(text: &str) -> Option<Vec<(RouteKey, Route)>> {
    let mut routes = Vec::new();
    let mut said: Option<Said> = None;
    for line in text.split_inclusive('\n') {
        let line =
            line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
        match line.trim_matches([' ', '\t']) {
            "" => {}
            HEADER => {
                if let Some(said) = said.replace(Said::default()) {
                    routes.push(said.route()?);
                }
            }
            line => said.as_mut()?.take(line)?,
        }
    }
    routes.push(said?.route()?);
    Some(routes)
}

impl Said {
    /// Reads `key = "text"`.
    fn take(&mut self, line: &str) -> Option<()> {
        let (key, value) = line.split_once('=')?;
        let text = value.trim_start_matches([' ', '\t']).strip_prefix('"')?.strip_suffix('"')?;
        if text.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0x00..=0x1f | 0x7f)) {
            return None;
        }
        match key.trim_end_matches([' ', '\t']) {
            "prefix" => once(&mut self.prefix, text),
            "vrf" => once(&mut self.vrf, text),
            "via" => once(&mut self.via, text),
            "port" => once(&mut self.port, text),
            _ => None,
        }
    }

    fn route(self) -> Option<(RouteKey, Route)> {
        let Self { prefix, vrf, via: address, port } = self;
        if address.is_none() && port.is_none() {
            return None;
        }
        let hop = NextHop { address, port, ..NextHop::new() };
        Some((RouteKey { vrf, prefix: prefix? }, Route::Via(vec![hop])))
    }
}

/// What is said of a field, if nothing was.
fn once<T: Field>(field: &mut Option<T>, text: &str) -> Option<()> {
    let read = T::from_text(text).ok()?;
    field.replace(read).is_none().then_some(())
}

#[cfg(test)]
mod tests {
    use super::super::report::Report;
    use super::super::{Config, pieces, render};
    use super::*;
    use proptest::prelude::*;

    /// What TOML makes of it, if there is nothing to tell.
    fn by_toml(text: &str) -> Option<Vec<(RouteKey, Route)>> {
        pieces::by_toml(text, &mut Report::whether())
    }

    const LINES: [&str; 28] = [
        "[[route]]\n",
        "[[route]]\n",
        "[[route]]\r\n",
        "  [[route]] \n",
        "[[ route ]]\n",
        "prefix = \"10.0.0.0/8\"\n",
        "prefix = \"10.1.0.0/16\"\r\n",
        "prefix = \"2001:db8::/32\"\n",
        "prefix = \"default\"\n",
        "prefix=\"10.2.0.0/16\"\n",
        "prefix = \"10.0.0.1/8\"\n",
        "via = \"192.0.2.9\"\n",
        "via = \"192.0.2.8\"\r\n",
        "via\t= \t\"2001:db8::1\"  \n",
        "via = '192.0.2.9'\n",
        "via = [\"192.0.2.9\"]\n",
        "via = \"192.0.2.9\" # the usual\n",
        "via = \"192.0\\u002e2.9\"\n",
        "port = \"p0\"\n",
        "port = \"no port\"\n",
        "vrf = \"red\"\n",
        "blackhole = true\n",
        "# a comment\n",
        "\n",
        "\r\n",
        "\x0c\n",
        "name = \"x\"\n",
        "\"via\" = \"192.0.2.9\"\n",
    ];

    proptest! {
        #[test]
        fn what_is_read_here_is_what_toml_says(
            lines in prop::collection::vec(0..LINES.len(), 0..12),
            cut in 0..3usize,
        ) {
            let text: String = lines.into_iter().map(|line| LINES[line]).collect();
            let text = &text[..text.len().saturating_sub(cut)];
            if let Some(mut routes) = read(text) {
                let keys = |routes: &[(RouteKey, Route)]| {
                    routes.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>()
                };
                routes.sort_by(|one, other| one.0.cmp(&other.0));
                let mut once = keys(&routes);
                once.dedup();
                // One that is there twice is found by who puts them together.
                if once.len() == routes.len() {
                    prop_assert_eq!(Some(routes), by_toml(text));
                }
            }
        }
    }

    #[test]
    fn what_is_written_here_is_read_here() {
        let text = "[[route]]\nprefix = \"10.0.0.0/8\"\nvia = \"192.0.2.9\"\n\n\
                    [[route]]\nvrf = \"red\"\nprefix = \"2001:db8::/32\"\nport = \"p0\"\n";
        let routes = read(text).unwrap();
        assert_eq!(routes, by_toml(text).unwrap());
        // And that is how they are written.
        let mut config = Config::default();
        routes.iter().cloned().for_each(|(key, route)| drop(config.routes.insert(key, route)));
        assert_eq!(read(&render(&config)), Some(routes));
        for other in ["", "via = \"192.0.2.9\"\n", "[[route]]\nprefix = \"10.0.0.0/8\"\n"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
