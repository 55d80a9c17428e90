//! What is asked of connection tracking, in words.

use super::Actions;
use crate::action::Action;
use crate::action::ct::{Ct, Zone};
use crate::machine::Nat;
use std::fmt::{self, Formatter};
use std::net::{Ipv4Addr, Ipv6Addr};

pub(super) fn ct(it: &Ct, f: &mut Formatter<'_>) -> fmt::Result {
    let mut words = Vec::new();
    for (bit, word) in [(1, "commit"), (2, "force")] {
        if it.flags & bit != 0 {
            words.push(word.to_owned());
        }
    }
    words.extend(it.table.map(|table| format!("table={table}")));
    match it.zone {
        Zone::Number(0) => {}
        Zone::Number(number) => words.push(format!("zone={number}")),
        Zone::Field(sub) => words.push(format!("zone={sub}")),
    }
    let (translates, others): (Vec<_>, Vec<_>) =
        it.actions.iter().cloned().partition(|it| matches!(it, Action::Translate(_)));
    words.extend(translates.iter().map(ToString::to_string));
    if !others.is_empty() {
        words.push(format!("exec({})", Actions(&others)));
    }
    words.extend(match it.helper {
        0 => None,
        21 => Some("alg=ftp".to_owned()),
        69 => Some("alg=tftp".to_owned()),
        port => Some(format!("alg={port}")),
    });
    write!(f, "ct({})", words.join(","))
}

/// How addresses are translated.
pub(super) fn nat(it: &Nat, f: &mut Formatter<'_>) -> fmt::Result {
    let kind = match it.flags & 3 {
        0 => return f.write_str("nat"),
        1 => "src",
        _ => "dst",
    };
    let range = |first: String, last: Option<String>| match last {
        Some(last) if last != first => format!("{first}-{last}"),
        _ => first,
    };
    let ip4 = |it: u32| Ipv4Addr::from(it).to_string();
    let ports =
        it.ports.map(|(first, last)| range(first.to_string(), last.map(|it| it.to_string())));
    let bracketed = |address: u128| match ports {
        Some(_) => format!("[{}]", Ipv6Addr::from(address)),
        None => Ipv6Addr::from(address).to_string(),
    };
    let mut to = match (it.ip4, it.ip6) {
        (Some((first, last)), _) => range(ip4(first), last.map(ip4)),
        (_, Some((first, last))) => range(bracketed(first), last.map(bracketed)),
        _ => String::new(),
    };
    to += &ports.map(|ports| format!(":{ports}")).unwrap_or_default();
    let to = if to.is_empty() { to } else { format!("={to}") };
    write!(f, "nat({kind}{to}")?;
    for (bit, word) in [(4, "persistent"), (8, "hash"), (16, "random")] {
        if it.flags & bit != 0 {
            write!(f, ",{word}")?;
        }
    }
    f.write_str(")")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::{SetField, Translate};
    use crate::field::Field;

    #[test]
    fn tracking_is_told_as_open_vswitch_tells_it() {
        let to = Nat { flags: 1, ip4: Some((0x0a00_0001, Some(0x0a00_0009))), ..Nat::default() };
        let commit = Ct {
            flags: 1,
            zone: Zone::Number(3),
            table: None,
            helper: 0,
            actions: vec![Translate { nat: to }.into(), SetField::whole(Field::CtMark, 5).into()],
        };
        assert_eq!(
            Action::from(commit).to_string(),
            "ct(commit,zone=3,nat(src=10.0.0.1-10.0.0.9),exec(set_field:0x5->ct_mark))"
        );
        let to =
            Nat { flags: 2 | 8, ip6: Some((1, None)), ports: Some((5, Some(9))), ..Nat::default() };
        assert_eq!(Action::from(Translate { nat: to }).to_string(), "nat(dst=[::1]:5-9,hash)");
        let on = Ct { flags: 0, zone: Zone::Number(9), table: Some(6), helper: 0, actions: vec![] };
        assert_eq!(Action::from(on.clone()).to_string(), "ct(table=6,zone=9)");
        for (helper, word) in [(21, "ftp"), (69, "tftp"), (5060, "5060")] {
            let on = Ct { helper, ..on.clone() };
            assert_eq!(Action::from(on).to_string(), format!("ct(table=6,zone=9,alg={word})"));
        }
    }
}
