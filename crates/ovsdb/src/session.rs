//! A session with a database's server: what it has is followed, what is asked is answered.

use crate::fault::{Fault, excerpt};
use crate::frames::Frames;
use crate::message::Message;
use crate::rows::Rows;
use crate::target::{Stream, Target};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tls::Keys;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long it may be silent before it is asked whether it is there.
const PROBE: Duration = Duration::from_secs(5);
/// Read at once.
const CHUNK: usize = 64 * 1024;
/// What updates of rows are told under.
const MONITOR: &str = "rows";

/// See the module.
#[derive(Debug)]
pub struct Session {
    stream: Stream,
    frames: Frames,
    database: String,
    rows: Rows,
    next_id: u64,
    has_lock: bool,
    heard: Instant,
    is_asked: bool,
    /// Updates came that nobody has looked at.
    is_changed: bool,
}

impl Session {
    /// Connects; `keys`: what a server needs to know who we are, and we who it is, over TLS.
    pub fn connect(target: &Target, keys: Option<&Keys>, database: &str) -> Result<Self, Fault> {
        Ok(Self {
            stream: target.connect(keys)?,
            frames: Frames::default(),
            database: database.to_owned(),
            rows: Rows::default(),
            next_id: 0,
            has_lock: false,
            heard: Instant::now(),
            is_asked: false,
            is_changed: false,
        })
    }

    /// The database's schema.
    pub fn schema(&mut self) -> Result<Value, Fault> {
        let database = self.database.clone();
        self.ask("get_schema", vec![json!(database)])
    }

    /// Follows these columns of these tables from now on.
    pub fn monitor(&mut self, tables: &[(&str, Vec<String>)]) -> Result<(), Fault> {
        let wanted: serde_json::Map<String, Value> = tables
            .iter()
            .map(|(table, columns)| ((*table).to_owned(), json!([{ "columns": columns }])))
            .collect();
        let database = self.database.clone();
        let first = self.ask("monitor", vec![json!(database), json!(MONITOR), wanted.into()])?;
        self.is_changed = true;
        self.rows.update(&first)
    }

    /// Asks for a lock, which comes at once or some day.
    pub fn lock(&mut self, name: &str) -> Result<(), Fault> {
        let answer = self.ask("lock", vec![json!(name)])?;
        self.has_lock |= answer.get("locked") == Some(&Value::Bool(true));
        Ok(())
    }

    /// Whether the lock is ours.
    pub fn has_lock(&self) -> bool {
        self.has_lock
    }

    /// The rows, as far as they were told of.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Does operations, all of them or none, and gives what each found.
    pub fn transact(&mut self, operations: Vec<Value>) -> Result<Vec<Value>, Fault> {
        let mut params = vec![json!(self.database)];
        params.extend(operations);
        let answer = self.ask("transact", params)?;
        let Value::Array(outcomes) = answer else {
            return Err(Fault::Malformed(excerpt(&answer.to_string())));
        };
        let wrong = outcomes.iter().find(|outcome| outcome.get("error").is_some());
        match wrong {
            Some(wrong) => Err(refused("transact", wrong)),
            None => Ok(outcomes),
        }
    }

    /// Listens for so long, or until rows change or the lock comes or goes: whether they did.
    pub fn listen(&mut self, time: Duration) -> Result<bool, Fault> {
        let (end, had_lock) = (Instant::now() + time, self.has_lock);
        loop {
            while let Some(message) = self.next_message()? {
                // Nothing was asked that could be answered here but whether somebody is there.
                self.hear(message)?;
            }
            if std::mem::take(&mut self.is_changed) || self.has_lock != had_lock {
                return Ok(true);
            }
            let now = Instant::now();
            if now >= end {
                return Ok(false);
            }
            self.read(end - now)?;
        }
    }

    fn ask(&mut self, method: &str, params: Vec<Value>) -> Result<Value, Fault> {
        self.next_id += 1;
        let (number, id) = (self.next_id, json!(self.next_id));
        self.say(&Message::Request { id: id.clone(), method: method.to_owned(), params })?;
        let end = Instant::now() + PATIENCE;
        loop {
            while let Some(message) = self.next_message()? {
                match message {
                    Message::Answer { id: of, outcome } if of == id => {
                        return outcome.map_err(|error| refused(method, &error));
                    }
                    message => self.hear(message)?,
                }
            }
            let now = Instant::now();
            if now >= end {
                return Err(Fault::Malformed(format!("no answer to {method} {number}")));
            }
            self.read(end - now)?;
        }
    }

    fn say(&mut self, message: &Message) -> Result<(), Fault> {
        Ok(self.stream.write(message.write().to_string().as_bytes(), PATIENCE)?)
    }

    fn next_message(&mut self) -> Result<Option<Message>, Fault> {
        self.frames.take()?.map(Message::read).transpose()
    }

    fn hear(&mut self, message: Message) -> Result<(), Fault> {
        match message {
            Message::Request { id, method, params } if method == "echo" => {
                self.say(&Message::Answer { id, outcome: Ok(params.into()) })
            }
            Message::Request { id, method, .. } => {
                let error = json!({ "error": "unknown method", "details": method });
                self.say(&Message::Answer { id, outcome: Err(error) })
            }
            Message::Told { method, params } => match (&method[..], &params[..]) {
                ("update", [Value::String(of), update]) if of == MONITOR => {
                    self.is_changed = true;
                    self.rows.update(update)
                }
                ("locked", _) => {
                    self.has_lock = true;
                    Ok(())
                }
                ("stolen", _) => {
                    self.has_lock = false;
                    Ok(())
                }
                _ => Ok(()),
            },
            // That somebody is there was heard when its bytes were.
            Message::Answer { .. } => Ok(()),
        }
    }

    /// Reads what comes within a time, and asks who is silent whether it is there.
    fn read(&mut self, time: Duration) -> Result<(), Fault> {
        let mut chunk = [0; CHUNK];
        let time = time.min(PROBE);
        match self.stream.read_within(&mut chunk, time)? {
            Some(0) => return Err(Fault::Gone),
            Some(count) => {
                (self.heard, self.is_asked) = (Instant::now(), false);
                return self.frames.push(&chunk[..count]);
            }
            None => {}
        }
        let silent = self.heard.elapsed();
        if silent >= 2 * PROBE && self.is_asked {
            return Err(Fault::Silent(silent.as_secs()));
        }
        if silent >= PROBE && !self.is_asked {
            self.is_asked = true;
            let (id, method) = (json!("echo"), "echo".to_owned());
            return self.say(&Message::Request { id, method, params: Vec::new() });
        }
        Ok(())
    }
}

fn refused(method: &str, error: &Value) -> Fault {
    let said = |key: &str| error.get(key).and_then(Value::as_str);
    let why = match (said("error"), said("details")) {
        (Some(error), Some(details)) => format!("{error}: {details}"),
        (Some(error), None) => error.to_owned(),
        (None, _) => error.to_string(),
    };
    Fault::Refused { method: method.to_owned(), why: excerpt(&why) }
}

#[cfg(test)]
mod tests;
