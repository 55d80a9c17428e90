//! The client's side: it has the memory, and tells the server of it piece by piece.

use super::{
    AddRegion, AddRing, Init, MAX_RING_LOG2, MAX_RINGS, Message, Refusal, SECRET_BYTES, VERSION,
    shown, text,
};
use crate::shape::{Direction, Shape};

/// What a client wants of its server.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// Which interface of the socket.
    pub id: u32,
    /// Zeroes for none.
    pub secret: [u8; SECRET_BYTES],
    /// Rings, and their size. The server may want less.
    pub shape: Shape,
    /// Bytes of a second region, which has the packets; none: the first has them.
    pub packet_bytes: Option<u64>,
}

/// The descriptor that goes with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// None.
    Nothing,
    /// The memory's.
    Memory,
    /// That of the memory of packets.
    Packets,
    /// A ring's bell.
    Bell(Direction, u16),
}

/// What to do after a message.
#[derive(Debug, PartialEq, Eq)]
pub enum ClientStep {
    /// Say this.
    Say(Message, Carries),
    /// Packets can flow.
    Connected,
    /// It left, with these words.
    Left(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    AwaitsHello,
    /// So many of the descriptions are acknowledged, the first being `Init`.
    Describes(u32),
    AwaitsConnected,
    Connected,
}

/// A connection to a server.
#[derive(Debug)]
pub struct Client {
    wish: Wish,
    name: &'static str,
    stage: Stage,
}

impl Client {
    /// Nothing was said yet.
    pub fn new(wish: Wish, name: &'static str) -> Self {
        Self { wish, name, stage: Stage::AwaitsHello }
    }

    /// What the rings are, once the server has greeted.
    pub fn shape(&self) -> Option<Shape> {
        (self.stage != Stage::AwaitsHello).then_some(self.wish.shape)
    }

    /// The next message of the server's.
    pub fn receive(&mut self, message: &Message) -> Result<ClientStep, Refusal> {
        match (message, self.stage) {
            (Message::Disconnect(end), _) => Ok(ClientStep::Left(shown(&end.reason))),
            (Message::Hello(hello), Stage::AwaitsHello) => {
                if !(hello.min_version..=hello.max_version).contains(&VERSION) {
                    return Err(Refusal::Version);
                }
                let shape = &mut self.wish.shape;
                let most = |ours: u16, highest: u16| ours.min(highest.saturating_add(1));
                shape.to_server = most(shape.to_server, hello.max_c2s_ring).min(MAX_RINGS);
                shape.to_client = most(shape.to_client, hello.max_s2c_ring).min(MAX_RINGS);
                shape.ring_log2 = shape.ring_log2.min(hello.max_ring_log2).min(MAX_RING_LOG2);
                self.stage = Stage::Describes(0);
                Ok(ClientStep::Say(
                    Message::Init(Init {
                        version: VERSION,
                        id: self.wish.id,
                        mode: 0,
                        secret: self.wish.secret,
                        name: text(self.name),
                    }),
                    Carries::Nothing,
                ))
            }
            (Message::Ack, Stage::Describes(done)) => Ok(self.describe(done)),
            (Message::Connected(_), Stage::AwaitsConnected) => {
                self.stage = Stage::Connected;
                Ok(ClientStep::Connected)
            }
            (
                Message::Ack
                | Message::Hello(_)
                | Message::Init(_)
                | Message::AddRegion(_)
                | Message::AddRing(_)
                | Message::Connect(_)
                | Message::Connected(_),
                _,
            ) => Err(Refusal::OutOfTurn),
        }
    }

    /// The memory first, that of packets, if there is one, then the rings of either direction, then
    /// that this was all.
    fn describe(&mut self, done: u32) -> ClientStep {
        self.stage = Stage::Describes(done + 1);
        let shape = self.wish.shape;
        let packets = self.wish.packet_bytes.map(|bytes| (bytes, Carries::Packets));
        let regions = [Some((shape.bytes(), Carries::Memory)), packets];
        let mut regions = (0..).zip(regions.into_iter().flatten());
        let count = regions.clone().count() as u32;
        if let Some((index, (size, carries))) = regions.nth(done as usize) {
            return ClientStep::Say(Message::AddRegion(AddRegion { index, size }), carries);
        }
        let ring = done - count;
        let Some((direction, index)) = shape.rings().nth(ring as usize) else {
            self.stage = Stage::AwaitsConnected;
            return ClientStep::Say(Message::Connect(text(self.name)), Carries::Nothing);
        };
        let ring = AddRing {
            to_server: direction == Direction::ToServer,
            index,
            region: 0,
            offset: shape.ring_offset(direction, index),
            ring_log2: shape.ring_log2,
            private_bytes: 0,
        };
        ClientStep::Say(Message::AddRing(ring), Carries::Bell(direction, index))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Described, Server, ServerStep};
    use super::*;

    fn wish() -> Wish {
        let shape = Shape { to_server: 3, to_client: 2, ring_log2: 10, buffer_bytes: 2048 };
        Wish { id: 7, secret: [0; SECRET_BYTES], shape, packet_bytes: None }
    }

    #[test]
    fn client_and_server_understand_each_other() {
        understand(wish(), &[Carries::Memory]);
        let shape = Shape { buffer_bytes: 0, ..wish().shape };
        let zero_copy = Wish { shape, packet_bytes: Some(1 << 20), ..wish() };
        let described = understand(zero_copy, &[Carries::Memory, Carries::Packets]);
        assert_eq!(described.regions[1].bytes, 1 << 20);
    }

    fn understand(wish: Wish, memory: &[Carries]) -> Described<Carries> {
        let mut client = Client::new(wish, "volley");
        let mut server = Server::<Carries>::new(2, 2);
        assert_eq!(client.shape(), None);
        let hello = Server::<Carries>::hello("volley", 2, 2);
        let ClientStep::Say(Message::Init(init), Carries::Nothing) =
            client.receive(&hello).unwrap()
        else {
            panic!("no init")
        };
        assert_eq!((init.id, Server::<Carries>::admit(&init, &[0; 24])), (7, Ok(())));
        let described = loop {
            let ClientStep::Say(message, carries) = client.receive(&Message::Ack).unwrap() else {
                panic!("it says nothing")
            };
            let carries = Some(carries).filter(|carries| *carries != Carries::Nothing);
            match server.receive(&message, carries).unwrap() {
                ServerStep::Ack => {}
                ServerStep::Connect(described) => break described,
                ServerStep::Left(reason) => panic!("{reason}"),
            }
        };
        // The client has three queues, the server takes two.
        assert_eq!((described.to_server.len(), described.to_client.len()), (2, 2));
        assert_eq!(described.regions[0].bytes, client.shape().unwrap().bytes());
        let carried: Vec<_> = described.regions.iter().map(|region| region.memory).collect();
        assert_eq!(carried, memory);
        let connected = Message::Connected([0; 32]);
        assert_eq!(client.receive(&connected), Ok(ClientStep::Connected));
        assert_eq!(client.receive(&connected), Err(Refusal::OutOfTurn));
        described
    }

    #[test]
    fn a_server_that_speaks_out_of_turn_is_left() {
        let mut client = Client::new(wish(), "volley");
        for message in [Message::Ack, Message::Connected([0; 32]), Message::Connect([0; 32])] {
            assert_eq!(client.receive(&message), Err(Refusal::OutOfTurn));
        }
        let Message::Hello(hello) = Server::<u8>::hello("", 1, 1) else { panic!("no hello") };
        let later =
            super::super::Hello { min_version: VERSION + 1, max_version: u16::MAX, ..hello };
        assert_eq!(client.receive(&Message::Hello(later)), Err(Refusal::Version));
        let small = super::super::Hello { max_ring_log2: 0, max_c2s_ring: u16::MAX, ..hello };
        assert!(client.receive(&Message::Hello(small)).is_ok());
        let shape = client.shape().unwrap();
        assert_eq!((shape.ring_log2, shape.to_server, shape.to_client), (0, 3, 1));
    }
}
