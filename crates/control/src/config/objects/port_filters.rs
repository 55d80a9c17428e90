//! What a port holds packets to: access lists, and checks of their sources.
//!
//! ```text
//!  [port.p0]
//!  allow   = { from = ["192.0.2.0/24"] }         sources that it receives from at all
//!  acl_in  = "edge"                              what it receives
//!  acl_out = "home"                              what it sends
//!  urpf    = { ip4 = "strict", ip6 = "loose" }   sources that have a route back (RFC 3704)
//! ```

use super::Config;
use super::acl::{self, AclName};
use super::port::{Port, PortName};
use super::port_allow::Allow;
use super::port_kind::PortKind;
use crate::config::edit::Words;
use crate::config::field::word_field;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::write::Fields;

/// What a port holds packets to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// The access list for what it receives.
    pub acl_in: Option<AclName>,
    /// The access list for what it sends.
    pub acl_out: Option<AclName>,
    /// How sources are checked.
    pub urpf: Option<Urpf>,
    /// Whose packets it receives; `None`: anybody's.
    pub allow: Option<Allow>,
}

word_field! {
    /// Which routes to a source count.
    Reverse {
        /// All that lead somewhere.
        Loose = "loose",
        /// Those that lead back by the port.
        Strict = "strict",
    }
}

/// How sources are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Urpf {
    /// Of IPv4 packets; `None`: not at all.
    pub ip4: Option<Reverse>,
    /// Of IPv6 packets; `None`: not at all.
    pub ip6: Option<Reverse>,
    /// Whether the default route counts.
    pub allow_default: bool,
}

impl Urpf {
    fn read(table: &mut TableReader<'_>) -> Self {
        let (ip4, ip6) = (table.optional("ip4"), table.optional("ip6"));
        Self { ip4, ip6, allow_default: table.or("allow_default", false) }
    }

    fn fields(&self) -> Fields {
        let fields = Fields::new().maybe("ip4", &self.ip4).maybe("ip6", &self.ip6);
        fields.unless("allow_default", &self.allow_default, &false)
    }

    /// Both families as the words say: `loose` or `strict`, and the default route perhaps; none of
    /// `off`.
    fn of_words(words: &mut Words<'_>) -> Result<Option<Self>, Problem> {
        if words.take("off") {
            return Ok(None);
        }
        let reverse = Some(words.next::<Reverse>("loose, strict or off")?);
        let allow_default = words.take("allow_default");
        Ok(Some(Self { ip4: reverse, ip6: reverse, allow_default }))
    }
}

impl Filters {
    pub(super) fn read(table: &mut TableReader<'_>) -> Self {
        Self {
            acl_in: table.optional("acl_in"),
            acl_out: table.optional("acl_out"),
            urpf: table.table("urpf", Urpf::read),
            allow: table.table("allow", Allow::read),
        }
    }

    pub(super) fn fields(&self, fields: Fields) -> Fields {
        fields
            .maybe("acl_in", &self.acl_in)
            .maybe("acl_out", &self.acl_out)
            .maybe_raw("urpf", self.urpf.map(|urpf| urpf.fields().inline()))
            .maybe_raw("allow", self.allow.as_ref().map(|allow| allow.fields().inline()))
    }

    pub(super) fn check(name: &PortName, port: &Port, config: &Config, report: &mut Report) {
        let field = |key: &str| format!("port.{name}.{key}");
        let Self { acl_in, acl_out, urpf, allow } = &*port.filters;
        for (key, acl) in [("acl_in", acl_in), ("acl_out", acl_out)] {
            if let Some(acl) = acl {
                acl::check_exists(&field(key), acl, &config.acls, report);
            }
        }
        if let Some(allow) = allow {
            allow.check(&field("allow"), config, report);
        }
        let Some(urpf) = urpf else { return };
        if urpf.ip4.is_none() && urpf.ip6.is_none() {
            let problem = Problem::new(field("urpf"), "it checks neither family");
            report.push(problem.expected("ip4, ip6 or both, \"loose\" or \"strict\""));
        }
        let is_bridged = config
            .bridges
            .iter()
            .any(|(_, bridge)| bridge.ports.iter().any(|member| member.port == *name));
        let is_connected = config.xconnects.iter().any(|(pair, _)| pair.ports().contains(&name));
        if (is_bridged && port.kind != PortKind::Bvi) || is_connected {
            let problem = Problem::new(field("urpf"), format!("{name} is not routed"));
            report.push(problem.expected("a port that routes what it receives"));
        }
    }

    /// What `port set` sets of them: the word was one of [`Filters::SETTINGS`], and no other.
    pub(super) fn set(&mut self, words: &mut Words<'_>) -> Result<bool, Problem> {
        if words.take("acl_in") {
            self.acl_in = name_or_none(words)?;
        } else if words.take("acl_out") {
            self.acl_out = name_or_none(words)?;
        } else if words.take("urpf") {
            self.urpf = Urpf::of_words(words)?;
        } else if words.take("allow") {
            self.allow = Allow::of_words(words)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}

fn name_or_none(words: &mut Words<'_>) -> Result<Option<AclName>, Problem> {
    let unset = words.take("none");
    if unset { Ok(None) } else { words.next("the name of an access list, or none").map(Some) }
}
