//! A site tells a map server its networks (Map-Register), and is told that it heard, or of a change
//! (Map-Notify), which it confirms (Map-Notify-Ack): RFC 9301, 5.6 and 5.7.
//!
//! ```text
//! ┌───────┬─┬─┬─┬─────────────────────────────┬─────┬─┬───────────────┐
//! │ 3 4 5 │P│S│I│                             │     │M│    records    │
//! ├───────┴─┴─┴─┴─────────────────────────────┴─────┴─┴───────────────┤
//! │                            nonce (64)                             │
//! ├───────────────┬───────────────┬───────────────────────────────────┤
//! │    key        │  algorithm    │  octets of what proves it         │
//! ├───────────────┴───────────────┴───────────────────────────────────┤
//! │ proof: over the whole message, itself zero │ records …            │
//! └───────────────────────────────────────────────────────────────────┘
//! ```

use super::cursor::Cursor;
use super::message::kind;
use super::{MapRecord, Records};
use crate::Error;

const WHAT: &str = "LISP registration";
/// Where the proof begins.
const PROOF_AT: usize = 16;
/// P: the server is to answer for the site.
const ANSWERS: u8 = 0x08;
/// I: who registers has put its numbers behind the records (RFC 9301, 5.6).
const HAS_XTR_ID: u8 = 0x02;
/// M, in the third octet: the server is to say that it heard.
const WANTS_NOTICE: u8 = 0x01;
/// Octets of those numbers: 16 of the device, 8 of the site.
const XTR_ID_BYTES: usize = 24;

/// How a message is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// 1: HMAC-SHA-1-96 (RFC 2404).
    Sha1,
    /// 2: HMAC-SHA-256-128 (RFC 4868).
    Sha256,
}

impl Algorithm {
    /// The one of a number.
    pub fn of(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Sha1),
            2 => Some(Self::Sha256),
            _ => None,
        }
    }

    /// Its number.
    pub fn number(self) -> u8 {
        match self {
            Self::Sha1 => 1,
            Self::Sha256 => 2,
        }
    }
}

/// What such a message says beside its records and their proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegistrationHead {
    /// [`kind::REGISTER`], [`kind::NOTIFY`] or [`kind::NOTIFY_ACK`].
    pub kind: u8,
    /// Comes back with what answers it.
    pub nonce: u64,
    /// The server is to answer requests for the site.
    pub answers: bool,
    /// The server is to say that it heard.
    pub wants_notice: bool,
    /// Which key proves it.
    pub key: u8,
    /// How.
    pub algorithm: Algorithm,
}

/// Such a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registration<'a> {
    /// What it says beside its records and their proof.
    pub head: RegistrationHead,
    /// What proves it.
    pub proof: &'a [u8],
    /// The networks.
    pub records: Records<'a>,
    message: &'a [u8],
}

impl<'a> Registration<'a> {
    pub(super) fn parse(message: &'a [u8]) -> Result<Self, Error> {
        let mut cursor = Cursor(message);
        let [first, _, third, count] = cursor.u32(WHAT)?.to_be_bytes();
        let nonce = cursor.u64(WHAT)?;
        let (key, number) = (cursor.u8(WHAT)?, cursor.u8(WHAT)?);
        let algorithm = Algorithm::of(number).ok_or(Error::field(
            "LISP authentication algorithm",
            number,
            "1 or 2",
        ))?;
        let length = cursor.u16(WHAT)?;
        let proof = cursor.take(length.into(), "LISP authentication data")?;
        let records = Records::read(&mut cursor, count)?;
        if first & HAS_XTR_ID != 0 {
            cursor.take(XTR_ID_BYTES, "LISP xTR identifiers")?;
        }
        // What is behind is no part of it, nor of what is proved.
        let message = &message[..message.len() - cursor.0.len()];
        let head = RegistrationHead {
            kind: first >> 4,
            nonce,
            answers: first & ANSWERS != 0,
            wants_notice: third & WANTS_NOTICE != 0,
            key,
            algorithm,
        };
        Ok(Self { head, proof, records, message })
    }

    /// The message in the parts over which it is proved, one after another: its proof counts as
    /// zeroes.
    pub fn proved(&self) -> (&'a [u8], usize, &'a [u8]) {
        let zeroes = self.proof.len();
        (&self.message[..PROOF_AT], zeroes, &self.message[PROOF_AT + zeroes..])
    }
}

impl RegistrationHead {
    /// The octets of a message with `proof_bytes` of zeroes where its proof goes, and where that
    /// is; `records` are 255 at most.
    pub fn write(
        &self,
        proof_bytes: u16,
        records: &[MapRecord],
    ) -> (Vec<u8>, std::ops::Range<usize>) {
        let records = &records[..records.len().min(usize::from(u8::MAX))];
        let is_register = self.kind == kind::REGISTER;
        let first = self.kind << 4 | if is_register && self.answers { ANSWERS } else { 0 };
        let third = if is_register && self.wants_notice { WANTS_NOTICE } else { 0 };
        let mut out = vec![first, 0, third, records.len() as u8];
        out.extend(self.nonce.to_be_bytes());
        out.extend([self.key, self.algorithm.number()]);
        out.extend(proof_bytes.to_be_bytes());
        let proof = PROOF_AT..PROOF_AT + usize::from(proof_bytes);
        out.resize(proof.end, 0);
        records.iter().for_each(|record| record.write(&mut out));
        (out, proof)
    }
}
