//! Filters, as `tc` spells them: u32 matches on IP, `matchall`, and flower's IP keys.

use super::words::Words;
use crate::Error;
use crate::filter::{Filter, Ports, Prefix};

pub(super) fn read(kind: &str, words: &mut Words<'_>) -> Result<Filter, Error> {
    let mut filter = Filter::default();
    let mut class = None;
    if kind == "fw" {
        return words.refuse("`fw` goes by the marks of packets, which have none here");
    } else if !["u32", "matchall", "flower"].contains(&kind) {
        return words.refuse(format!("there is no filter `{kind}` here"));
    }
    while let Some(word) = words.next() {
        match (kind, word) {
            (_, "flowid" | "classid") => class = Some(words.class_id(word)?),
            ("u32", "match") => u32_match(words, &mut filter)?,
            ("flower", key) => flower_key(key, words, &mut filter)?,
            _ => return words.unknown(kind, word),
        }
    }
    let Some(class) = class else { return words.refuse("the filter names no `flowid`") };
    filter.class = class;
    Ok(filter)
}

fn u32_match(words: &mut Words<'_>, filter: &mut Filter) -> Result<(), Error> {
    let family = words.value("match")?;
    if family == "u32" {
        // The idiom for everything: no bit of a word counts, wherever it is.
        let everything =
            matches!((words.next(), words.next()), (Some(_), Some("0" | "0x0" | "0x00000000")));
        if words.peek() == Some("at") {
            words.next();
            words.value("at")?;
        }
        return match everything {
            true => Ok(()),
            false => words.refuse("only `match u32 0 0` of the raw matches can be carried over"),
        };
    }
    if family != "ip" && family != "ip6" {
        return words.refuse(format!("`match {family}` cannot be carried over"));
    }
    let field = words.value(family)?;
    match field {
        "src" => filter.source = Some(words.parsed::<Prefix>(field)?),
        "dst" => filter.destination = Some(words.parsed::<Prefix>(field)?),
        "sport" => filter.source_port = Some(ports(words, field)?),
        "dport" => filter.destination_port = Some(ports(words, field)?),
        "protocol" => {
            filter.protocol = Some(words.parsed::<u8>(field)?);
            whole_mask(words, field, 0xff)?;
        }
        "tos" | "dsfield" | "priority" => {
            let value = words.hexadecimal(field)?;
            let mask = words.hexadecimal("the mask")?;
            if mask != 0xfc && mask != 0xff {
                return words
                    .refuse(format!("{field}: only the masks 0xfc and 0xff can be carried over"));
            }
            if value > 0xff || (mask == 0xff && value & 3 != 0) {
                return words.refuse(format!("{field}: 0x{value:x} is no code point"));
            }
            filter.dscp = Some((value >> 2) as u8);
        }
        _ => return words.refuse(format!("`match {family} {field}` cannot be carried over")),
    }
    Ok(())
}

/// Reads a mask that must cover the whole field.
fn whole_mask(words: &mut Words<'_>, field: &str, whole: u16) -> Result<(), Error> {
    match words.hexadecimal("the mask")? {
        mask if mask == whole => Ok(()),
        mask => words.refuse(format!("{field}: mask 0x{mask:x} is not the whole field")),
    }
}

/// A port under a mask of leading ones: the range that it covers.
fn ports(words: &mut Words<'_>, field: &str) -> Result<Ports, Error> {
    let port: u16 = words.parsed(field)?;
    let mask = words.hexadecimal("the mask")?;
    if mask.leading_ones() + mask.trailing_zeros().min(16) != 16 {
        return words.refuse(format!("{field}: mask 0x{mask:x} covers no range"));
    }
    Ok(Ports { first: port & mask, last: port | !mask })
}

fn flower_key(key: &str, words: &mut Words<'_>, filter: &mut Filter) -> Result<(), Error> {
    match key {
        "src_ip" => filter.source = Some(words.parsed(key)?),
        "dst_ip" => filter.destination = Some(words.parsed(key)?),
        "src_port" => filter.source_port = Some(port_range(words, key)?),
        "dst_port" => filter.destination_port = Some(port_range(words, key)?),
        "vlan_prio" => filter.vlan_pcp = Some(words.parsed(key)?),
        "ip_proto" => {
            filter.protocol = Some(match words.value(key)? {
                "tcp" => 6,
                "udp" => 17,
                "icmp" => 1,
                "icmpv6" => 58,
                "sctp" => 132,
                number => match number.parse() {
                    Ok(number) => number,
                    Err(error) => return words.refuse(format!("{key} `{number}`: {error}")),
                },
            });
        }
        _ => return words.unknown("flower", key),
    }
    Ok(())
}

fn port_range(words: &mut Words<'_>, key: &str) -> Result<Ports, Error> {
    let word = words.value(key)?;
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) => Ok(Ports { first, last }),
        _ => words.refuse(format!("{key} `{word}` is neither a port nor a range")),
    }
}
