//! The closed set of algorithms: a jump table in place of a virtual call, and no box for a FIFO.
//!
//! ```text
//!   Root<T, D>                   the pool of packets, the packets given back, the public trait
//!     └ D: Discipline            prio | sfq | codel | fq_codel | cake | tbf | htb | hfsc        a FIFO alone: LoneFifo
//!         └ Child                any of this set
//! ```

use crate::fifo::Fifo;

macro_rules! algorithms {
    ($($(#[cfg($cfg:meta)])? $algorithm:ident($path:path),)+) => {
        /// A discipline that was made.
        pub(crate) enum Kind {
            Fifo(Fifo),
            $($(#[cfg($cfg)])? $algorithm(Box<$path>),)+
        }

        /// Runs a call on whichever discipline stands there; a FIFO may have one of its own.
        macro_rules! each {
            ($kind:expr, $one:ident => $call:expr) => {
                each!($kind, $one => $call, $one => $call)
            };
            ($kind:expr, $fifo:ident => $of_fifo:expr, $one:ident => $call:expr) => {
                match $kind {
                    $crate::kind::Kind::Fifo($fifo) => $of_fifo,
                    $($(#[cfg($cfg)])? $crate::kind::Kind::$algorithm($one) => $call,)+
                }
            };
        }
        pub(crate) use each;
    };
}

// One line an algorithm.
algorithms! {
    Prio(crate::prio::Prio),
    Sfq(crate::sfq::Sfq),
    Codel(crate::codel::Codel),
    FqCodel(crate::fq_codel::FqCodel),
    Cake(crate::cake::Cake),
    Tbf(crate::tbf::Tbf),
    Htb(crate::htb::Htb),
    Hfsc(crate::hfsc::Hfsc),
    #[cfg(test)]
    PfifoHeadDrop(crate::pfifo_head_drop::PfifoHeadDrop),
}
