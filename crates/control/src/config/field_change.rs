//! What becomes of one field, as data.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// One field's change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldChange {
    /// Its name, as in `mtu`.
    pub name: String,
    /// Its value before, as the configuration has it; null: none.
    pub before: Value,
    /// Its value afterwards, likewise.
    pub after: Value,
}
