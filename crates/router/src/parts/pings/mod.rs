//! Echo requests of the router itself: ping and traceroute.
//!
//! ```text
//!  API ─▶ Course ─▶ request ─▶ injected: looked up, resolved and sent as all that is ours
//!           ▲  │
//!  workers ─┘  └─▶ lines to whoever asked                answers and errors, by their identifier
//! ```
//! A course is a list of timers and what it waits for; the control thread never waits with it. How
//! many there are at once, and how fast each asks, is bounded.

mod course;
mod hops;
mod request;
mod series;
mod way;

use crate::core::Core;
use crate::part::{Hears, Part};
use control::engine::{EngineError, Tell};
use control::view::{self, PingProblem};
use course::{Course, Outcome, Question};
use hops::Hops;
use nodes::tables::{EchoHeard, Injected, MOST_ECHOES};
use reassembly::cut;
use request::Asking;
use series::Series;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::time::Instant;
use way::way_to;
use wire::ipv6;

/// RFC 791: every link carries 68 octets.
const IP4_MIN_MTU: usize = 68;

/// See the module.
#[derive(Default)]
pub(crate) struct Pings {
    /// By their identifiers.
    sessions: BTreeMap<u16, Session>,
    /// How many there were: what makes each identifier another one.
    begun: u64,
    random: RandomState,
}

/// One that goes on.
struct Session {
    asking: Asking,
    course: Box<dyn Course>,
    /// The longest packet that the way takes, as somebody on it said.
    told_mtu: Option<u16>,
}

impl Part for Pings {
    fn turn(&mut self, core: &mut Core, now: Instant) -> bool {
        self.beat(core, now);
        false
    }

    fn beat(&mut self, core: &mut Core, _: Instant) {
        let now_ns = core.now_ns();
        for heard in std::mem::take(&mut core.echoes_heard) {
            self.hear(core, heard);
        }
        for session in self.sessions.values_mut() {
            session.course.tick(now_ns);
            // Neighbours are asked for by the same way to the workers.
            while core.dataplane.injector.has_room()
                && let Some(question) = session.course.ask(now_ns)
            {
                session.ask(core, question);
            }
        }
        self.sessions.retain(|id, session| {
            let is_over = session.course.is_over();
            if is_over {
                core.dataplane.echo_ids.give_back(*id);
            }
            !is_over
        });
    }

    fn next_due_ns(&self) -> Option<u64> {
        self.sessions.values().filter_map(|session| session.course.next_due_ns()).min()
    }
}

impl Hears<EchoHeard> for Pings {
    fn hear(&mut self, core: &mut Core, heard: EchoHeard) {
        let Some(session) = self.sessions.get_mut(&heard.identifier) else { return };
        if !session.asking.is_about(&heard) {
            return;
        }
        let outcome = Outcome::of(&heard);
        if let Outcome::Problem { problem: PingProblem::TooBig, mtu: Some(mtu), .. } = outcome {
            // Links of each family carry so much at least (RFC 791, RFC 8200 section 5).
            let least = if session.asking.target.is_ipv6() { ipv6::MIN_MTU } else { IP4_MIN_MTU };
            session.told_mtu = u16::try_from(mtu).ok().map(|told| told.max(least as u16));
        }
        session.course.hear(core.now_ns(), heard.sequence, outcome);
    }
}

impl Session {
    /// Sends a request, whole or in pieces, or tells why not.
    fn ask(&mut self, core: &mut Core, question: Question) {
        let Question { sequence, ttl } = question;
        let Self { asking, course, told_mtu } = self;
        let now_ns = core.now_ns();
        let way = match way_to(core, asking.vrf, asking.target, asking.port) {
            Ok(way) => way,
            Err(why) => {
                let (from, mtu, heard_tsc) = (None, None, None);
                let outcome = Outcome::Problem { from, problem: why.problem(), mtu, heard_tsc };
                return course.hear(now_ns, sequence, outcome);
            }
        };
        let packet = asking.packet(sequence, ttl);
        if asking.df && packet.len() > usize::from(way.mtu) {
            let (from, mtu) = (Some(asking.source), Some(way.mtu.into()));
            let problem = PingProblem::TooBig;
            return course.hear(
                now_ns,
                sequence,
                Outcome::Problem { from, problem, mtu, heard_tsc: None },
            );
        }
        let most = match asking.df {
            true => packet.len(),
            false => told_mtu.map_or(way.mtu, |told| told.min(way.mtu)).into(),
        };
        let (rx, identification) = (asking.rx, asking.next_identification());
        let pieces = cut(&packet, most, identification);
        course.sent(sequence, core.clock.tsc());
        for piece in pieces {
            core.neighborhood.inject_copy(&piece, |packet| Injected::Own { rx, packet });
        }
    }
}

impl Pings {
    /// Begins to ask somebody; see [`control::engine::Engine::ping`].
    pub(crate) fn ping(
        &mut self,
        core: &mut Core,
        request: &view::PingRequest,
        mut tell: Tell<view::PingLine>,
    ) -> Result<(), EngineError> {
        let asked = way::Asked {
            target: request.address,
            port: request.port.as_deref(),
            vrf: request.vrf(),
            source: request.source,
        };
        let asking = self.asking(core, &asked, request.size, request.df)?;
        tell(view::PingLine::Begun {
            target: asking.target.to_string(),
            source: asking.source.to_string(),
            vrf: request.vrf().to_owned(),
            port: request.port.clone(),
            size: request.size,
        });
        let now_ns = core.now_ns();
        self.begin(core, asking, Box::new(Series::new(now_ns, request, tell)))
    }

    /// Begins to look for the routers on a way; see [`control::engine::Engine::traceroute`].
    pub(crate) fn traceroute(
        &mut self,
        core: &mut Core,
        request: &view::TracerouteRequest,
        mut tell: Tell<view::TracerouteLine>,
    ) -> Result<(), EngineError> {
        let asked = way::Asked {
            target: request.address,
            port: request.port.as_deref(),
            vrf: request.vrf(),
            source: request.source,
        };
        let asking = self.asking(core, &asked, request.size, request.df)?;
        tell(view::TracerouteLine::Begun {
            target: asking.target.to_string(),
            source: asking.source.to_string(),
            vrf: request.vrf().to_owned(),
            port: request.port.clone(),
            max_hops: request.max_hops,
            size: request.size,
        });
        let now_ns = core.now_ns();
        self.begin(core, asking, Box::new(Hops::new(now_ns, request, tell)))
    }

    fn asking(
        &mut self,
        core: &Core,
        asked: &way::Asked<'_>,
        size: u16,
        df: bool,
    ) -> Result<Asking, EngineError> {
        if self.sessions.len() >= MOST_ECHOES {
            let most = format!("{MOST_ECHOES} pings and traceroutes go on already: end one");
            return Err(EngineError::Conflict(most));
        }
        let begins = way::begin(core, asked)?;
        let identification = self.random.hash_one(self.begun) as u32;
        Ok(Asking::new(begins, asked.target, size, df, identification))
    }

    fn begin(
        &mut self,
        core: &mut Core,
        mut asking: Asking,
        course: Box<dyn Course>,
    ) -> Result<(), EngineError> {
        self.begun += 1;
        // Begun anywhere, so that nobody guesses it.
        let first = self.random.hash_one((self.begun, "identifier")) as u16;
        let free = (0..=u16::MAX).map(|more| first.wrapping_add(more));
        let identifier = free.into_iter().find(|id| core.dataplane.echo_ids.take(*id));
        let Some(identifier) = identifier else {
            return Err(EngineError::Conflict("no identifier is free".to_owned()));
        };
        asking.identifier = identifier;
        self.sessions.insert(identifier, Session { asking, course, told_mtu: None });
        (core.wake)();
        Ok(())
    }
}
