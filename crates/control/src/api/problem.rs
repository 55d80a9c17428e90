//! Errors as problem details (RFC 9457).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use utoipa::IntoResponses;

use crate::changing::NotChanged;
use crate::config::{Finding, Problems};
use crate::control_loop::Undone;
use crate::engine::EngineError;
use crate::transaction::TransactionError;
use crate::view::ProblemDetails;

/// How requests are refused; every handler may answer so.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "read by the derive alone, for the document")]
pub(super) enum Refused {
    /// The request is malformed.
    #[response(status = 400, content_type = "application/problem+json")]
    Malformed(ProblemDetails),
    /// Whoever asks has not the right that it takes.
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(ProblemDetails),
    /// It names something that is not there.
    #[response(status = 404, content_type = "application/problem+json")]
    Unknown(ProblemDetails),
    /// The body comes too slowly.
    #[response(status = 408, content_type = "application/problem+json")]
    TooSlow(ProblemDetails),
    /// It does not fit what is going on.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(ProblemDetails),
    /// `If-Match` names another revision of the configuration than the one that runs.
    #[response(status = 412, content_type = "application/problem+json")]
    Changed(ProblemDetails),
    /// The body is too long.
    #[response(status = 413, content_type = "application/problem+json")]
    TooLong(ProblemDetails),
    /// The body is not JSON.
    #[response(status = 415, content_type = "application/problem+json")]
    NotJson(ProblemDetails),
    /// The request is understood and wrong.
    #[response(status = 422, content_type = "application/problem+json")]
    Wrong(ProblemDetails),
    /// The router is shutting down, or serves as many connections as it may.
    #[response(status = 503, content_type = "application/problem+json")]
    Stopped(ProblemDetails),
}

/// A refusal on its way out.
#[derive(Debug)]
pub struct Refusal(Box<ProblemDetails>);

/// A refusal's reason, for those who see the answer pass.
#[derive(Clone)]
pub(super) struct Why(pub(super) String);

/// A refusal with a reason.
pub(super) fn refuse(status: StatusCode, detail: impl Into<String>) -> Refusal {
    Refusal(Box::new(ProblemDetails {
        kind: "about:blank".to_owned(),
        title: status.canonical_reason().unwrap_or("").to_owned(),
        status: status.as_u16(),
        detail: detail.into(),
        findings: Vec::new(),
    }))
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let why = Why(self.0.detail.clone());
        let mut response = (status, Json(self.0)).into_response();
        response.extensions_mut().insert(why);
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}

impl From<Undone> for Refusal {
    fn from(undone: Undone) -> Self {
        let status = match undone {
            Undone::Stopped => StatusCode::SERVICE_UNAVAILABLE,
            Undone::Changed { .. } => StatusCode::PRECONDITION_FAILED,
        };
        refuse(status, undone.to_string())
    }
}

impl<E: std::error::Error + Into<Refusal>> From<NotChanged<E>> for Refusal {
    fn from(error: NotChanged<E>) -> Self {
        match error {
            NotChanged::Wrong(error) => error.into(),
            NotChanged::NotAllowed(why) => refuse(StatusCode::FORBIDDEN, why),
            NotChanged::Refused(error) => error.into(),
            NotChanged::Undone(error) => error.into(),
            NotChanged::Broken => refuse(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        }
    }
}

impl From<EngineError> for Refusal {
    fn from(error: EngineError) -> Self {
        let status = match error {
            EngineError::Unknown { .. } => StatusCode::NOT_FOUND,
            EngineError::Conflict(_) => StatusCode::CONFLICT,
            EngineError::Wrong(_) => StatusCode::UNPROCESSABLE_ENTITY,
        };
        refuse(status, error.to_string())
    }
}

impl From<Problems> for Refusal {
    fn from(problems: Problems) -> Self {
        let mut refusal = refuse(StatusCode::UNPROCESSABLE_ENTITY, problems.to_string());
        refusal.0.findings = problems.findings();
        refusal
    }
}

impl From<TransactionError> for Refusal {
    fn from(error: TransactionError) -> Self {
        let status = match &error {
            TransactionError::NoSuchRevision(_) => StatusCode::NOT_FOUND,
            _ => StatusCode::CONFLICT,
        };
        let mut refusal = refuse(status, error.to_string());
        if let TransactionError::Apply(fault) = error {
            refusal.0.findings.push(Finding {
                file: "running".to_owned(),
                line: None,
                column: None,
                field: fault.field,
                message: fault.message,
                expected: None,
                suggestion: fault.suggestion,
            });
        }
        refusal
    }
}
