//! The options of qdiscs and classes, as `tc` spells them.

use super::Words;
use crate::config::{CodelShape, FqCodelShape, HfscClass, HtbClass, SfqShape, Shape};
use crate::units::{Rate, Size, Time};
use crate::{ClassId, Curve, Error};

/// A qdisc's options; what stands under it is found later.
pub(super) enum QdiscOptions {
    Plain(Shape),
    Prio { bands: u16, priomap: Option<[u8; 16]> },
    Tbf { rate: Rate, burst: Size, peakrate: Option<Rate>, mtu: Option<Size>, limit: u64 },
    Htb { default: Option<u16>, r2q: u32, direct_packets: u32 },
    Hfsc { default: Option<u16> },
}

pub(super) enum ClassOptions {
    Htb(Box<HtbClass>),
    Hfsc(Box<HfscClass>),
}

/// A filter's handle, which for `fw` is the packet mark, kept in a class name's bits.
pub(super) fn mark(words: &mut Words<'_>, after: &str) -> Result<ClassId, Error> {
    let word = words.value(after)?;
    let number = match word.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => word.parse(),
    };
    match number {
        Ok(number) => Ok(ClassId::new((number >> 16) as u16, number as u16)),
        Err(error) => words.refuse(format!("{after} `{word}`: {error}")),
    }
}

/// A time; without a unit `tc` means microseconds.
fn time(words: &mut Words<'_>, after: &str) -> Result<Time, Error> {
    match words.peek().and_then(|word| word.parse::<u64>().ok()) {
        Some(us) => {
            words.next();
            Ok(Time(us.saturating_mul(1000)))
        }
        None => words.parsed(after),
    }
}

/// A size; what follows a slash was a cell size once.
fn size(words: &mut Words<'_>, after: &str) -> Result<Size, Error> {
    let word = words.value(after)?;
    match word.split('/').next().unwrap_or("").parse() {
        Ok(size) => Ok(size),
        Err(error) => words.refuse(format!("{after}: {error}")),
    }
}

pub(super) fn qdisc(kind: &str, words: &mut Words<'_>) -> Result<QdiscOptions, Error> {
    match kind {
        "pfifo" | "bfifo" => fifo(kind, words),
        "pfifo_fast" => match words.next() {
            None => Ok(QdiscOptions::Plain(Shape::pfifo_fast())),
            Some(word) => words.unknown(kind, word),
        },
        "prio" => prio(words),
        "sfq" => sfq(words),
        "codel" => codel(words),
        "fq_codel" => fq_codel(words),
        "tbf" => tbf(words),
        "htb" => htb(words),
        "hfsc" => {
            let mut default = None;
            while let Some(word) = words.next() {
                match word {
                    "default" => default = Some(words.hexadecimal(word)?),
                    _ => return words.unknown(kind, word),
                }
            }
            Ok(QdiscOptions::Hfsc { default })
        }
        _ => words.refuse(format!("there is no discipline `{kind}` here")),
    }
}

fn fifo(kind: &str, words: &mut Words<'_>) -> Result<QdiscOptions, Error> {
    let mut shape = if kind == "pfifo" { Shape::pfifo(1000) } else { Shape::bfifo(1000 * 1514) };
    while let Some(word) = words.next() {
        match (word, &mut shape) {
            ("limit", Shape::Pfifo { limit }) => *limit = words.parsed(word)?,
            ("limit", Shape::Bfifo { limit }) => *limit = size(words, word)?,
            _ => return words.unknown(kind, word),
        }
    }
    Ok(QdiscOptions::Plain(shape))
}

fn prio(words: &mut Words<'_>) -> Result<QdiscOptions, Error> {
    let mut bands = 3;
    let mut priomap = None;
    while let Some(word) = words.next() {
        match word {
            "bands" => bands = words.parsed(word)?,
            "priomap" => {
                let mut map = [0; 16];
                for band in &mut map {
                    *band = words.parsed(word)?;
                }
                priomap = Some(map);
            }
            _ => return words.unknown("prio", word),
        }
    }
    if bands > 16 {
        return words.refuse(format!("prio: bands {bands} is not within 1 to 16"));
    }
    Ok(QdiscOptions::Prio { bands, priomap })
}

fn sfq(words: &mut Words<'_>) -> Result<QdiscOptions, Error> {
    let mut sfq = SfqShape::default();
    while let Some(word) = words.next() {
        match word {
            "limit" => sfq.limit = words.parsed(word)?,
            "depth" => sfq.depth = words.parsed(word)?,
            "flows" => sfq.flows = words.parsed(word)?,
            "divisor" => sfq.divisor = words.parsed(word)?,
            "quantum" => sfq.quantum = Some(size(words, word)?),
            "perturb" => sfq.perturb = Time(words.parsed::<u32>(word)? as u64 * 1_000_000_000),
            "headdrop" => sfq.head_drop = true,
            _ => return words.unknown("sfq", word),
        }
    }
    Ok(QdiscOptions::Plain(Shape::Sfq(sfq)))
}

fn codel(words: &mut Words<'_>) -> Result<QdiscOptions, Error> {
    let mut codel = CodelShape::default();
    while let Some(word) = words.next() {
        match word {
            "limit" => codel.limit = words.parsed(word)?,
            "target" => codel.target = time(words, word)?,
            "interval" => codel.interval = time(words, word)?,
            "ce_threshold" => codel.ce_threshold = Some(time(words, word)?),
            "ecn" => codel.ecn = true,
            "noecn" => codel.ecn = false,
            _ => return words.unknown("codel", word),
        }
    }
    Ok(QdiscOptions::Plain(Shape::Codel(codel)))
}

fn fq_codel(words: &mut Words<'_>) -> Result<QdiscOptions, Error> {
    let mut fq = FqCodelShape::default();
    while let Some(word) = words.next() {
        match word {
            "limit" => fq.limit = words.parsed(word)?,
            "flows" => fq.flows = words.parsed(word)?,
            "quantum" => fq.quantum = Some(size(words, word)?),
            "target" => fq.target = time(words, word)?,
            "interval" => fq.interval = time(words, word)?,
            "ce_threshold" => fq.ce_threshold = Some(time(words, word)?),
            "memory_limit" => fq.memory_limit = size(words, word)?,
            "drop_batch" => fq.drop_batch = words.parsed(word)?,
            "ecn" => fq.ecn = true,
            "noecn" => fq.ecn = false,
            _ => return words.unknown("fq_codel", word),
        }
    }
    Ok(QdiscOptions::Plain(Shape::FqCodel(fq)))
}

fn tbf(words: &mut Words<'_>) -> Result<QdiscOptions, Error> {
    let (mut rate, mut burst, mut peakrate, mut mtu) = (None, None, None, None);
    let (mut limit, mut latency) = (None, None);
    while let Some(word) = words.next() {
        match word {
            "rate" => rate = Some(words.parsed::<Rate>(word)?),
            "burst" | "buffer" | "maxburst" => burst = Some(size(words, word)?),
            "peakrate" => peakrate = Some(words.parsed::<Rate>(word)?),
            "mtu" | "minburst" => mtu = Some(size(words, word)?),
            "limit" => limit = Some(size(words, word)?),
            "latency" => latency = Some(time(words, word)?),
            _ => return words.unknown("tbf", word),
        }
    }
    let (Some(rate), Some(burst)) = (rate, burst) else {
        return words.refuse("tbf needs `rate` and `burst`");
    };
    let limit = match (limit, latency) {
        (Some(Size(limit)), None) => limit,
        (None, Some(latency)) => rate.bytes_in(latency).saturating_add(burst.0),
        _ => return words.refuse("tbf needs one of `limit` and `latency`"),
    };
    Ok(QdiscOptions::Tbf { rate, burst, peakrate, mtu, limit })
}

fn htb(words: &mut Words<'_>) -> Result<QdiscOptions, Error> {
    let (mut default, mut r2q, mut direct_packets) = (None, 10, 1000);
    while let Some(word) = words.next() {
        match word {
            "default" => default = Some(words.hexadecimal(word)?).filter(|&minor| minor != 0),
            "r2q" => r2q = words.parsed(word)?,
            "direct_qlen" => direct_packets = words.parsed(word)?,
            _ => return words.unknown("htb", word),
        }
    }
    Ok(QdiscOptions::Htb { default, r2q, direct_packets })
}

pub(super) fn class(kind: &str, words: &mut Words<'_>) -> Result<ClassOptions, Error> {
    match kind {
        "htb" => htb_class(words),
        "hfsc" => hfsc_class(words),
        _ => words.refuse(format!("classes of `{kind}` are not configured")),
    }
}

fn htb_class(words: &mut Words<'_>) -> Result<ClassOptions, Error> {
    let mut class = HtbClass::new(ClassId::NONE, None, Rate(0));
    let mut rate = None;
    while let Some(word) = words.next() {
        match word {
            "rate" => rate = Some(words.parsed::<Rate>(word)?),
            "ceil" => class.ceil = Some(words.parsed(word)?),
            "burst" | "buffer" | "maxburst" => class.burst = Some(size(words, word)?),
            "cburst" | "cbuffer" | "maxcburst" => class.cburst = Some(size(words, word)?),
            "prio" => class.prio = words.parsed(word)?,
            "quantum" => class.quantum = Some(size(words, word)?),
            "overhead" => class.overhead = words.parsed(word)?,
            // The size of rate tables, which are no more.
            "mtu" => _ = size(words, word)?,
            "linklayer" if words.peek() == Some("ethernet") => _ = words.next(),
            _ => return words.unknown("htb", word),
        }
    }
    let Some(rate) = rate else { return words.refuse("a class of htb needs `rate`") };
    class.rate = rate;
    Ok(ClassOptions::Htb(Box::new(class)))
}

fn hfsc_class(words: &mut Words<'_>) -> Result<ClassOptions, Error> {
    let mut class = HfscClass::new(ClassId::NONE, None);
    while let Some(word) = words.next() {
        match word {
            "sc" => {
                class.rt = Some(curve(words)?);
                class.ls = class.rt;
            }
            "rt" => class.rt = Some(curve(words)?),
            "ls" => class.ls = Some(curve(words)?),
            "ul" => class.ul = Some(curve(words)?),
            _ => return words.unknown("hfsc", word),
        }
    }
    Ok(ClassOptions::Hfsc(Box::new(class)))
}

/// `m1 RATE d TIME m2 RATE`, or `umax SIZE dmax TIME rate RATE`: umax bytes within dmax, then the rate.
fn curve(words: &mut Words<'_>) -> Result<Curve, Error> {
    let (mut m1, mut d, mut m2) = (None, None, None);
    let (mut umax, mut dmax) = (None, None);
    while let Some(word) = words.peek() {
        if !["m1", "d", "m2", "rate", "umax", "dmax"].contains(&word) {
            break;
        }
        words.next();
        match word {
            "m1" => m1 = Some(words.parsed::<Rate>(word)?),
            "d" => d = Some(time(words, word)?),
            "umax" => umax = Some(size(words, word)?),
            "dmax" => dmax = Some(time(words, word)?),
            _ => m2 = Some(words.parsed::<Rate>(word)?),
        }
    }
    let Some(m2) = m2 else { return words.refuse("a curve needs `m2` or `rate`") };
    match (m1, d, umax, dmax) {
        (None, None, None, None) => Ok(Curve::straight(m2)),
        (Some(m1), Some(d), None, None) => Ok(Curve { m1, d, m2 }),
        (None, None, umax, Some(dmax)) if dmax.0 > 0 && m2.0 > 0 => {
            let bits = u128::from(umax.unwrap_or_default().0) * 8_000_000_000;
            let burst_rate = bits.div_ceil(u128::from(dmax.0));
            if burst_rate > u128::from(m2.0) {
                let m1 = Rate(u64::try_from(burst_rate).unwrap_or(u64::MAX));
                return Ok(Curve { m1, d: dmax, m2 });
            }
            let at_rate_ns = (bits / u128::from(m2.0)) as u64;
            Ok(Curve { m1: Rate(0), d: Time(dmax.0 - at_rate_ns.min(dmax.0)), m2 })
        }
        _ => words.refuse("a curve is `m1 d m2`, `umax dmax rate`, or `rate` alone"),
    }
}
