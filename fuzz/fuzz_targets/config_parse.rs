//! The configuration's reader, writer and commands, on any text: no panic, and what is written
//! reads back as the same value.
#![no_main]

use control::config::{Config, Host, Source, edit, parse, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let source = Source::new("fuzz", text);
    match parse(&source, &Host::any()) {
        Ok(config) => {
            let written = render(&config);
            let read = parse(&Source::new("written", written.as_str()), &Host::any());
            assert_eq!(read.as_ref(), Ok(&config), "{written}");
            assert!(Config::diff(&config, &config).is_empty());
            let _ =
                Config::diff(&Config::default(), &config).iter().map(ToString::to_string).count();
        }
        Err(problems) => {
            assert!(!problems.to_string().is_empty() && !problems.findings().is_empty())
        }
    }
    let base = "[port.p0]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\"]\n";
    let base = parse(&Source::new("base", base), &Host::any()).unwrap_or_default();
    match edit(&base, &source, &Host::any()) {
        Ok(edited) => {
            let written = render(&edited);
            let read = parse(&Source::new("written", written.as_str()), &Host::any());
            assert_eq!(read, Ok(edited), "{written}");
        }
        Err(problems) => assert!(!problems.to_string().is_empty()),
    }
});
