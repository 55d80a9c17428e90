//! A root folder as one file, in the form that the kernel unpacks into its first file system:
//! `newc`.
//!
//! ```text
//! ┌─ header, 110 octets of hexadecimal ─┬─ name, 0 ─┬─ to 4 ─┬─ content ─┬─ to 4 ─┐ … "TRAILER!!!"
//! ```

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

const FOLDER: u32 = 0o040_755;
const FILE: u32 = 0o100_755;
const LINK: u32 = 0o120_777;
const LAST: &str = "TRAILER!!!";

/// Writes a root folder. Paths are absolute, and folders above what is added are made.
pub(super) struct Root<W> {
    out: W,
    names: BTreeSet<String>,
    written: u64,
}

impl<W: Write> Root<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, names: BTreeSet::new(), written: 0 }
    }

    pub(super) fn folder(&mut self, path: &Path) -> io::Result<()> {
        if path.parent().is_none() {
            return Ok(());
        }
        self.entry(path, FOLDER, &[])
    }

    /// Adds a file that may be run; one that is there stays as it is.
    pub(super) fn file(&mut self, path: &Path, octets: &[u8]) -> io::Result<()> {
        self.entry(path, FILE, octets)
    }

    /// Adds a link; likewise.
    pub(super) fn link(&mut self, path: &Path, to: &Path) -> io::Result<()> {
        self.entry(path, LINK, to.to_string_lossy().as_bytes())
    }

    /// Whether something of this path is there.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.names.contains(&name(path))
    }

    /// Ends it. How many octets it has.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.write(LAST, 0, &[])?;
        self.out.flush()?;
        Ok(self.written)
    }

    fn entry(&mut self, path: &Path, mode: u32, octets: &[u8]) -> io::Result<()> {
        if self.has(path) {
            return Ok(());
        }
        if let Some(above) = path.parent() {
            self.folder(above)?;
        }
        let name = name(path);
        self.write(&name, mode, octets)?;
        self.names.insert(name);
        Ok(())
    }

    fn write(&mut self, name: &str, mode: u32, octets: &[u8]) -> io::Result<()> {
        let size = u32::try_from(octets.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        // Magic, then i-node, mode, owner, group, links, time, size, four of devices, length of the
        // name, checksum. Files of one number would be links of each other where they have several.
        let inode = self.names.len() as u32 + 1;
        let fields = [inode, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name.len() as u32 + 1, 0];
        let mut head = String::from("070701");
        fields.iter().for_each(|field| head += &format!("{field:08x}"));
        head += name;
        self.put(head.as_bytes())?;
        self.put(&[0])?;
        self.align()?;
        self.put(octets)?;
        self.align()
    }

    fn align(&mut self) -> io::Result<()> {
        let short = self.written.next_multiple_of(4) - self.written;
        self.put(&[0; 4][..short as usize])
    }

    fn put(&mut self, octets: &[u8]) -> io::Result<()> {
        self.written += octets.len() as u64;
        self.out.write_all(octets)
    }
}

/// As the kernel wants it: from the root.
fn name(path: &Path) -> String {
    path.to_string_lossy().trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn root() -> Vec<u8> {
        let mut octets = Vec::new();
        let mut root = Root::new(&mut octets);
        root.file(Path::new("/usr/bin/odd"), b"seven..").unwrap();
        root.file(Path::new("/usr/bin/odd"), b"again").unwrap();
        root.link(Path::new("/bin/odd"), Path::new("/usr/bin/odd")).unwrap();
        root.folder(Path::new("/proc")).unwrap();
        assert!(root.has(Path::new("/usr")) && !root.has(Path::new("/etc")));
        assert_eq!(root.finish().unwrap(), octets.len() as u64);
        octets
    }

    #[test]
    fn each_header_is_as_long_as_it_says_and_contents_are_at_multiples_of_four() {
        let octets = root();
        let (mut at, mut names) = (0, Vec::new());
        while at < octets.len() {
            assert_eq!((at % 4, &octets[at..at + 6]), (0, &b"070701"[..]));
            let field = |index: usize| {
                let text = std::str::from_utf8(&octets[at + 6 + 8 * index..][..8]).unwrap();
                u32::from_str_radix(text, 16).unwrap() as usize
            };
            let (size, length) = (field(6), field(11));
            let name = &octets[at + 110..at + 110 + length - 1];
            names.push(String::from_utf8_lossy(name).into_owned());
            at = (at + 110 + length).next_multiple_of(4);
            at = (at + size).next_multiple_of(4);
        }
        assert_eq!(names, ["usr", "usr/bin", "usr/bin/odd", "bin", "bin/odd", "proc", LAST]);
    }

    #[test]
    fn cpio_reads_it() {
        let mut cpio = match Command::new("cpio")
            .args(["-itv", "--quiet"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
        {
            Ok(cpio) => cpio,
            Err(error) => return eprintln!("SKIPPED: cpio: {error}"),
        };
        cpio.stdin.take().unwrap().write_all(&root()).unwrap();
        let told = cpio.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(told.contains("usr/bin/odd") && told.contains("bin/odd -> /usr/bin/odd"), "{told}");
        assert!(told.lines().any(|line| line.starts_with("-rwxr-xr-x") && line.contains(" 7 ")));
    }
}
