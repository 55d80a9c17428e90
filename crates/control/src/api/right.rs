//! Whether whoever asks may have done what is asked.
//!
//! ```text
//!  Unix socket: user and groups of the process ─┐
//!                                               ├─▶ Right of a request ─▶ what the verb or view takes
//!  TCP: which token it bears ───────────────────┘                         ─▶ what a change opens
//! ```

use axum::http::StatusCode;
use axum::{Extension, Router};

use super::problem::{Refusal, refuse};
use crate::view::Right;

/// Allows everything to all that the router is asked: for those who serve it by themselves.
pub fn trusting(router: Router) -> Router {
    router.layer(Extension(Right::All))
}

/// What whoever asks may, if it is enough.
/// None: nobody has looked who asks, so nothing is allowed.
pub(super) fn allowed(asker: Option<Right>, takes: Right) -> Result<Right, Refusal> {
    let Some(has) = asker else { return Err(refuse(StatusCode::FORBIDDEN, UNKNOWN)) };
    if has >= takes {
        return Ok(has);
    }
    let (about, whose) = (takes.about(), takes.whose());
    let detail = format!("this takes the right {takes}, to {about}, and you have {has}: {whose}");
    Err(refuse(StatusCode::FORBIDDEN, detail))
}

/// What the API's document says of it.
pub(super) fn takes(right: Right) -> String {
    format!("Takes the right {right}, to {}.", right.about())
}

/// Why somebody is refused who has no right at all.
pub(super) const UNKNOWN: &str =
    "you are in no group that may see what this router does: [api] see_group, group, files_group";
