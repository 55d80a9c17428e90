//! The server's side: what a client may tell of its memory.

use super::{
    AddRegion, AddRing, Hello, Init, MAX_REGIONS, MAX_RING_LOG2, MAX_RINGS, MAX_SHARED_BYTES,
    Message, Refusal, SECRET_BYTES, VERSION, ring_bytes, shown, text,
};

/// Memory that a client has, and its descriptor.
#[derive(Debug, PartialEq, Eq)]
pub struct RegionOffer<F> {
    /// Its descriptor.
    pub memory: F,
    /// Bytes that it says it has.
    pub bytes: u64,
}

/// A ring that a client has, inside the region that it names.
#[derive(Debug, PartialEq, Eq)]
pub struct RingOffer<F> {
    /// In which region.
    pub region: u16,
    /// Where in it.
    pub offset: u32,
    /// Packets it holds, as a power of two.
    pub ring_log2: u8,
    /// How who polls not is woken.
    pub bell: F,
}

/// All that a client told.
#[derive(Debug, PartialEq, Eq)]
pub struct Described<F> {
    /// By number.
    pub regions: Vec<RegionOffer<F>>,
    /// Rings from client to server, by number.
    pub to_server: Vec<RingOffer<F>>,
    /// Rings from server to client, by number.
    pub to_client: Vec<RingOffer<F>>,
}

/// What to do after a message.
#[derive(Debug, PartialEq, Eq)]
pub enum ServerStep<F> {
    /// Acknowledge it.
    Ack,
    /// Use what the client described, and say that it is connected.
    Connect(Described<F>),
    /// It left, with these words.
    Left(String),
}

/// A client that said to which interface it wants. `F` is a descriptor.
#[derive(Debug)]
pub struct Server<F> {
    most_to_server: u16,
    most_to_client: u16,
    described: Option<Described<F>>,
}

impl<F> Server<F> {
    /// For an interface with so many queues each way.
    pub fn new(most_to_server: u16, most_to_client: u16) -> Self {
        let described = Described { regions: vec![], to_server: vec![], to_client: vec![] };
        Self { most_to_server, most_to_client, described: Some(described) }
    }

    /// The greeting of a socket whose interfaces have at most so many queues each way.
    pub fn hello(name: &str, most_to_server: u16, most_to_client: u16) -> Message {
        Message::Hello(Hello {
            name: text(name),
            min_version: VERSION,
            max_version: VERSION,
            max_region: MAX_REGIONS - 1,
            max_s2c_ring: most_to_client.clamp(1, MAX_RINGS) - 1,
            max_c2s_ring: most_to_server.clamp(1, MAX_RINGS) - 1,
            max_ring_log2: MAX_RING_LOG2,
        })
    }

    /// Whether a client may have an interface with that secret (zeroes: none).
    pub fn admit(init: &Init, secret: &[u8; SECRET_BYTES]) -> Result<(), Refusal> {
        if init.version != VERSION {
            return Err(Refusal::Version);
        }
        if init.mode != 0 {
            return Err(Refusal::Mode);
        }
        // All of it is looked at, wherever they differ first.
        let differ = init.secret.iter().zip(secret).fold(0, |all, (a, b)| all | (a ^ b));
        let wanted = secret[0] != 0;
        if wanted && differ != 0 { Err(Refusal::Secret) } else { Ok(()) }
    }

    /// The next message, and the descriptor that came with it.
    pub fn receive(
        &mut self,
        message: &Message,
        descriptor: Option<F>,
    ) -> Result<ServerStep<F>, Refusal> {
        let needs_descriptor = matches!(message, Message::AddRegion(_) | Message::AddRing(_));
        if descriptor.is_some() && !needs_descriptor {
            return Err(Refusal::ExtraDescriptor);
        }
        if let Message::Disconnect(end) = message {
            return Ok(ServerStep::Left(shown(&end.reason)));
        }
        let Some(described) = &mut self.described else { return Err(Refusal::OutOfTurn) };
        match message {
            Message::AddRegion(region) => {
                described.add_region(region, descriptor)?;
                Ok(ServerStep::Ack)
            }
            Message::AddRing(ring) => {
                let most = if ring.to_server { self.most_to_server } else { self.most_to_client };
                described.add_ring(ring, descriptor, most)?;
                Ok(ServerStep::Ack)
            }
            Message::Connect(_) => {
                if described.to_server.is_empty() || described.to_client.is_empty() {
                    return Err(Refusal::NoRing);
                }
                self.described.take().map(ServerStep::Connect).ok_or(Refusal::OutOfTurn)
            }
            Message::Ack
            | Message::Hello(_)
            | Message::Init(_)
            | Message::Connected(_)
            | Message::Disconnect(_) => Err(Refusal::OutOfTurn),
        }
    }
}

impl<F> Described<F> {
    fn add_region(&mut self, told: &AddRegion, memory: Option<F>) -> Result<(), Refusal> {
        let memory = memory.ok_or(Refusal::NoDescriptor)?;
        let is_next = usize::from(told.index) == self.regions.len() && told.index < MAX_REGIONS;
        let before: u64 = self.regions.iter().map(|region| region.bytes).sum();
        let fits = before.checked_add(told.size).is_some_and(|all| all <= MAX_SHARED_BYTES);
        if !is_next || !fits || told.size == 0 {
            return Err(Refusal::Region(told.index));
        }
        self.regions.push(RegionOffer { memory, bytes: told.size });
        Ok(())
    }

    fn add_ring(&mut self, told: &AddRing, bell: Option<F>, most: u16) -> Result<(), Refusal> {
        let bell = bell.ok_or(Refusal::NoDescriptor)?;
        let rings = if told.to_server { &mut self.to_server } else { &mut self.to_client };
        let is_next = usize::from(told.index) == rings.len() && told.index < most.min(MAX_RINGS);
        let region = self.regions.get(usize::from(told.region));
        // Descriptors are read as two words of eight bytes.
        let fits = told.ring_log2 <= MAX_RING_LOG2
            && told.offset.is_multiple_of(8)
            && region.is_some_and(|region| {
                u64::from(told.offset) + ring_bytes(told.ring_log2) <= region.bytes
            });
        if !is_next || !fits {
            return Err(Refusal::Ring(told.index));
        }
        let (region, offset) = (told.region, told.offset);
        rings.push(RingOffer { region, offset, ring_log2: told.ring_log2, bell });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGION: Message = Message::AddRegion(AddRegion { index: 0, size: 65_536 });
    const RING: AddRing = AddRing {
        to_server: true,
        index: 0,
        region: 0,
        offset: 0,
        ring_log2: 10,
        private_bytes: 0,
    };
    const BACK: AddRing = AddRing { to_server: false, offset: 32_768, ..RING };

    fn told(messages: &[(Message, Option<u8>)]) -> Result<ServerStep<u8>, Refusal> {
        let mut server = Server::new(2, 2);
        let mut last = Err(Refusal::OutOfTurn);
        for (message, descriptor) in messages {
            last = Ok(server.receive(message, *descriptor)?);
        }
        last
    }

    #[test]
    fn a_client_that_describes_its_memory_is_connected() {
        let step = told(&[
            (REGION, Some(1)),
            (Message::AddRing(RING), Some(2)),
            (Message::AddRing(BACK), Some(3)),
            (Message::Connect([0; 32]), None),
        ]);
        let ring = |offset, bell| vec![RingOffer { region: 0, offset, ring_log2: 10, bell }];
        assert_eq!(
            step,
            Ok(ServerStep::Connect(Described {
                regions: vec![RegionOffer { memory: 1, bytes: 65_536 }],
                to_server: ring(0, 2),
                to_client: ring(32_768, 3),
            }))
        );
    }

    #[test]
    fn regions_that_cannot_be_are_refused() {
        for (index, size) in [(1, 64), (0, 0), (0, MAX_SHARED_BYTES + 1), (0, u64::MAX)] {
            let message = Message::AddRegion(AddRegion { index, size });
            assert_eq!(told(&[(message, Some(1))]), Err(Refusal::Region(index)), "{index} {size}");
        }
        let second = Message::AddRegion(AddRegion { index: 1, size: u64::MAX });
        assert_eq!(told(&[(REGION, Some(1)), (second, Some(2))]), Err(Refusal::Region(1)));
        assert_eq!(told(&[(REGION, None)]), Err(Refusal::NoDescriptor));
    }

    #[test]
    fn rings_that_are_not_inside_their_region_are_refused() {
        for ring in [
            AddRing { region: 1, ..RING },
            AddRing { region: u16::MAX, ..RING },
            AddRing { offset: 65_536 - 64, ..RING },
            AddRing { offset: u32::MAX - 7, ..RING },
            AddRing { offset: 4, ..RING },
            AddRing { ring_log2: 15, ..RING },
            AddRing { ring_log2: u8::MAX, ..RING },
            AddRing { ring_log2: 12, ..RING },
            AddRing { index: 1, ..RING },
        ] {
            let told = told(&[(REGION, Some(1)), (Message::AddRing(ring), Some(2))]);
            assert_eq!(told, Err(Refusal::Ring(ring.index)), "{ring:?}");
        }
        let ring = Message::AddRing(RING);
        assert_eq!(told(&[(REGION, Some(1)), (ring, None)]), Err(Refusal::NoDescriptor));
        let twice = told(&[(REGION, Some(1)), (ring, Some(2)), (ring, Some(3))]);
        assert_eq!(twice, Err(Refusal::Ring(0)));
    }

    #[test]
    fn messages_out_of_turn_and_descriptors_too_many_are_refused() {
        let connect = (Message::Connect([0; 32]), None);
        assert_eq!(told(&[connect]), Err(Refusal::NoRing));
        assert_eq!(told(&[(Message::Ack, None)]), Err(Refusal::OutOfTurn));
        assert_eq!(told(&[(connect.0, Some(1))]), Err(Refusal::ExtraDescriptor));
        let whole = [
            (REGION, Some(1)),
            (Message::AddRing(RING), Some(2)),
            (Message::AddRing(BACK), Some(3)),
            connect,
        ];
        for after in [(REGION, Some(4)), (Message::AddRing(RING), Some(4)), connect] {
            let all: Vec<_> = whole.into_iter().chain([after]).collect();
            assert_eq!(told(&all), Err(Refusal::OutOfTurn));
        }
    }

    #[test]
    fn who_has_not_the_secret_is_not_admitted() {
        let secret: [u8; SECRET_BYTES] = text("open sesame");
        let init = Init { version: VERSION, id: 0, mode: 0, secret, name: [0; 32] };
        let admit = |init: &Init, secret| Server::<u8>::admit(init, secret);
        assert_eq!(admit(&init, &secret), Ok(()));
        assert_eq!(admit(&init, &[0; 24]), Ok(()));
        assert_eq!(admit(&Init { secret: [0; 24], ..init }, &secret), Err(Refusal::Secret));
        assert_eq!(admit(&Init { mode: 1, ..init }, &secret), Err(Refusal::Mode));
        assert_eq!(admit(&Init { version: 1, ..init }, &secret), Err(Refusal::Version));
    }
}
