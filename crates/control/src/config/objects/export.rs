//! `[export.NAME]`: who is told of packets, and how: IPFIX, NetFlow or sFlow.
//!
//! ```text
//!  ports that name it ─▶ flows, or packets' first octets ─▶ collectors, by UDP
//! ```

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::name::name_field;
use super::{Config, Object};
use crate::config::declare::object;
use crate::config::field::{duration_text, word_field};
use crate::config::host::Host;
use crate::config::listed::Listed;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;

name_field! {
    /// An exporter's name.
    ExportName = "an exporter's name" of "export"
}

word_field! {
    /// How collectors are told.
    ExportProtocol {
        /// RFC 7011.
        Ipfix = "ipfix",
        /// RFC 3954.
        NetFlow9 = "netflow-9",
        /// The one before: IPv4 alone.
        NetFlow5 = "netflow-5",
        /// Version 5 of sflow.org.
        Sflow5 = "sflow-5",
    }
}

object! {
    /// Collectors that are told of the packets of ports that name it
    pub struct Export {
        /// How they are told
        pub protocol: ExportProtocol = ExportProtocol::Ipfix,
        /// Where they are
        pub collectors: Vec<SocketAddr> as "192.0.2.9:4739" = Vec::new(),
        /// The address that tells them; the kernel's choice when left out
        pub source: Option<IpAddr> as "192.0.2.1" = None,
        /// One of so many packets is looked at, on an average
        pub sample: u32 [1..=MOST_SAMPLED] = 1,
        /// The number by which collectors know the router: IPFIX's observation domain, NetFlow's
        /// source or engine, sFlow's sub-agent
        pub domain: u32 = 0,
        /// The point in its domain that flows were seen at, which IPFIX tells of each; of none when
        /// left out
        pub point: Option<u32> as "12" = None,
        /// NetFlow 5 tells interfaces by seven bits of its engine's number and nine of their own,
        /// so that collectors tell those of several routers apart
        pub engine_in_interfaces: bool = false,
        /// Flows that last are told once in so long
        pub active: Duration = Duration::from_secs(60),
        /// Flows are over that are silent for so long
        pub idle: Duration = Duration::from_secs(15),
        /// Most flows that are known at once; beyond, some are told early
        pub cache: u32 [64..=MOST_FLOWS] = 65_536,
        /// Templates of IPFIX and NetFlow 9 are told again once in so long
        pub templates: Duration = Duration::from_secs(30),
        /// The address that sFlow's collectors know the router by; that which tells when left out
        pub agent: Option<IpAddr> as "192.0.2.1" = None,
        /// It is told of what flows of bridges sample, by this number (`collector_set_id`), and of
        /// nothing else; the domain is theirs to say
        pub set: Option<u32> as "1" = None,
        /// Octets that sFlow tells of a packet, from the first, at most
        pub header: u16 [16..=1_024] = 128,
        /// Counters of ports are told by sFlow once in so long; never if 0
        pub counters: Duration = Duration::from_secs(20),
    }
    by { "to": collectors }
}

/// The fewest packets that are looked at.
const MOST_SAMPLED: u32 = 1_000_000;
/// Flows that may be known: some 150 octets each.
const MOST_FLOWS: u32 = 4_194_304;
/// Collectors that each hear all.
const MOST_COLLECTORS: usize = 8;
/// Exporters: each worker has 2 MiB for one.
const MOST: usize = 16;
/// What NetFlow 5 has room for: 14 bits.
const MOST_SAMPLED_5: u32 = 0x3fff;
/// Longest of all times.
const DAY: Duration = Duration::from_secs(86_400);

impl Export {
    fn check(&self, field: &str, report: &mut Report) {
        let mut refuse = |key: &str, message: String, expected: &str| {
            let problem = Problem::new(format!("{field}.{key}"), message);
            report.push(problem.expected(expected.to_owned()));
        };
        if self.collectors.is_empty() {
            refuse(
                "collectors",
                "the exporter has no collectors".to_owned(),
                "addresses with ports, as in 192.0.2.9:4739",
            );
        }
        if self.collectors.len() > MOST_COLLECTORS {
            let message = format!("{} collectors", self.collectors.len());
            refuse("collectors", message, "8 of them at most");
        }
        for (index, collector) in self.collectors.iter().enumerate() {
            let key = format!("collectors[{index}]");
            let wrong = if collector.port() == 0 {
                "has no port"
            } else if collector.ip().is_unspecified() {
                "is no host's address"
            } else if self.collectors[..index].contains(collector) {
                "is listed twice"
            } else if self.source.is_some_and(|own| own.is_ipv4() != collector.is_ipv4()) {
                "is of another family than `source`"
            } else {
                continue;
            };
            refuse(&key, format!("{collector} {wrong}"), "addresses with ports, each once");
        }
        let never = |key| key == "counters";
        for (key, time) in [
            ("active", self.active),
            ("idle", self.idle),
            ("templates", self.templates),
            ("counters", self.counters),
        ] {
            let is_never = never(key) && time.is_zero();
            if !is_never && !(Duration::from_secs(1)..=DAY).contains(&time) {
                let expected =
                    if never(key) { "\"0s\", or \"1s\" to a day" } else { "\"1s\" to a day" };
                refuse(key, format!("`{key}` is {}", duration_text(time)), expected);
            }
        }
        if self.set.is_some() && self.protocol != ExportProtocol::Ipfix {
            let message = format!("flows cannot sample to {}", self.protocol.word());
            refuse("set", message, "`set` with `protocol = \"ipfix\"`");
        }
        if self.set.is_some() && (self.sample, self.domain) != (1, 0) {
            let message = "flows say what they sample, and in which domain".to_owned();
            refuse("set", message, "`set` without `sample` and `domain`");
        }
        if self.point.is_some() && self.protocol != ExportProtocol::Ipfix {
            let message = format!("{} has no observation points", self.protocol.word());
            refuse("point", message, "`point` with `protocol = \"ipfix\"`");
        }
        if self.set.is_some() && self.point.is_some() {
            refuse("point", "flows say the point of what they sample".to_owned(), "no `point`");
        }
        if self.engine_in_interfaces && self.protocol != ExportProtocol::NetFlow5 {
            let message = format!("{} tells interfaces by 32 bits", self.protocol.word());
            refuse("engine_in_interfaces", message, "it with `protocol = \"netflow-5\"`");
        }
        if self.protocol == ExportProtocol::NetFlow5 {
            if self.domain > u32::from(u16::MAX) {
                let message = format!("NetFlow 5 has no room for the domain {}", self.domain);
                refuse("domain", message, "0 to 65535");
            }
            if self.sample > MOST_SAMPLED_5 {
                let message =
                    format!("NetFlow 5 cannot tell of a sample of one in {}", self.sample);
                refuse("sample", message, "1 to 16383");
            }
        }
    }
}

impl Row for Export {
    const KIND: &'static str = "export";
}

/// Exporters by name.
pub type Exports = Table<ExportName, Export>;

impl Listed for Export {
    type Key = ExportName;

    const IS_REPLACED: bool = false;
}

impl Object for Exports {
    fn check(&self, _: &Config, _: &Host, report: &mut Report) {
        for (name, export) in self.iter() {
            export.check(&format!("export.{name}"), report);
        }
        if self.iter().count() > MOST {
            let message = format!("{} exporters", self.iter().count());
            report.push(Problem::new("export", message).expected("16 of them at most"));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::render;
    use crate::config::tests::{read, run};

    const TOLD: &str = r#"[export.flows]
protocol   = "netflow-9"
collectors = ["192.0.2.9:9995", "[2001:db8::9]:9995"]
sample     = 100
domain     = 7
idle       = "5s"

[port.p1]
kind       = "memory"
export_in  = ["flows"]
export_out = ["flows"]
"#;

    #[test]
    fn what_is_written_is_what_was_read() {
        assert_eq!(render(&read(TOLD).unwrap()), TOLD);
    }

    #[test]
    fn commands_make_exporters_name_them_and_take_them_away() {
        let mut config = read("[port.p1]\nkind = \"memory\"\n").unwrap();
        let empty = config.clone();
        let mut run = |command: &str| run(&mut config, command);
        run("export add flows protocol netflow-9 to 192.0.2.9:9995 to [2001:db8::9]:9995 \
             sample 100 domain 7 idle 5s")
        .unwrap();
        let named = run("port set p1 export_in flows export_out flows").unwrap();
        assert_eq!(render(&named), TOLD);
        assert!(run("export del flows").unwrap_err().contains("there is no export `flows`"));
        run("port set p1 export_in off export_out off").unwrap();
        assert_eq!(run("export del flows").unwrap(), empty);
    }

    #[test]
    fn what_cannot_be_told_is_refused() {
        for (fields, fault) in [
            ("", "the exporter has no collectors"),
            ("collectors = [\"192.0.2.9:0\"]", "192.0.2.9:0 has no port"),
            ("collectors = [\"0.0.0.0:9\"]", "0.0.0.0:9 is no host's address"),
            ("collectors = [\"10.0.0.1:9\", \"10.0.0.1:9\"]", "10.0.0.1:9 is listed twice"),
            ("collectors = [\"host:9\"]", "host:9"),
            ("collectors = [\"10.0.0.1:9\"]\nsource = \"::1\"", "another family than `source`"),
            ("collectors = [\"10.0.0.1:9\"]\nidle = \"500ms\"", "export.e.idle"),
            ("collectors = [\"10.0.0.1:9\"]\ncache = 1", "export.e.cache"),
            ("collectors = [\"10.0.0.1:9\"]\nsample = 0", "export.e.sample"),
            ("collectors = [\"10.0.0.1:9\"]\nprotocol = \"netflow-7\"", "netflow-7"),
            (
                "collectors = [\"10.0.0.1:9\"]\nprotocol = \"netflow-9\"\nset = 1",
                "flows cannot sample to netflow-9",
            ),
            ("collectors = [\"10.0.0.1:9\"]\nsample = 5\nset = 1", "flows say what they sample"),
            ("collectors = [\"10.0.0.1:9\"]\npoint = 5\nset = 1", "flows say the point"),
            (
                "collectors = [\"10.0.0.1:9\"]\npoint = 5\nprotocol = \"netflow-9\"",
                "netflow-9 has no observation points",
            ),
            (
                "collectors = [\"10.0.0.1:9\"]\nengine_in_interfaces = true",
                "ipfix tells interfaces by 32 bits",
            ),
            (
                "collectors = [\"10.0.0.1:9\"]\nprotocol = \"netflow-5\"\ndomain = 65536",
                "NetFlow 5 has no room for the domain 65536",
            ),
            (
                "collectors = [\"10.0.0.1:9\"]\nprotocol = \"netflow-5\"\nsample = 20000",
                "cannot tell of a sample of one in 20000",
            ),
        ] {
            let refused = read(&format!("[export.e]\n{fields}\n")).unwrap_err();
            assert!(refused.contains(fault), "{refused}");
        }
        let unknown = "[export.flows]\nto = \"10.0.0.1:9\"\n[port.p1]\nkind = \"memory\"\n";
        let unknown = unknown.replace("to = \"10.0.0.1:9\"", "collectors = [\"10.0.0.1:9\"]");
        let refused = read(&format!("{unknown}export_in = [\"flow\"]\n")).unwrap_err();
        assert!(refused.contains("there is no export `flow`"), "{refused}");
        let refused = read("[bridge.lan]\nexport = [\"flow\"]\n").unwrap_err();
        assert!(refused.contains("there is no export `flow`"), "{refused}");
        // What flows sample to is told of nothing else, and each by a number of its own.
        let set = |name: &str, set: u32| {
            format!("[export.{name}]\ncollectors = [\"10.0.0.1:9\"]\nset = {set}\n")
        };
        let port = format!("{}[port.p1]\nkind = \"memory\"\nexport_in = [\"a\"]\n", set("a", 0));
        assert!(read(&port).unwrap_err().contains("a is told of what flows sample alone"));
        let flows =
            |samples: &str| format!("[bridge.lan]\nmode = \"flow\"\nsamples = [{samples}]\n");
        let both = set("a", 1) + &set("b", 1) + &unknown;
        assert!(read(&(set("a", 1) + &set("b", 2) + &flows("\"a\", \"b\""))).is_ok());
        for (samples, fault) in [
            ("\"a\", \"b\"", "the number 1 is another exporter's"),
            ("\"flows\"", "flows has no `set`"),
            ("\"c\"", "there is no export `c`"),
        ] {
            let refused = read(&(both.clone() + &flows(samples))).unwrap_err();
            assert!(refused.contains(fault), "{refused}");
        }
        let learning = set("a", 1) + "[bridge.lan]\nsamples = [\"a\"]\n";
        assert!(read(&learning).unwrap_err().contains("lan is no bridge of flows"));
        let twice = format!("{unknown}export_in = [\"flows\", \"flows\"]\n");
        assert!(read(&twice).unwrap_err().contains("flows is listed twice"));
    }
}
