//! Matches and actions in words, as Open vSwitch's tools write them: for people, never read back.

mod tracking;

use crate::action::learn::{From, To};
use crate::action::sample::Direction;
use crate::action::{Action, Learn, Mpls, Sample, SetVlan, Stack};
use crate::field::{Field, Needs, Sub};
use crate::matching::Match;
use crate::port::{self, PortNumber};
use std::fmt::{self, Display, Formatter};
use std::net::{Ipv4Addr, Ipv6Addr};

/// A port's number, or the word for one with a meaning of its own.
pub struct PortWord(pub PortNumber);

impl Display for PortWord {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            port::IN_PORT => "IN_PORT",
            port::TABLE => "TABLE",
            port::NORMAL => "NORMAL",
            port::FLOOD => "FLOOD",
            port::ALL => "ALL",
            port::CONTROLLER => "CONTROLLER",
            port::LOCAL => "LOCAL",
            port::NONE => "ANY",
            number => return write!(f, "{number}"),
        })
    }
}

/// What values of a field look like.
#[derive(PartialEq)]
enum Looks {
    Port,
    Ip4,
    Ip6,
    Mac,
    Hex,
    Number,
}

fn looks(field: Field) -> Looks {
    use Field as F;
    match field {
        F::InPort | F::ActsetOutput => Looks::Port,
        F::IpSrc | F::IpDst | F::ArpSpa | F::ArpTpa | F::TunSrc | F::TunDst => Looks::Ip4,
        F::CtIp4Src | F::CtIp4Dst => Looks::Ip4,
        F::Ip6Src | F::Ip6Dst | F::NdTarget | F::TunIp6Src | F::TunIp6Dst => Looks::Ip6,
        F::CtIp6Src | F::CtIp6Dst => Looks::Ip6,
        F::EthType | F::VlanTci | F::TcpFlags => Looks::Hex,
        field if field.bits() == 48 => Looks::Mac,
        field if field.bits() > 16 && field.needs() == Needs::Nothing => Looks::Hex,
        _ => Looks::Number,
    }
}

/// A value of a field.
pub struct Value(pub Field, pub u128);

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(field, value) = *self;
        match looks(field) {
            Looks::Port => PortWord(value as PortNumber).fmt(f),
            Looks::Ip4 => Ipv4Addr::from(value as u32).fmt(f),
            Looks::Ip6 => Ipv6Addr::from(value).fmt(f),
            Looks::Hex => write!(f, "0x{value:x}"),
            Looks::Number => value.fmt(f),
            Looks::Mac => {
                let octets = (value as u64).to_be_bytes();
                let octets: Vec<String> =
                    octets[2..].iter().map(|it| format!("{it:02x}")).collect();
                f.write_str(&octets.join(":"))
            }
        }
    }
}

impl Display for Sub {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { field, offset, bits } = *self;
        match bits {
            _ if u32::from(bits) == field.bits() => write!(f, "{}[]", field.wire_name()),
            0 | 1 => write!(f, "{}[{offset}]", field.wire_name()),
            _ => write!(f, "{}[{offset}..{}]", field.wire_name(), offset.saturating_add(bits - 1)),
        }
    }
}

/// `name=value`, with a mask where not all bits count.
struct Masked(Field, u128, u128);

impl Display for Masked {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(field, value, mask) = *self;
        write!(f, "{}={}", field.name(), Value(field, value))?;
        let (ones, length) = (field.ones(), mask.count_ones());
        let is_prefix = length > 0 && mask == ones & !ones.checked_shr(length).unwrap_or(0);
        match looks(field) {
            _ if mask == ones => Ok(()),
            Looks::Ip4 | Looks::Ip6 if is_prefix => write!(f, "/{length}"),
            Looks::Port => write!(f, "/0x{mask:x}"),
            Looks::Number => write!(f, "/0x{mask:x}"),
            _ => write!(f, "/{}", Value(field, mask)),
        }
    }
}

/// What Ethernet types, and protocols in them, are called.
const PROTOCOLS: [(u128, Option<u128>, &str); 11] = [
    (0x0800, Some(1), "icmp"),
    (0x0800, Some(6), "tcp"),
    (0x0800, Some(17), "udp"),
    (0x0800, Some(132), "sctp"),
    (0x86dd, Some(58), "icmp6"),
    (0x86dd, Some(6), "tcp6"),
    (0x86dd, Some(17), "udp6"),
    (0x86dd, Some(132), "sctp6"),
    (0x0800, None, "ip"),
    (0x86dd, None, "ipv6"),
    (0x0806, None, "arp"),
];

impl Display for Match {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (kind, protocol) = (self.exact(Field::EthType), self.exact(Field::IpProto));
        let named = PROTOCOLS
            .iter()
            .find(|(of, inside, _)| kind == Some(*of) && (inside.is_none() || protocol == *inside));
        let is_named = |field: Field| match named {
            Some((_, inside, _)) => {
                field == Field::EthType || field == Field::IpProto && inside.is_some()
            }
            None => false,
        };
        let mut words: Vec<String> = named.iter().map(|(.., word)| (*word).to_owned()).collect();
        let others = self.fields().iter().filter(|(field, ..)| !is_named(*field));
        words.extend(others.map(|(field, value, mask)| Masked(*field, *value, *mask).to_string()));
        match words.is_empty() {
            true => f.write_str("any packet"),
            false => f.write_str(&words.join(",")),
        }
    }
}

/// A list of actions; `drop` where it has none.
pub struct Actions<'a>(pub &'a [Action]);

impl Display for Actions<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("drop");
        }
        let words: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&words.join(","))
    }
}

impl Display for Action {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output(it) => match it.port {
                port::CONTROLLER => write!(f, "CONTROLLER:{}", it.max_len),
                0..=port::MAX_PORT => write!(f, "output:{}", it.port),
                number => PortWord(number).fmt(f),
            },
            Self::OutputReg(it) => write!(f, "output:{}", it.from),
            Self::Controller(it) => {
                let length = (it.max_len != u16::MAX).then(|| format!("max_len={},", it.max_len));
                write!(f, "controller({}id={})", length.unwrap_or_default(), it.controller)
            }
            Self::Enqueue(it) => write!(f, "enqueue:{}:{}", PortWord(it.port), it.queue),
            Self::SetQueue(it) => match it.queue {
                Some(queue) => write!(f, "set_queue:{queue}"),
                None => f.write_str("pop_queue"),
            },
            Self::Group(it) => write!(f, "group:{}", it.group),
            Self::SetField(it) if it.is_load => {
                let (offset, bits) = (it.mask.trailing_zeros(), it.mask.count_ones());
                let to = Sub { field: it.field, offset: offset as u16, bits: bits as u16 };
                let value = (it.value & it.mask).checked_shr(offset).unwrap_or(0);
                write!(f, "load:0x{value:x}->{to}")
            }
            Self::SetField(it) => {
                write!(f, "set_field:{}", Value(it.field, it.value))?;
                if it.mask != it.field.ones() {
                    write!(f, "/{}", Value(it.field, it.mask))?;
                }
                write!(f, "->{}", it.field.name())
            }
            Self::MoveField(it) => write!(f, "move:{}->{}", it.from, it.to),
            Self::SetVlan(SetVlan::Vid(vid)) => write!(f, "mod_vlan_vid:{vid}"),
            Self::SetVlan(SetVlan::Pcp(pcp)) => write!(f, "mod_vlan_pcp:{pcp}"),
            Self::SetTransport(it) => match it.is_source {
                true => write!(f, "mod_tp_src:{}", it.port),
                false => write!(f, "mod_tp_dst:{}", it.port),
            },
            Self::PushVlan(it) => write!(f, "push_vlan:0x{:04x}", it.tpid),
            Self::PopVlan(_) => f.write_str("pop_vlan"),
            Self::Mpls(Mpls::Push(kind)) => write!(f, "push_mpls:0x{kind:04x}"),
            Self::Mpls(Mpls::Pop(kind)) => write!(f, "pop_mpls:0x{kind:04x}"),
            Self::Mpls(Mpls::SetLabel(label)) => write!(f, "set_mpls_label:{label}"),
            Self::Mpls(Mpls::SetTc(class)) => write!(f, "set_mpls_tc:{class}"),
            Self::Mpls(Mpls::SetTtl(ttl)) => write!(f, "set_mpls_ttl:{ttl}"),
            Self::Mpls(Mpls::DecTtl) => f.write_str("dec_mpls_ttl"),
            Self::DecTtl(it) if it.controllers.is_empty() || it.controllers[..] == [0] => {
                f.write_str("dec_ttl")
            }
            Self::DecTtl(it) => {
                let words: Vec<String> = it.controllers.iter().map(u16::to_string).collect();
                write!(f, "dec_ttl({})", words.join(","))
            }
            Self::SetTunnel(it) => write!(f, "set_tunnel:0x{:x}", it.key),
            Self::Resubmit(it) => {
                let port = it.port.map(|port| PortWord(port).to_string()).unwrap_or_default();
                match it.table {
                    Some(table) => write!(f, "resubmit({port},{table})"),
                    None => write!(f, "resubmit:{port}"),
                }
            }
            Self::Learn(it) => learn(it, f),
            Self::Conjunction(it) => {
                write!(f, "conjunction({},{}/{})", it.id, u16::from(it.clause) + 1, it.clauses)
            }
            Self::Ct(it) => tracking::ct(it, f),
            Self::CtClear(_) => f.write_str("ct_clear"),
            Self::Translate(it) => tracking::nat(&it.nat, f),
            Self::Note(it) => {
                let words: Vec<String> = it.bytes.iter().map(|it| format!("{it:02x}")).collect();
                write!(f, "note:{}", words.join("."))
            }
            Self::Sample(it) => sample(it, f),
            Self::Stack(Stack::Push(sub)) => write!(f, "push:{sub}"),
            Self::Stack(Stack::Pop(sub)) => write!(f, "pop:{sub}"),
            Self::Exit(_) => f.write_str("exit"),
            Self::CloneActions(it) => write!(f, "clone({})", Actions(&it.actions)),
            Self::FinTimeout(it) => {
                let all = [("idle_timeout", it.idle), ("hard_timeout", it.hard)];
                let said = all.iter().filter(|it| it.1 != 0);
                let said: Vec<_> = said.map(|(name, number)| format!("{name}={number}")).collect();
                write!(f, "fin_timeout({})", said.join(","))
            }
            Self::Meter(it) => write!(f, "meter:{}", it.meter),
            Self::ClearActions(_) => f.write_str("clear_actions"),
            Self::WriteActions(it) => write!(f, "write_actions({})", Actions(&it.actions)),
            Self::WriteMetadata(it) if it.mask == u64::MAX => {
                write!(f, "write_metadata:0x{:x}", it.value)
            }
            Self::WriteMetadata(it) => write!(f, "write_metadata:0x{:x}/0x{:x}", it.value, it.mask),
            Self::GotoTable(it) => write!(f, "goto_table:{}", it.table),
        }
    }
}

/// What is noted for collectors.
fn sample(it: &Sample, f: &mut Formatter<'_>) -> fmt::Result {
    let Sample { probability, set, domain, point, .. } = it;
    write!(
        f,
        "sample(probability={probability},collector_set_id={set},obs_domain_id={domain},\
         obs_point_id={point}"
    )?;
    if it.port != port::NONE {
        write!(f, ",sampling_port={}", PortWord(it.port))?;
    }
    f.write_str(match it.direction {
        Direction::Unsaid => ")",
        Direction::Ingress => ",ingress)",
        Direction::Egress => ",egress)",
    })
}

/// A flow that is to be learned.
fn learn(it: &Learn, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "learn(table={}", it.table)?;
    let numbers = [("idle_timeout", it.idle, 0), ("hard_timeout", it.hard, 0)].into_iter();
    for (name, number, usual) in numbers.chain([("priority", it.priority, 0x8000)]) {
        if number != usual {
            write!(f, ",{name}={number}")?;
        }
    }
    if it.cookie != 0 {
        write!(f, ",cookie=0x{:x}", it.cookie)?;
    }
    for (name, number) in [
        ("fin_idle_timeout", u32::from(it.fin_idle)),
        ("fin_hard_timeout", it.fin_hard.into()),
        ("limit", it.limit),
    ] {
        if number != 0 {
            write!(f, ",{name}={number}")?;
        }
    }
    if it.flags & 1 != 0 {
        f.write_str(",send_flow_rem")?;
    }
    if it.flags & 2 != 0 {
        f.write_str(",delete_learned")?;
    }
    if let Some(sub) = it.result {
        write!(f, ",result_dst={sub}")?;
    }
    for spec in &it.specs {
        match (spec.from, spec.to) {
            (From::Packet(from), To::Match(to)) if from == to => write!(f, ",{to}")?,
            (From::Packet(from), To::Match(to)) => write!(f, ",{to}={from}")?,
            (From::Value(value), To::Match(to)) if to == Sub::whole(to.field) => {
                write!(f, ",{}={}", to.field.name(), Value(to.field, value))?;
            }
            (From::Value(value), To::Match(to)) => write!(f, ",{to}=0x{value:x}")?,
            (From::Packet(from), To::Load(to)) => write!(f, ",load:{from}->{to}")?,
            (From::Value(value), To::Load(to)) => write!(f, ",load:0x{value:x}->{to}")?,
            (From::Packet(from), To::Output) => write!(f, ",output:{from}")?,
            (From::Value(value), To::Output) => write!(f, ",output:0x{value:x}")?,
        }
    }
    f.write_str(")")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::{GotoTable, Output, Resubmit, SetField};

    #[test]
    fn matches_are_told_as_the_tools_write_them() {
        let any = Match::any();
        assert_eq!(any.to_string(), "any packet");
        let web = Match::any()
            .with(Field::InPort, 1)
            .with(Field::EthType, 0x0800)
            .with(Field::IpProto, 6)
            .with(Field::TcpDst, 80);
        assert_eq!(web.to_string(), "tcp,in_port=1,tcp_dst=80");
        let mut net = Match::any().with(Field::EthType, 0x0800);
        net.set(Field::IpDst, 0x0a00_0000, 0xff00_0000);
        assert_eq!(net.to_string(), "ip,ip_dst=10.0.0.0/8");
        net.set(Field::IpSrc, 1, 1);
        assert_eq!(net.to_string(), "ip,ip_src=0.0.0.1/0.0.0.1,ip_dst=10.0.0.0/8");
        let station = Match::any().with(Field::EthDst, 0x0200_0000_0009).with(Field::Reg0, 7);
        assert_eq!(station.to_string(), "reg0=0x7,eth_dst=02:00:00:00:00:09");
    }

    #[test]
    fn actions_are_told_in_their_order() {
        let program: Vec<Action> = vec![
            SetField::whole(Field::IpDst, 0x0a00_0001).into(),
            Output::to(3).into(),
            Output::to(port::FLOOD).into(),
            Resubmit { port: None, table: Some(5) }.into(),
            GotoTable { table: 7 }.into(),
        ];
        let wanted = "set_field:10.0.0.1->ip_dst,output:3,FLOOD,resubmit(,5),goto_table:7";
        assert_eq!(Actions(&program).to_string(), wanted);
        let load = SetField { is_load: true, mask: 0xff00, ..SetField::whole(Field::Reg1, 0x700) };
        assert_eq!(Action::from(load).to_string(), "load:0x7->NXM_NX_REG1[8..15]");
        let part = SetField { mask: 0xff, ..SetField::whole(Field::Reg1, 7) };
        assert_eq!(Action::from(part).to_string(), "set_field:0x7/0xff->reg1");
        assert_eq!(Actions(&[]).to_string(), "drop");
    }
}
