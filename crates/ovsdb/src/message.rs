//! Messages (JSON-RPC 1.0, as RFC 7047 has it).

use crate::fault::{Fault, excerpt};
use serde_json::{Value, json};

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Something is asked, and an answer wanted.
    Request {
        /// The number, which may be any value.
        id: Value,
        /// What.
        method: String,
        /// With what.
        params: Vec<Value>,
    },
    /// Something is told.
    Told {
        /// What.
        method: String,
        /// With what.
        params: Vec<Value>,
    },
    /// An answer.
    Answer {
        /// Of which question.
        id: Value,
        /// The result, or the error.
        outcome: Result<Value, Value>,
    },
}

impl Message {
    /// Reads one.
    pub fn read(value: Value) -> Result<Self, Fault> {
        let wrong = |value: &Value| Fault::Malformed(excerpt(&value.to_string()));
        let Value::Object(mut fields) = value else { return Err(wrong(&value)) };
        let id = fields.remove("id").unwrap_or(Value::Null);
        match (fields.remove("method"), fields.remove("params")) {
            (Some(Value::String(method)), Some(Value::Array(params))) => Ok(match id {
                Value::Null => Self::Told { method, params },
                id => Self::Request { id, method, params },
            }),
            (None, None) => {
                let (result, error) = (fields.remove("result"), fields.remove("error"));
                match (result, error) {
                    (Some(result), None | Some(Value::Null)) => {
                        Ok(Self::Answer { id, outcome: Ok(result) })
                    }
                    (None, None | Some(Value::Null)) => Err(wrong(&Value::Object(fields))),
                    (_, Some(error)) => Ok(Self::Answer { id, outcome: Err(error) }),
                }
            }
            (method, _) => Err(wrong(&method.unwrap_or(Value::Object(fields)))),
        }
    }

    /// As the protocol writes it.
    pub fn write(&self) -> Value {
        match self {
            Self::Request { id, method, params } => {
                json!({ "id": id, "method": method, "params": params })
            }
            Self::Told { method, params } => {
                json!({ "id": null, "method": method, "params": params })
            }
            Self::Answer { id, outcome } => match outcome {
                Ok(result) => json!({ "id": id, "result": result, "error": null }),
                Err(error) => json!({ "id": id, "result": null, "error": error }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_back_and_others_are_told() {
        for value in [
            json!({ "id": 1, "method": "echo", "params": [] }),
            json!({ "id": null, "method": "update", "params": [null, {}] }),
            json!({ "id": "a", "result": [1], "error": null }),
            json!({ "id": 2, "result": null, "error": { "error": "no" } }),
        ] {
            assert_eq!(Message::read(value.clone()).unwrap().write(), value);
        }
        for value in [
            json!([]),
            json!({ "id": 1 }),
            json!({ "id": 1, "error": null }),
            json!({ "id": 1, "method": 2, "params": [] }),
            json!({ "id": 1, "method": "echo", "params": {} }),
        ] {
            assert!(Message::read(value).is_err());
        }
    }
}
