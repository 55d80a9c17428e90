//! Controllers, as the database's bridges name them, with what those over TLS are shown (the
//! database has one row SSL for all), and the versions that bridges agree to.

use control::config::field::Field;
use control::config::objects::bridge_controller::{Protocol, Target};
use ovsdb::{Atom, Row, Rows};

/// What is said of a bridge's controllers, and what is wrong with others.
pub(super) fn words(rows: &Rows, name: &str, bridge: &Row) -> (Vec<String>, Vec<String>) {
    let root = rows.table("Open_vSwitch").next().map(|(_, root)| root);
    let ssl = root.and_then(|root| rows.named(root, "ssl", "SSL").next()).map(|(_, ssl)| ssl);
    let (mut made, mut wrong, mut is_by_tls) = (Vec::new(), Vec::new(), false);
    for (_, controller) in rows.named(bridge, "controller", "Controller") {
        match of_one(controller, ssl) {
            Ok((words, target)) => {
                made.push(words);
                is_by_tls |= target.is_by_tls();
            }
            Err(why) => wrong.push(format!("{name}: {why}")),
        }
    }
    if let Some(ssl) = ssl.filter(|_| is_by_tls)
        && ssl.get("bootstrap_ca_cert").one() == Some(&Atom::Bool(true))
    {
        // Else whoever answers first would be believed for ever.
        let file = ssl.text("ca_cert").unwrap_or_default();
        let why = "bootstrap_ca_cert is not done, its file has to be there";
        wrong.push(format!("{name}: {why}: {file}"));
    }
    made.sort();
    (made, wrong)
}

/// What `bridge add` and `set` say of the versions that a bridge agrees to, all where it says none;
/// and those that are not spoken here.
pub(super) fn protocols(name: &str, bridge: &Row) -> Result<(String, Option<String>), String> {
    let said = bridge.get("protocols").atoms().iter().filter_map(|it| match it {
        Atom::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let (spoken, others): (Vec<_>, Vec<_>) = said.partition(|it| Protocol::WORDS.contains(it));
    let wrong = || format!("{name}: protocols {} are not spoken here", others.join(", "));
    match (spoken.is_empty(), others.is_empty()) {
        (true, true) => Ok((String::new(), None)),
        // With the others, whom it is told not to agree with, it is not there.
        (true, false) => Err(wrong()),
        (false, _) => {
            let words = format!(" protocols {}", spoken.join(","));
            Ok((words, (!others.is_empty()).then(wrong)))
        }
    }
}

fn of_one(controller: &Row, ssl: Option<&Row>) -> Result<(String, Target), String> {
    let target = controller.text("target").unwrap_or_default();
    let read = Target::from_text(target)
        .map_err(|refusal| refusal.message.unwrap_or(format!("controller `{target}`")))?;
    let seconds =
        |column: &str| controller.whole(column).map(|ms| ms.clamp(1_000, 3_600_000) / 1_000);
    let mut words = read.text();
    if let Some(backoff) = seconds("max_backoff") {
        words.push_str(&format!(" max_backoff {backoff}s"));
    }
    if let Some(probe) = seconds("inactivity_probe") {
        words.push_str(&format!(" probe {probe}s"));
    }
    if read.is_by_tls() {
        let missing = || format!("{words} needs keys: ovs-vsctl set-ssl KEY CERTIFICATE CA-CERT");
        words = words.clone() + &keys(ssl.ok_or_else(missing)?)?;
    }
    Ok((words, read))
}

/// The files of what is shown, and of who is believed.
fn keys(ssl: &Row) -> Result<String, String> {
    let mut words = String::new();
    for column in ["private_key", "certificate", "ca_cert"] {
        let file = ssl.text(column).unwrap_or_default();
        if !file.starts_with('/') || file.contains(|it: char| it.is_whitespace() || it.is_control())
        {
            return Err(format!("SSL: {column} `{file}` is no absolute path without spaces"));
        }
        words.push_str(&format!(" {column} {file}"));
    }
    Ok(words)
}
