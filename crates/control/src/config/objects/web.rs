//! `[web]`: the page that shows the router in a browser. It only shows.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::api::check_socket;
use super::{Config, Object};
use crate::config::declare::object;
use crate::config::host::Host;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::rows::Section;

object! {
    /// The page that shows the router in a browser, and changes nothing; off unless it says where
    pub struct Web {
        /// Address and port of this machine alone: every user of it may look
        pub listen: Option<SocketAddr> as "127.0.0.1:8080" = None,
        /// Unix socket, for a proxy; who may connect is as of the API's
        pub socket: Option<PathBuf> as "/run/volley/web.sock" = None,
        /// Folder of the lab's results, or of such folders, for the page and `show lab`
        pub lab: Option<PathBuf> as "/var/lib/volley-lab" = None,
    }
}

impl Row for Web {
    const KIND: &'static str = "web";
}

impl Section for Web {}

impl Object for Web {
    const NEEDS_RESTART: bool = true;

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        if let Some(listen) = self.listen.filter(|listen| !listen.ip().is_loopback()) {
            let message = format!("`{listen}` can be reached from other machines");
            let problem = Problem::new("web.listen", message);
            let expected = "an address of this machine alone, as in \"127.0.0.1:8080\"; for others, \
                            a proxy in front of `socket` that knows who asks";
            report.push(problem.expected(expected));
        }
        if let Some(lab) = self.lab.as_ref().filter(|lab| !lab.is_absolute()) {
            let message = format!("`{}` is not an absolute path", lab.display());
            let expected = "a folder, as in \"/var/lib/volley-lab\"";
            report.push(Problem::new("web.lab", message).expected(expected));
        }
        if let Some(socket) = &self.socket {
            check_socket("web.socket", socket, report);
            if *socket == config.api.socket {
                let message = format!("`{}` is the API's", socket.display());
                report.push(Problem::new("web.socket", message).expected("another path"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Source, parse};

    fn told(text: &str) -> Result<Web, String> {
        let read = parse(&Source::new("test", format!("[web]\n{text}\n")), &Host::any());
        read.map(|config| config.web).map_err(|error| error.to_string())
    }

    #[test]
    fn it_is_off_unless_it_is_said_where() {
        assert_eq!(told("").unwrap(), Web { listen: None, socket: None, lab: None });
        let web = told("listen = \"[::1]:8080\"").unwrap();
        assert_eq!(web.listen, Some("[::1]:8080".parse().unwrap()));
    }

    #[test]
    fn no_other_machine_may_reach_it() {
        for address in ["0.0.0.0:8080", "192.0.2.1:80", "[::]:80", "[2001:db8::1]:80"] {
            let told = told(&format!("listen = \"{address}\"")).unwrap_err();
            assert!(told.contains(&format!("`{address}` can be reached from other")), "{told}");
        }
        for (text, why) in [
            ("socket = \"/run/volley/api.sock\"", "is the API's"),
            ("lab = \"results\"", "`results` is not an absolute path"),
        ] {
            let told = told(text).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
    }
}
