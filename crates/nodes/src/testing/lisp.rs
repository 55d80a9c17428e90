//! LISP in the small router: an interface of instance 7, and some sites.
//!
//! ```text
//!  10.20/16 ─▶ locator FAR       10.21/16 ─▶ locator FAR6        10.22/16 ─▶ both, 1 to 3
//!  10.23/16 ─▶ dropped           10.24/16 ─▶ natively            10.25/16 ─▶ nowhere
//!  2001:db8:20::/48 ─▶ FAR       2001:db8:21::/48 ─▶ FAR6        2001:db8:24::/48 ─▶ natively
//! ```

use super::{FAR, FAR6, US, US6, World};
use crate::tables::{
    Ends, Inside, Kind, Link, Lisp, LispInstance, LispLink, LispSources, Tunnel, VrfId, Wrap,
};
use crate::tunnel::TunnelHeaders;
use fib::Forward;
use fib::ecmp::Member;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

/// Its interface: 5, that has no address.
pub(crate) const LISP: u16 = 5;
pub(crate) const INSTANCE: u32 = 7;
pub(crate) const NONCE: u32 = 0x00ab_cdef;

/// What an interface of LISP is.
pub(crate) fn lisp_link() -> LispLink {
    LispLink {
        instance: INSTANCE,
        underlay: VrfId::DEFAULT,
        local4: Some(u32::from_be_bytes(US)),
        local6: Some(US6.into()),
        reencapsulates: false,
    }
}

/// A tunnel to a locator.
pub(crate) fn to_locator(remote: IpAddr) -> Tunnel {
    let local: IpAddr = if remote.is_ipv4() { US.into() } else { US6.into() };
    let wrap = Wrap::Lisp { instance: INSTANCE, nonce: NONCE };
    let tunnel = Tunnel::new(wrap, Ends::new(local, remote).unwrap());
    Tunnel { inside: Inside::Packets, summed: false, ttl: None, ..tunnel }
}

impl World {
    /// Makes interface 5 one of LISP.
    pub(crate) fn add_lisp(&mut self) {
        let way = |kind: Kind, id| Forward::new(kind as u8, id);
        let shared =
            [(0, 1), (1, 3)].map(|(id, weight)| Member { to: way(Kind::Rewrite, id), weight });
        let group = self.setup.shared.groups.create(&shared).unwrap().0;
        for (prefix, to) in [
            ("10.20.0.0/16", way(Kind::Rewrite, 0)),
            ("10.21.0.0/16", way(Kind::Rewrite, 1)),
            ("10.22.0.0/16", way(Kind::Group, group)),
            ("10.23.0.0/16", way(Kind::Blackhole, 0)),
            ("10.24.0.0/16", way(Kind::Vrf, 0)),
            ("10.25.0.0/16", way(Kind::Unreachable, 0)),
            ("10.26.0.0/16", way(Kind::Rewrite, 9)),
        ] {
            self.maps.ip4.insert(prefix.parse().unwrap(), to).unwrap();
        }
        for (prefix, to) in [
            ("2001:db8:20::/48", way(Kind::Rewrite, 0)),
            ("2001:db8:21::/48", way(Kind::Rewrite, 1)),
            ("2001:db8:24::/48", way(Kind::Vrf, 0)),
        ] {
            self.maps.ip6.insert(prefix.parse().unwrap(), to).unwrap();
        }
        self.change_interface(LISP, |row| row.link = Link::Lisp(lisp_link()));
        self.set_lisp(true, None, [FAR.into(), FAR6.into()]);
    }

    /// Publishes the instance, with these locators as numbers 0 and on.
    pub(crate) fn set_lisp(
        &mut self,
        uniform: bool,
        sources: Option<LispSources>,
        locators: impl IntoIterator<Item = IpAddr>,
    ) {
        let instance = LispInstance { maps: self.maps.clone(), sources, uniform };
        let headers = |remote| Some(Arc::new(TunnelHeaders::new(to_locator(remote))));
        let locators = locators.into_iter().map(headers).collect();
        self.lisp.set(Lisp::new(HashMap::from([(LISP, Arc::new(instance))]), locators, false));
    }
}
