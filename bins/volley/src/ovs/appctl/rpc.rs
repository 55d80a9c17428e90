//! Requests and answers: JSON-RPC 1.0, one object behind the other, as Open vSwitch's programs
//! write it.

use serde::Deserialize;
use serde_json::{Value, json};

/// The longest request: commands have few words.
const MOST: usize = 64 * 1024;

/// What is asked.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    id: Value,
    pub(super) method: String,
    pub(super) words: Vec<String>,
}

#[derive(Deserialize)]
struct Raw {
    #[serde(default)]
    id: Value,
    method: String,
    #[serde(default)]
    params: Vec<String>,
}

/// Bytes that came and are no whole request yet.
#[derive(Default)]
pub(super) struct Held(Vec<u8>);

impl Held {
    /// The requests that are whole by now; an error where what came is none, or never ends.
    pub(super) fn take(&mut self, more: &[u8]) -> Result<Vec<Request>, String> {
        self.0.extend(more);
        let mut read = serde_json::Deserializer::from_slice(&self.0).into_iter::<Raw>();
        let (mut found, mut end) = (Vec::new(), 0);
        while let Some(next) = read.next() {
            match next {
                Ok(Raw { id, method, params }) => found.push(Request { id, method, words: params }),
                Err(error) if error.is_eof() => break,
                Err(error) => return Err(format!("no request: {error}")),
            }
            end = read.byte_offset();
        }
        self.0.drain(..end);
        match self.0.len() > MOST {
            true => Err(format!("a request of more than {MOST} bytes")),
            false => Ok(found),
        }
    }
}

impl Request {
    /// What is answered.
    pub(super) fn answer(&self, said: Result<String, String>) -> Vec<u8> {
        let answer = match said {
            Ok(text) => json!({ "id": self.id, "result": text, "error": null }),
            Err(text) => json!({ "id": self.id, "result": null, "error": text }),
        };
        answer.to_string().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_cut_where_they_end() {
        let mut held = Held::default();
        let text = br#"{"id":0,"method":"version","params":[]}{"id":1,"method":"fdb/show","params":["br0"]}{"#;
        let found = held.take(text).unwrap();
        let told: Vec<_> = found.iter().map(|it| (&it.method[..], it.words.len())).collect();
        assert_eq!(told, [("version", 0), ("fdb/show", 1)]);
        assert_eq!(held.take(br#""id":"x","method":"list-commands"}"#).unwrap()[0].id, json!("x"));
    }

    #[test]
    fn what_is_no_request_or_never_ends_is_told() {
        assert!(Held::default().take(b"GET / HTTP/1.1\r\n").is_err());
        assert!(Held::default().take(br#"{"id":1,"params":[]}"#).is_err());
        assert!(Held::default().take(br#"{"id":1,"method":"x","params":[{}]}"#).is_err());
        let endless = [&br#"{"id":""#[..], &vec![b'a'; MOST]].concat();
        assert!(Held::default().take(&endless).is_err());
    }

    #[test]
    fn an_answer_has_its_requests_number() {
        let request = Request { id: json!(7), method: "version".into(), words: vec![] };
        let said: Value = serde_json::from_slice(&request.answer(Ok("1\n".into()))).unwrap();
        assert_eq!(said, json!({ "id": 7, "result": "1\n", "error": null }));
        let said: Value = serde_json::from_slice(&request.answer(Err("no\n".into()))).unwrap();
        assert_eq!(said, json!({ "id": 7, "result": null, "error": "no\n" }));
    }
}
