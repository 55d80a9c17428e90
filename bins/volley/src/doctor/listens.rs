//! Whether the router can listen where it is to: at ports that nobody else has, with files that are
//! there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use control::config::Config;
use control::config::objects::api::Tcp;

use super::machine::Machine;
use super::{Finding, better, fine, wrong};

/// A socket that listens, in `/proc/net/tcp`.
const LISTENS: &str = "0A";

pub(super) fn check(machine: &Machine, config: &Config) -> Vec<Finding> {
    let mut found = Vec::new();
    let runs = machine.has(&config.api.socket.display().to_string());
    if let Some(tcp) = &config.api.tcp {
        found.extend(files(machine, tcp));
        found.push(address(machine, "api", tcp.listen, runs));
    }
    found.extend(config.web.listen.map(|listen| address(machine, "web", listen, runs)));
    found
}

/// Whether somebody listens there; the router itself may, where its socket is.
fn address(machine: &Machine, what: &str, listen: SocketAddr, runs: bool) -> Finding {
    let taken = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().any(|table| {
        let text = machine.text(table).unwrap_or_default();
        text.lines().filter_map(listener).any(|other| is_in_the_way(other, listen))
    });
    let mend = format!("ss -ltnp 'sport = :{}' tells whose it is", listen.port());
    match (taken, runs) {
        (false, _) => fine(format!("{what}: nobody listens at {listen} yet")),
        (true, true) => {
            better(format!("{what}: somebody listens at {listen}, the router that runs?"), mend)
        }
        (true, false) => wrong(format!("{what}: another process listens at {listen}"), mend),
    }
}

/// The address of a line of `/proc/net/tcp`, if it is one that listens: words of 32 bits in the
/// machine's own order.
fn listener(line: &str) -> Option<SocketAddr> {
    let mut words = line.split_whitespace().skip(1);
    let (address, port) = words.next()?.split_once(':')?;
    if words.nth(1)? != LISTENS {
        return None;
    }
    let part = |at: usize| u32::from_str_radix(address.get(at..at + 8)?, 16).ok();
    let octets = |at: usize| part(at).map(u32::to_ne_bytes);
    let ip: IpAddr = match address.len() {
        8 => Ipv4Addr::from(octets(0)?).into(),
        32 => {
            let [a, b, c, d] = [octets(0)?, octets(8)?, octets(16)?, octets(24)?];
            let all: [u8; 16] = [a, b, c, d].concat().try_into().ok()?;
            Ipv6Addr::from(all).into()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

/// Whether one address cannot be listened at beside another: it is the same, or stands for all.
fn is_in_the_way(other: SocketAddr, listen: SocketAddr) -> bool {
    let is_same = other.ip() == listen.ip();
    other.port() == listen.port()
        && (is_same || other.ip().is_unspecified() || listen.ip().is_unspecified())
}

/// What TLS takes: a certificate, its key, and tokens that nobody else can read.
fn files(machine: &Machine, tcp: &Tcp) -> Vec<Finding> {
    let key = tcp.tls_key.display();
    let certificate = format!(
        "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=router -days 3650 -keyout {key} -out {}",
        tcp.tls_certificate.display()
    );
    let token = |path: &Path| format!("(umask 027; openssl rand -hex 32 >{})", path.display());
    let mut found = Vec::new();
    let mut look = |path: &Path, mend: String, is_secret: bool| {
        let name = path.display();
        let Ok(file) = std::fs::metadata(machine.path(&name.to_string())) else {
            return found.push(wrong(format!("api: there is no file {name}"), mend));
        };
        if is_secret && file.permissions().mode() & 0o007 != 0 {
            let mend = format!("chmod 640 {name}");
            found.push(wrong(format!("api: everybody can read {name}"), mend));
        }
    };
    look(&tcp.tls_certificate, certificate.clone(), false);
    look(&tcp.tls_key, certificate, true);
    let more = [&tcp.see_token_file, &tcp.files_token_file].into_iter().flatten();
    for path in more.chain([&tcp.token_file]) {
        look(path, token(path), true);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::super::testing::{Pretended, config, told};
    use super::*;

    const WEB: &str = "[web]\nlisten = \"127.0.0.1:8080\"\n";
    const HEAD: &str = "  sl  local_address rem_address   st tx_queue rx_queue";

    /// A line of `/proc/net/tcp`.
    fn line(address: &str, state: &str) -> String {
        format!("{HEAD}\n   0: {address} 00000000:0000 {state} 00000000:00000000 00:00000000")
    }

    #[test]
    fn a_port_that_another_process_has_is_told() {
        let pretended = Pretended::new("listens");
        let look = || check(&pretended.machine, &config(WEB));
        let free = [(State::Fine, "web: nobody listens at 127.0.0.1:8080 yet")];
        pretended.says("/proc/net/tcp", HEAD);
        assert_eq!(told(&look()), free);
        // Another port; another address; a connection that leads there.
        for other in [("0100007F:1F91", "0A"), ("0200007F:1F90", "0A"), ("0100007F:1F90", "01")] {
            pretended.says("/proc/net/tcp", &line(other.0, other.1));
            assert_eq!(told(&look()), free, "{other:?}");
        }
        let taken = [(State::Wrong, "web: another process listens at 127.0.0.1:8080")];
        for other in ["0100007F:1F90", "00000000:1F90"] {
            pretended.says("/proc/net/tcp", &line(other, "0A"));
            assert_eq!(told(&look()), taken, "{other}");
        }
        assert_eq!(look()[0].mend.as_deref(), Some("ss -ltnp 'sport = :8080' tells whose it is"));
        pretended.says("/proc/net/tcp", HEAD);
        let all = "00000000000000000000000000000000:1F90";
        pretended.says("/proc/net/tcp6", &line(all, "0A"));
        assert_eq!(told(&look()), taken);
        pretended.says("/run/volley/api.sock", "");
        assert_eq!(
            told(&look()),
            [(State::Better, "web: somebody listens at 127.0.0.1:8080, the router that runs?")]
        );
    }

    #[test]
    fn files_of_tls_are_there_and_secret() {
        let pretended = Pretended::new("tls");
        let text = "[api]\ntcp = \"192.0.2.1:9443\"\ntls_certificate = \"/t/router.pem\"\n\
                    tls_key = \"/t/key.pem\"\ntoken_file = \"/t/token\"\n";
        let look = || check(&pretended.machine, &config(text));
        let names = ["/t/router.pem", "/t/key.pem", "/t/token"];
        let missing = look();
        for (finding, name) in missing.iter().zip(names) {
            assert_eq!(finding.found, format!("api: there is no file {name}"));
        }
        assert_eq!(missing.len(), 4);
        let mend = missing[2].mend.as_deref();
        assert_eq!(mend, Some("(umask 027; openssl rand -hex 32 >/t/token)"));
        let mode = |name: &str, mode| {
            let path = pretended.machine.path(name);
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        for name in names {
            pretended.says(name, "x");
            mode(name, 0o644);
        }
        assert_eq!(
            told(&look()),
            [
                (State::Wrong, "api: everybody can read /t/key.pem"),
                (State::Wrong, "api: everybody can read /t/token"),
                (State::Fine, "api: nobody listens at 192.0.2.1:9443 yet"),
            ]
        );
        mode(names[1], 0o640);
        mode(names[2], 0o640);
        assert_eq!(told(&look()), [(State::Fine, "api: nobody listens at 192.0.2.1:9443 yet")]);
    }
}
