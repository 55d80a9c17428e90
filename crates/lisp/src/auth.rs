//! What proves that a message is of who has the key (RFC 9301, 5.6; RFC 2404, RFC 4868).
//!
//! The proof is written at its full length, as all who speak it do; one that is cut to the
//! length that its name says (96 of SHA-1's, 128 bits of SHA-256's) is taken, too.

use ring::hmac;
use wire::lisp::{Algorithm, MapRecord, Registration, RegistrationHead};

/// A key, and how it proves.
#[derive(Clone, Debug)]
pub struct Key {
    algorithm: Algorithm,
    key: hmac::Key,
}

impl Key {
    /// The key of a secret.
    pub fn new(algorithm: Algorithm, secret: &[u8]) -> Self {
        let of = match algorithm {
            Algorithm::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Algorithm::Sha256 => hmac::HMAC_SHA256,
        };
        Self { algorithm, key: hmac::Key::new(of, secret) }
    }

    /// How it proves.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The octets of a message, proved. Its head says the key's algorithm, whatever it said.
    pub fn prove(&self, head: RegistrationHead, records: &[MapRecord]) -> Vec<u8> {
        let head = RegistrationHead { algorithm: self.algorithm, ..head };
        let (mut message, place) = head.write(self.most_bytes() as u16, records);
        let proof = hmac::sign(&self.key, &message);
        message[place].copy_from_slice(proof.as_ref());
        message
    }

    /// Whether a message was proved with this key.
    pub fn proves(&self, message: &Registration<'_>) -> bool {
        let length = message.proof.len();
        if message.head.algorithm != self.algorithm
            || !(self.least_bytes()..=self.most_bytes()).contains(&length)
        {
            return false;
        }
        let (before, zeroes, behind) = message.proved();
        let mut context = hmac::Context::with_key(&self.key);
        context.update(before);
        context.update(&[0; 32][..zeroes]);
        context.update(behind);
        let proof = context.sign();
        // Each octet is looked at, so that the time tells nothing of where they differ.
        let pairs = proof.as_ref().iter().zip(message.proof);
        pairs.fold(0, |differs, (own, other)| differs | (own ^ other)) == 0
    }

    fn least_bytes(&self) -> usize {
        match self.algorithm {
            Algorithm::Sha1 => 12,
            Algorithm::Sha256 => 16,
        }
    }

    fn most_bytes(&self) -> usize {
        match self.algorithm {
            Algorithm::Sha1 => 20,
            Algorithm::Sha256 => 32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::lisp::{Message, kind};

    const SHA1_PROOF: [u8; 20] = [
        0x21, 0x17, 0x0c, 0x54, 0x13, 0xb0, 0x5a, 0x7d, 0xba, 0x77, 0x33, 0x10, 0xf6, 0x33, 0xf9,
        0x36, 0x11, 0x8d, 0xd4, 0x3e,
    ];
    const SHA256_PROOF: [u8; 32] = [
        0x0c, 0xd3, 0xff, 0xe6, 0x22, 0x44, 0x79, 0x97, 0x3a, 0x9a, 0xfc, 0xa2, 0x47, 0x8a, 0xd4,
        0xd4, 0x35, 0x58, 0x82, 0x7e, 0x0e, 0x41, 0xdd, 0xe8, 0x90, 0x08, 0xb0, 0xee, 0xe3, 0x92,
        0xd4, 0xea,
    ];

    fn head() -> RegistrationHead {
        RegistrationHead {
            kind: kind::REGISTER,
            nonce: 7,
            answers: false,
            wants_notice: true,
            key: 0,
            algorithm: Algorithm::Sha1,
        }
    }

    fn is_proved(key: &Key, bytes: &[u8]) -> bool {
        let Ok(Message::Registration(message)) = Message::parse(bytes) else {
            panic!("{bytes:x?}")
        };
        key.proves(&message)
    }

    #[test]
    fn a_message_is_proved_by_its_key_alone_and_as_it_was_written() {
        for algorithm in [Algorithm::Sha1, Algorithm::Sha256] {
            let key = Key::new(algorithm, b"secret");
            let message = key.prove(head(), &[]);
            assert!(is_proved(&key, &message));
            assert!(!is_proved(&Key::new(algorithm, b"other"), &message));
            for at in [4, 11, message.len() - 1] {
                let mut changed = message.clone();
                changed[at] ^= 1;
                assert!(!is_proved(&key, &changed), "octet {at}");
            }
            let other = match algorithm {
                Algorithm::Sha1 => Algorithm::Sha256,
                Algorithm::Sha256 => Algorithm::Sha1,
            };
            assert!(!is_proved(&Key::new(other, b"secret"), &message));
        }
    }

    /// HMAC-SHA-1 and HMAC-SHA-256 with "key" over the sixteen octets below and as many zeroes as
    /// the proof is long, worked out elsewhere.
    #[test]
    fn the_proof_is_that_of_the_standard() {
        let message = Key::new(Algorithm::Sha1, b"key").prove(head(), &[]);
        assert_eq!(message[..16], [0x30, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 1, 0, 20]);
        assert_eq!(message[16..], SHA1_PROOF);
        let message = Key::new(Algorithm::Sha256, b"key").prove(head(), &[]);
        assert_eq!(message[16..], SHA256_PROOF);
    }

    #[test]
    fn a_proof_may_be_cut_to_what_its_name_says_and_no_shorter() {
        for (algorithm, least, most) in [(Algorithm::Sha1, 12, 20), (Algorithm::Sha256, 16, 32)] {
            let key = Key::new(algorithm, b"secret");
            for length in [0, least - 1, least, most - 1, most, most + 1] {
                let head = RegistrationHead { algorithm, ..head() };
                let (mut message, place) = head.write(length as u16, &[]);
                let proof = hmac::sign(&key.key, &message);
                let cut = proof.as_ref().len().min(length);
                message[place][..cut].copy_from_slice(&proof.as_ref()[..cut]);
                assert_eq!(is_proved(&key, &message), (least..=most).contains(&length), "{length}");
            }
        }
    }
}
