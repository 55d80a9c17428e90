//! Where a tunnel begins and ends.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use wire::{ipv4, ipv6};

use super::super::tunnel_number::FLOW;
use super::super::vrf::VrfName;
use crate::config::declare::by_another_word;
use crate::config::field::{Field, Refusal};
use crate::config::form::Form;
use crate::config::info::Info;
use crate::config::read::TableReader;
use crate::config::toml_text::quoted;
use crate::config::value::Value;
use crate::config::write::Fields;

/// The two ends of a tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Our address; of each packet its own where none is said: whichever it was for, and that of
    /// the port by which it leaves.
    pub local: Option<End>,
    /// The other end's.
    pub remotes: Remotes,
    /// The VRF that its packets are in, whatever VRF that is in which they carry.
    pub underlay_vrf: Option<VrfName>,
}

/// The other end of a tunnel, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remotes {
    /// This one.
    One(IpAddr),
    /// Several, for a bridge.
    Several {
        /// Those that frames to unknown stations and groups go to, each a copy.
        flood: Vec<IpAddr>,
        /// Others that send to us are taken in.
        learn: bool,
    },
    /// The one that flows say of each packet, and any that sends to us.
    Flow,
}

/// What `local` and `remote` say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// This address.
    At(IpAddr),
    /// The one that flows say of each packet.
    Flow,
}

impl Field for End {
    const EXPECTED: &'static str = "an IP address, as in \"192.0.2.9\", or \"flow\"";
    const WORDS: &'static [&'static str] = &[FLOW];
    const FORM: Form = Form::Text("^(flow|[0-9a-fA-F:.]+)$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        match text {
            FLOW => Ok(Self::Flow),
            _ => IpAddr::from_text(text).map(Self::At),
        }
    }

    fn to_toml(&self) -> String {
        match self {
            Self::At(end) => end.to_toml(),
            Self::Flow => quoted(FLOW),
        }
    }
}

impl Remotes {
    /// Those that are configured.
    pub fn listed(&self) -> &[IpAddr] {
        match self {
            Self::One(remote) => std::slice::from_ref(remote),
            Self::Several { flood, .. } => flood,
            Self::Flow => &[],
        }
    }
}

/// `local`, `remote` or `remotes`, and what goes with them.
impl Value for Ends {
    fn read(table: &mut TableReader<'_>, _: &'static str, _: bool) -> Option<Self> {
        let local = table.optional("local");
        let listed = table.has("remotes") || table.has("learn_remotes");
        let remotes = if listed || table.has_list("remote") {
            let mut flood = table.list("remote");
            flood.extend(table.list::<IpAddr>("remotes"));
            let learn = table.or("learn_remotes", false);
            match (&flood[..], listed) {
                ([one], false) => Some(Remotes::One(*one)),
                _ => Some(Remotes::Several { flood, learn }),
            }
        } else {
            let one = table.required("remote").map(|remote| match remote {
                End::At(remote) => Remotes::One(remote),
                End::Flow => Remotes::Flow,
            });
            table.know(&["remotes", "learn_remotes"]);
            one
        };
        let underlay_vrf = table.optional("underlay_vrf");
        Some(Self { local, remotes: remotes?, underlay_vrf })
    }

    fn write(&self, _: &'static str, fields: Fields, _: Option<Self>) -> Fields {
        let fields = fields.maybe("local", &self.local);
        let fields = match &self.remotes {
            Remotes::One(remote) => fields.with("remote", remote),
            Remotes::Flow => fields.with("remote", &End::Flow),
            Remotes::Several { flood, learn: false } if flood.is_empty() => {
                fields.with("learn_remotes", &false)
            }
            Remotes::Several { flood, learn } => {
                fields.list("remotes", flood, &[]).unless("learn_remotes", learn, &false)
            }
        };
        fields.maybe("underlay_vrf", &self.underlay_vrf)
    }

    fn paths(&self, _: &mut Vec<std::path::PathBuf>) {}

    fn describe(_: Info, out: &mut Vec<Info>) {
        let help = "Our address; where none is said, packets to any of ours are taken, and each leaves \
            from that of the port by which it leaves; `flow`: what flows say of each packet";
        Option::<End>::describe(Info::new("local", &[help], "192.0.2.1"), out);
        let help = "The other end's; said again in a command: several, as `remotes`; `flow`: what \
            flows say of each packet, in a bridge of flows";
        let remote = Info::new("remote", &[help], "192.0.2.9").taking::<End>(|words, had| {
            let one = End::take(words, "the address of the other end")?;
            Ok(Some(match had.toml.filter(|_| had.is_said) {
                Some(more) => format!("[{}, {one}]", more.trim_matches(['[', ']'])),
                None => one,
            }))
        });
        out.push(Info {
            is_required: true,
            is_list: true,
            or: &["remotes", "learn_remotes"],
            ..remote
        });
        let help = "Several other ends, for a bridge: those that frames to unknown stations and groups go to";
        Vec::<IpAddr>::describe(Info::new("remotes", &[help], "192.0.2.8,192.0.2.9"), out);
        let help = "Whether others that send to us are taken in";
        bool::describe(Info::new("learn_remotes", &[help], "false"), out);
        let help = "The VRF that its packets are in, whatever VRF that is in which they carry";
        Option::<VrfName>::describe(Info::new("underlay_vrf", &[help], "red"), out);
        for (word, name) in [("learn", "learn_remotes"), ("underlay", "underlay_vrf")] {
            out.extend(by_another_word(out, word, name));
        }
    }
}

impl Ends {
    /// Our address, where all packets have the same.
    pub fn address(&self) -> Option<IpAddr> {
        match self.local {
            Some(End::At(local)) => Some(local),
            Some(End::Flow) | None => None,
        }
    }

    /// Our address; the unspecified one, of the other end's family, where each packet has its own.
    pub fn local(&self) -> IpAddr {
        match (self.address(), self.remotes.listed().first()) {
            (Some(local), _) => local,
            (None, Some(IpAddr::V6(_))) => Ipv6Addr::UNSPECIFIED.into(),
            (None, _) => Ipv4Addr::UNSPECIFIED.into(),
        }
    }

    /// Whether packets can leave from an address, for its family.
    pub(crate) fn may_leave_from(&self, own: IpAddr) -> bool {
        self.is_of_both() || own.is_ipv4() == self.local().is_ipv4()
    }

    /// Whether its packets may be of both families.
    fn is_of_both(&self) -> bool {
        self.remotes == Remotes::Flow && self.address().is_none()
    }

    /// Octets of the outer IP header, the longer one where it may be of both families.
    pub(crate) fn ip_bytes(&self) -> u16 {
        let bytes = match self.local() {
            IpAddr::V4(_) if !self.is_of_both() => ipv4::Header::LEN,
            _ => ipv6::Header::LEN,
        };
        bytes as u16
    }
}
