//! What a port holds packets to: access lists, and checks of their sources.
//!
//! ```text
//!  [port.p0]
//!  allow   = { from = ["192.0.2.0/24"] }         sources that it receives from at all
//!  acl_in  = "edge"                              what it receives
//!  acl_out = "home"                              what it sends
//!  policy  = "ways"                              where it leads what it receives (`action = "route"`)
//!  urpf    = { ip4 = "strict", ip6 = "loose" }   sources that have a route back (RFC 3704)
//! ```

use super::Config;
use super::acl::{AclName, Action};
use super::port_allow::Allow;
use super::port_kind::PortKind;
use super::port_name::PortName;
use crate::config::declare::{as_field, flat, object};
use crate::config::field::word_field;
use crate::config::listed::check_exists;
use crate::config::report::{Problem, Report};

word_field! {
    /// Which routes to a source count.
    Reverse {
        /// All that lead somewhere.
        Loose = "loose",
        /// Those that lead back by the port.
        Strict = "strict",
    }
}

object! {
    /// How sources are checked
    #[derive(Copy)]
    pub struct Urpf {
        /// Routes that sources of IPv4 packets need
        pub ip4: Option<Reverse> as "strict" = None,
        /// Routes that sources of IPv6 packets need
        pub ip6: Option<Reverse> as "loose" = None,
        /// Whether the default route counts
        pub allow_default: bool = false,
    }
    also {
        "loose": ip4 = "\"loose\"", "loose": ip6 = "\"loose\"",
        "strict": ip4 = "\"strict\"", "strict": ip6 = "\"strict\"",
    }
}
as_field!(Urpf);

object! {
    /// What a port holds packets to
    pub struct Filters {
        /// The access list for what it receives
        pub acl_in: Option<AclName> as "edge" = None,
        /// The access list for what it sends, the router's own packets included
        pub acl_out: Option<AclName> as "edge" = None,
        /// The access list that says where packets go that it receives, beside their destination
        pub policy: Option<AclName> as "ways" = None,
        /// Whether sources need a route back by the port, or any route (RFC 3704)
        pub urpf: Option<Urpf> as "strict" = None,
        /// Whose packets it receives at all
        pub allow: Option<Allow> as "from 192.0.2.0/24" = None,
    }
}
flat!(Box<Filters>);

impl Filters {
    pub(super) fn check(
        &self,
        name: &PortName,
        kind: &PortKind,
        config: &Config,
        report: &mut Report,
    ) {
        let field = |key: &str| format!("port.{name}.{key}");
        let Self { acl_in, acl_out, policy, urpf, allow } = self;
        for (key, acl) in [("acl_in", acl_in), ("acl_out", acl_out)] {
            if let Some(acl) = acl {
                check_exists(&field(key), acl, &config.acls, report);
                if config.acls.get(acl).is_some_and(|acl| acl.rules.routes()) {
                    let message = format!("{acl} has a rule with the action `route`");
                    let problem = Problem::new(field(key), message);
                    report.push(
                        problem
                            .expected("a list that permits and denies")
                            .help("a list with `action = \"route\"` is named by a port's `policy`"),
                    );
                }
            }
        }
        let is_bridged = config
            .bridges
            .iter()
            .any(|(_, bridge)| bridge.ports.iter().any(|member| member.port == *name));
        let is_connected = config.xconnects.iter().any(|(pair, _)| pair.ports().contains(&name));
        let is_switched = (is_bridged && *kind != PortKind::Bvi) || is_connected;
        if let Some(policy) = policy {
            check_exists(&field("policy"), policy, &config.acls, report);
            check_policy(&field("policy"), policy, config, report);
            if is_switched {
                let problem = Problem::new(
                    field("policy"),
                    format!("{name} routes nothing: it is in a bridge or an xconnect"),
                );
                report.push(problem.expected("a port that routes what it receives"));
            }
        }
        if let Some(allow) = allow {
            allow.check(&field("allow"), config, report);
        }
        let Some(urpf) = urpf else { return };
        if urpf.ip4.is_none() && urpf.ip6.is_none() {
            let problem = Problem::new(field("urpf"), "it checks neither IPv4 nor IPv6");
            report.push(problem.expected("ip4, ip6 or both, \"loose\" or \"strict\""));
        }
        if is_switched {
            let problem = Problem::new(
                field("urpf"),
                format!("{name} routes nothing: it is in a bridge or an xconnect"),
            );
            report.push(problem.expected("a port that routes what it receives"));
        }
    }
}

/// What no rule of a policy fits is routed as usual, and rules know packets, not frames.
fn check_policy(field: &str, name: &AclName, config: &Config, report: &mut Report) {
    let Some(acl) = config.acls.get(name) else { return };
    if acl.default != Action::Permit {
        let message = format!("what fits no rule of {name} would be dropped");
        let help = format!("`volley acl set {name} default permit` routes it as usual");
        report
            .push(Problem::new(field, message).expected("a list that permits the rest").help(help));
    }
    if acl.reflects() {
        let message = format!("{name} has answers come back, and a policy drops nothing of these");
        let help = "a list with `action = \"reflect\"` is named by a port's `acl_in` or `acl_out`";
        report.push(Problem::new(field, message).expected("a list that routes").help(help));
    }
    let asking =
        (0..).zip(acl.rules.iter()).find_map(|(at, rule)| Some((at, rule.asks_for_frames()?)));
    if let Some((at, asked)) = asking {
        let at: usize = at;
        let message = format!("rule {at} of {name} asks for `{asked}`, which only frames have");
        report
            .push(Problem::new(field, message).expected("rules by addresses, protocols and ports"));
    }
}
