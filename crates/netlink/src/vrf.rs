//! Requests about VRFs of the kernel's: links that others are in, whose routes are in a table of
//! their own.
//!
//! ```text
//!  link │ name │ its kind: │ "vrf" │ of its kind: table │
//! ```

use crate::link::{link_header, with_nul};
use crate::{Attributes, Error, Kind, Message, Request, attribute, flag};

const NAME: u16 = 3;
const MASTER: u16 = 10;
const OF_KIND: u16 = 18;
/// Inside [`OF_KIND`].
const KIND: u16 = 1;
const DATA: u16 = 2;
/// Inside [`DATA`].
const TABLE: u16 = 1;

/// Makes a VRF of this table.
pub fn add(name: &str, table: u32) -> Request {
    let (mut data, mut of_kind) = (Vec::new(), Vec::new());
    attribute::write(&mut data, TABLE, &table.to_ne_bytes());
    attribute::write(&mut of_kind, KIND, b"vrf");
    attribute::write(&mut of_kind, DATA, &data);
    let flags = flag::CREATE | flag::EXCLUSIVE;
    let request = Request::new(Kind::NEW_LINK, flags, &link_header(0, 0, 0));
    request.with(NAME, &with_nul(name)).with(OF_KIND, &of_kind)
}

/// Puts a link into a VRF, or out of the one that it is in.
pub fn put(link: u32, into: Option<u32>) -> Request {
    let request = Request::new(Kind::NEW_LINK, 0, &link_header(link, 0, 0));
    request.with(MASTER, &into.unwrap_or(0).to_ne_bytes())
}

/// The table of the VRF that an answer tells of; none: the link is no VRF.
pub fn table_of(message: &Message<'_>) -> Result<Option<u32>, Error> {
    let (_, attributes): (&[u8; 16], Attributes<'_>) = message.parts("a link")?;
    let Some(of_kind) = find(attributes, OF_KIND)? else { return Ok(None) };
    let is_vrf = find(of_kind.nested(), KIND)?
        .is_some_and(|kind| kind.value.strip_suffix(&[0]).unwrap_or(kind.value) == b"vrf");
    let Some(data) = find(of_kind.nested(), DATA)?.filter(|_| is_vrf) else { return Ok(None) };
    find(data.nested(), TABLE)?.map(|table| table.number()).transpose()
}

fn find<'a>(
    mut attributes: Attributes<'a>,
    kind: u16,
) -> Result<Option<crate::Attribute<'a>>, Error> {
    attributes.find(|it| !matches!(it, Ok(it) if it.kind != kind)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Messages;

    fn table(bytes: &[u8]) -> Result<Option<u32>, Error> {
        table_of(&Messages::new(bytes).next().unwrap().unwrap())
    }

    #[test]
    fn a_vrf_says_its_table_and_others_are_none() {
        assert_eq!(table(&add("red", 1001).finish(1)), Ok(Some(1001)));
        assert_eq!(table(&crate::bridge::add("lan", None).finish(1)), Ok(None));
        assert_eq!(table(&crate::bridge::set_up(5).finish(1)), Ok(None));
    }

    #[test]
    fn what_is_cut_off_is_told() {
        let whole = add("red", 1001).finish(1);
        // The table's four bytes are the last ones: two of them, and what is around them says so.
        let mut short = whole[..whole.len() - 4].to_vec();
        let length = short.len() as u32;
        short[..4].copy_from_slice(&length.to_ne_bytes());
        assert!(table(&short).is_err());
    }

    #[test]
    fn a_link_is_put_into_one_and_out_of_it() {
        let master = |bytes: &[u8]| {
            let message = Messages::new(bytes).next().unwrap().unwrap();
            let (_, attributes): (&[u8; 16], _) = message.parts("it").unwrap();
            let all: Vec<_> = attributes.map(Result::unwrap).collect();
            (all.len(), all[0].kind, all[0].number())
        };
        assert_eq!(master(&put(5, Some(9)).finish(1)), (1, MASTER, Ok(9)));
        assert_eq!(master(&put(5, None).finish(1)), (1, MASTER, Ok(0)));
    }
}
