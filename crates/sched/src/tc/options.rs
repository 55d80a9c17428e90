//! The options of qdiscs and classes, as `tc` spells them: what is declared with each discipline,
//! and the few that say what stands under it.

use super::words::Words;
use crate::plan::{ClassShape, Shape};
use crate::settings::{Place, Setting, Settings, Slot};
use crate::units::{Rate, Size, Time};
use crate::{ClassId, Curve, Error, PrioShape, TbfShape};

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

/// The options of a qdisc: all of it anew, or a change of what it is.
pub(super) fn qdisc(
    shape: &mut Shape,
    is_change: bool,
    words: &mut Words<'_>,
) -> Result<(), Error> {
    let kind = shape.kind();
    if let (Shape::Bfifo(bfifo), false) = (&mut *shape, is_change) {
        bfifo.limit = Size(1000 * 1514);
    }
    let (mut limit, mut latency, mut bands) = (None, None, None);
    let mut given = Given::default();
    while let Some(word) = words.next() {
        match (&mut *shape, word) {
            (Shape::Prio(_), "bands") => bands = Some(words.parsed::<u32>(word)?),
            (Shape::Prio(prio), "priomap") => {
                let bands = bands.unwrap_or(prio.bands.len() as u32);
                priomap(&mut prio.priomap, bands, words)?;
            }
            (Shape::Tbf(_), "limit") => limit = Some(size(words, word)?),
            (Shape::Tbf(_), "latency") => latency = Some(time(words, word)?),
            (shape, word) => {
                let done = match shape {
                    Shape::Cake(cake) => super::cake::line(cake, word, words)?,
                    _ => false,
                };
                if !done {
                    option(shape.settings(), word, words, &mut given)?;
                }
            }
        }
    }
    if is_change || matches!(shape, Shape::Bfifo(_)) {
        // What is not said is as it was, or has a default that depends on the device's MTU.
        given.is_whole = true;
    }
    given.expect_all(shape.settings(), kind, words)?;
    let refused = match shape {
        Shape::Prio(prio) => own_bands(prio, bands),
        Shape::Tbf(tbf) => match (limit, latency) {
            (None, None) if is_change => None,
            (None, None) | (Some(_), Some(_)) => {
                return words.refuse("tbf needs one of `limit` and `latency`");
            }
            (limit, latency) => {
                what_waits(tbf, limit, latency.unwrap_or_default());
                None
            }
        },
        _ => None,
    };
    match refused.or_else(|| shape.settings().check_ranges().err().map(|it| it.to_string())) {
        Some(reason) => words.deny(reason),
        None => Ok(()),
    }
}

/// Reads as many bands as there are.
fn priomap(map: &mut [u8; 16], bands: u32, words: &mut Words<'_>) -> Result<(), Error> {
    let mut priority = 0;
    while let Some(band) = words.peek().and_then(|word| word.parse::<u8>().ok()) {
        words.next();
        let Some(place) = map.get_mut(priority) else {
            return words.refuse("prio: priomap has more than 16 priorities");
        };
        if u32::from(band) >= bands {
            return words.refuse(format!("prio: priomap has band {band} of {bands}"));
        }
        *place = band;
        priority += 1;
    }
    Ok(())
}

/// Gives it as many bands as were asked for, or says why not.
fn own_bands(prio: &mut PrioShape, bands: Option<u32>) -> Option<String> {
    let bands = bands.unwrap_or(prio.bands.len() as u32);
    if !(2..=16).contains(&bands) {
        return Some(format!("prio: bands {bands} is not within 2 to 16"));
    }
    prio.bands.resize(bands as usize, Shape::pfifo(1000));
    let beyond = prio.priomap.iter().find(|&&band| u32::from(band) >= bands)?;
    Some(format!("prio: priomap has band {beyond} of {bands}"))
}

/// The queue of a token bucket with no qdisc of its own: by its limit, or by how long it may take
/// to leave.
fn what_waits(tbf: &mut TbfShape, limit: Option<Size>, latency: Time) {
    if !matches!(*tbf.leaf, Shape::Bfifo(_)) {
        return;
    }
    let by = |rate: Rate, burst: Size| rate.bytes_in(latency).saturating_add(burst.0);
    let by_rate = by(tbf.rate, tbf.burst);
    let by_peak = tbf.peakrate.zip(tbf.mtu).map_or(u64::MAX, |(peak, mtu)| by(peak, mtu));
    *tbf.leaf = Shape::bfifo(limit.map_or(by_rate.min(by_peak), |limit| limit.0));
}

/// The options of a class.
pub(super) fn class(
    class: &mut dyn ClassShape,
    is_change: bool,
    words: &mut Words<'_>,
) -> Result<(), Error> {
    let mut given = Given { is_whole: is_change, ..Given::default() };
    while let Some(word) = words.next() {
        match class.shorthands().iter().find(|(short, _)| *short == word) {
            Some((_, names)) => several(class, names, word, words, &mut given)?,
            None => option(class, word, words, &mut given)?,
        }
    }
    let kind = class.kind();
    given.expect_all(class, &format!("a class of {kind}"), words)
}

/// The settings that the words have named.
#[derive(Default)]
struct Given {
    names: Vec<&'static str>,
    /// Whether what is not named is known all the same.
    is_whole: bool,
}

impl Given {
    fn expect_all<S>(&self, settings: &mut S, who: &str, words: &Words<'_>) -> Result<(), Error>
    where
        S: Settings + ?Sized,
    {
        let mut missing = Vec::new();
        settings.each(&mut |setting, slot| {
            if slot.is_needed() && !self.is_whole && !self.names.contains(&setting.name) {
                missing.push(format!("`{}`", setting.name));
            }
        });
        if missing.is_empty() {
            return Ok(());
        }
        words.refuse(format!("{who} needs {}", missing.join(" and ")))
    }
}

/// Reads one option: `word`, and what follows it.
fn option<S>(
    settings: &mut S,
    word: &str,
    words: &mut Words<'_>,
    given: &mut Given,
) -> Result<(), Error>
where
    S: Settings + ?Sized,
{
    let mut outcome = None;
    settings.each(&mut |setting, slot| {
        if setting.is_switched_off_by(word) {
            if let Slot::Flag(place) = slot {
                place.set(false);
            }
            outcome = Some(Ok(()));
        } else if setting.is_called(word) {
            given.names.push(setting.name);
            outcome = Some(value(setting, slot, word, words));
        }
    });
    outcome.unwrap_or_else(|| words.unknown(settings.kind(), word))
}

/// Reads one option that stands for several settings: each takes the same words.
fn several(
    class: &mut dyn ClassShape,
    names: &[&str],
    word: &str,
    words: &mut Words<'_>,
    given: &mut Given,
) -> Result<(), Error> {
    let begun = words.clone();
    for name in names {
        *words = begun.clone();
        let mut outcome = Ok(());
        class.each(&mut |setting, slot| {
            if setting.name == *name {
                given.names.push(setting.name);
                outcome = value(setting, slot, word, words);
            }
        });
        outcome?;
    }
    Ok(())
}

fn value(
    setting: &Setting,
    slot: Slot<'_>,
    word: &str,
    words: &mut Words<'_>,
) -> Result<(), Error> {
    match slot {
        Slot::Count(place) => place.set(words.parsed(word)?),
        Slot::Small(place) => place.set(words.parsed(word)?),
        Slot::Size(place) => place.set(size(words, word)?),
        Slot::Time(place) if setting.is_in_seconds() => {
            place.set(Time(u64::from(words.parsed::<u32>(word)?) * 1_000_000_000));
        }
        Slot::Time(place) => place.set(time(words, word)?),
        Slot::Rate(place) => place.set(words.parsed(word)?),
        Slot::Flag(place) => place.set(true),
        // A class of the qdisc's own: its minor number. 0 is none.
        Slot::Class(place) => {
            let minor = words.hexadecimal(word)?;
            match place {
                Place::Maybe(place) => *place = (minor != 0).then_some(ClassId::new(0, minor)),
                place => place.set(ClassId::new(0, minor)),
            }
        }
        Slot::Curve(place) => place.set(curve(words)?),
        Slot::Bands(place) => {
            let mut map = [0; 16];
            for band in &mut map {
                *band = words.parsed(word)?;
            }
            place.set(map);
        }
        Slot::Layer(place) => place.set(words.parsed(word)?),
        // The word is the value.
        Slot::Tins(place) => place.set(word.parse()?),
        Slot::Isolation(place) => place.set(word.parse()?),
    }
    Ok(())
}

/// `m1 RATE d TIME m2 RATE`, or `umax SIZE dmax TIME rate RATE`: umax bytes within dmax, then the
/// rate.
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
