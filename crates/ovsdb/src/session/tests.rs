//! Sessions with servers that say what a test wants.

use super::*;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread::JoinHandle;

/// A server of one connection that runs a script.
fn server<T: Send + 'static>(
    name: &str,
    script: impl FnOnce(UnixStream) -> T + Send + 'static,
) -> (Target, JoinHandle<T>) {
    let file = format!("ovsdb-{name}-{}.sock", std::process::id());
    let path = std::env::temp_dir().join(file);
    _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    let target = Target::Unix(path.clone());
    let served = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        std::fs::remove_file(path).unwrap();
        script(stream)
    });
    (target, served)
}

/// Reads whole values.
struct Heard<'a>(&'a UnixStream, Frames);

impl Heard<'_> {
    fn next(&mut self) -> Value {
        let mut chunk = [0; 512];
        loop {
            if let Some(value) = self.1.take().unwrap() {
                return value;
            }
            let count = (&mut &*self.0).read(&mut chunk).unwrap();
            assert_ne!(count, 0, "the client went");
            self.1.push(&chunk[..count]).unwrap();
        }
    }
}

#[test]
fn rows_are_followed_while_answers_are_waited_for() {
    let (target, served) = server("rows", |mut stream| {
        let reading = stream.try_clone().unwrap();
        let mut heard = Heard(&reading, Frames::default());
        let asked = heard.next();
        assert_eq!(asked["method"], "monitor");
        assert_eq!(asked["params"][2], json!({ "Bridge": [{ "columns": ["name"] }] }));
        let first = json!({ "Bridge": { "b": { "new": { "name": "br0" } } } });
        write!(stream, "{}", json!({ "id": asked["id"], "result": first, "error": null })).unwrap();
        let asked = heard.next();
        assert_eq!(asked["method"], "transact");
        // An update, a question of the server's, and only then the answer.
        let update = json!({ "Bridge": { "b": { "old": { "name": "br0" } } } });
        let told = json!({ "id": null, "method": "update", "params": ["rows", update] });
        let echo = json!({ "id": "e", "method": "echo", "params": [7] });
        let answer = json!({ "id": asked["id"], "result": [{ "count": 1 }], "error": null });
        write!(stream, "{told}{echo}{answer}").unwrap();
        assert_eq!(heard.next(), json!({ "id": "e", "result": [7], "error": null }));
        let asked = heard.next();
        let answer = json!({ "id": asked["id"], "result": [{ "error": "constraint violation", "details": "no" }], "error": null });
        write!(stream, "{answer}").unwrap();
    });
    let mut session = Session::connect(&target, None, "Open_vSwitch").unwrap();
    session.monitor(&[("Bridge", vec!["name".to_owned()])]).unwrap();
    assert!(session.listen(Duration::ZERO).unwrap());
    assert_eq!(session.rows().table("Bridge").count(), 1);
    let outcomes = session.transact(vec![json!({ "op": "comment" })]).unwrap();
    assert_eq!(outcomes, [json!({ "count": 1 })]);
    assert_eq!(session.rows().table("Bridge").count(), 0);
    let wrong = session.transact(vec![json!({ "op": "comment" })]).unwrap_err().to_string();
    assert_eq!(wrong, "the database's server refused transact: constraint violation: no");
    served.join().unwrap();
    // The update is still to be looked at; then nothing comes any more.
    assert!(session.listen(PATIENCE).unwrap());
    assert!(matches!(session.listen(PATIENCE), Err(Fault::Gone | Fault::Io(_))));
}

#[test]
fn a_lock_comes_when_another_lets_go() {
    let (target, served) = server("lock", |mut stream| {
        let reading = stream.try_clone().unwrap();
        let mut heard = Heard(&reading, Frames::default());
        let asked = heard.next();
        assert_eq!((&asked["method"], &asked["params"]), (&json!("lock"), &json!(["vswitchd"])));
        let answer = json!({ "id": asked["id"], "result": { "locked": false }, "error": null });
        write!(stream, "{answer}").unwrap();
        let told = json!({ "id": null, "method": "locked", "params": ["vswitchd"] });
        write!(stream, "{told}").unwrap();
        stream
    });
    let mut session = Session::connect(&target, None, "Open_vSwitch").unwrap();
    session.lock("vswitchd").unwrap();
    let _stream = served.join().unwrap();
    while !session.has_lock() {
        session.listen(PATIENCE).unwrap();
    }
}

#[test]
fn a_server_that_speaks_nonsense_is_told_of() {
    for (nonsense, told) in [
        ("HTTP/1.1 400", "said what is no message: HTTP/1.1 400"),
        ("{\"id\":1}", "said what is no message"),
        ("{\"id\":1,\"result\":{\"Bridge\":[]},\"error\":null}", "is no update of rows"),
        ("{\"id\":1,\"result\":null,\"error\":\"unknown database\"}", "refused monitor"),
    ] {
        let (target, served) = server("nonsense", move |mut stream| {
            write!(stream, "{nonsense}").unwrap();
            stream
        });
        let mut session = Session::connect(&target, None, "Open_vSwitch").unwrap();
        let _stream = served.join().unwrap();
        let error = session.monitor(&[]).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}
