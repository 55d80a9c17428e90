//! Writes the configuration to its file: the new text whole or the old one untouched.
//!
//! What stood there before is kept beside it as `FILE~`. Of a file that reads as a configuration
//! only what changed is written anew; of any other, and of one of an older version, the comment at
//! its head is kept in place. What is written says its version.

use std::io;
use std::path::{Path, PathBuf};

use crate::config::amend::amend;
use crate::config::{Config, Host, Source, parse, render, version};

/// Writes `config` to `path`; returns the backup of what was there, if anything had to change. A
/// link in its place is refused: whoever put it there might mean another file.
pub fn save(config: &Config, path: &Path) -> io::Result<Option<PathBuf>> {
    let before = match rights::read_plain(path) {
        Ok(before) => Some(before),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let Some((before, like)) = before else {
        rights::write_whole(path, &version::written(render(config)), None)?;
        return Ok(None);
    };
    let is_current = version::is_current(&before);
    let said = parse(&Source::new("", before.as_str()), &Host::any()).ok().filter(|_| is_current);
    if said.as_ref() == Some(config) {
        return Ok(None);
    }
    let amended = said.and_then(|said| amend(&before, &said, config));
    let text = amended.unwrap_or_else(|| format!("{}{}", head_comment(&before), render(config)));
    let text = version::written(text);
    let kept = beside(path, "~");
    rights::write_whole(&kept, &before, Some(&like))?;
    rights::write_whole(path, &text, Some(&like))?;
    Ok(Some(kept))
}

/// The comment and empty lines before anything else.
fn head_comment(text: &str) -> &str {
    let comment = |line: &&str| line.trim_start().starts_with('#') || line.trim().is_empty();
    let bytes = text.split_inclusive('\n').take_while(comment).map(str::len).sum();
    &text[..bytes]
}

/// The path with something put behind it.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("volley-save-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn config(text: &str) -> Config {
        parse(&Source::new("f", text), &Host::any()).unwrap()
    }

    #[test]
    fn the_head_comment_stays_and_the_old_text_is_kept_beside() {
        let folder = folder("head");
        let path = folder.join("router.toml");
        let old = "# My router.\n\n[port.p0] # uplink\nkind = \"memory\"\n";
        fs::write(&path, old).unwrap();
        let new = config("[port.p1]\nkind = \"memory\"\n");
        let backup = save(&new, &path).unwrap().unwrap();
        assert_eq!(fs::read_to_string(backup).unwrap(), old);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "# My router.\n\nversion = 1\n\n[port.p1]\nkind = \"memory\"\n");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_says_the_same_is_left_alone() {
        let folder = folder("same");
        let path = folder.join("router.toml");
        let old = "[port.p0] # uplink\nkind = 'memory'\n";
        fs::write(&path, old).unwrap();
        assert_eq!(save(&config(old), &path).unwrap(), None);
        assert_eq!(fs::read_to_string(&path).unwrap(), old);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_and_leaves_nothing() {
        let path = folder("gone").join("sub/router.toml");
        assert!(save(&Config::default(), &path).is_err());
        assert!(!path.exists());
    }

    #[test]
    fn planted_links_are_not_written_through() {
        let folder = folder("planted");
        let (path, secret) = (folder.join("router.toml"), folder.join("secret"));
        fs::write(&secret, "root:x:").unwrap();
        fs::write(&path, "").unwrap();
        let fresh = format!("router.toml.{}.new", std::process::id());
        for planted in ["router.toml.new", "router.toml~", "router.toml~.new", &fresh] {
            symlink(&secret, folder.join(planted)).unwrap();
        }
        symlink(&secret, folder.join(format!(".{fresh}"))).unwrap();
        let new = config("[port.p1]\nkind = \"memory\"\n");
        let backup = save(&new, &path).unwrap().unwrap();
        assert_eq!(fs::read_to_string(&secret).unwrap(), "root:x:");
        for written in [&path, &backup] {
            assert!(fs::symlink_metadata(written).unwrap().is_file(), "{}", written.display());
        }
        // In the place of the file itself a link is refused, whatever it leads to.
        fs::remove_file(&path).unwrap();
        for target in [&secret, &folder.join("none")] {
            symlink(target, &path).unwrap();
            let error = save(&new, &path).unwrap_err().to_string();
            assert_eq!(error, "it is a link, which is not followed");
            fs::remove_file(&path).unwrap();
        }
        assert_eq!(fs::read_to_string(&secret).unwrap(), "root:x:");
        assert!(!folder.join("none").exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_keeps_its_rights_and_a_new_one_is_not_for_everybody() {
        let folder = folder("mode");
        let path = folder.join("router.toml");
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        save(&config("[port.p1]\nkind = \"memory\"\n"), &path).unwrap();
        assert_eq!(mode(&path), 0o640);
        for kept in [0o600, 0o640, 0o664] {
            fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
            let port = format!("[port.p{kept}]\nkind = \"memory\"\n");
            let backup = save(&config(&port), &path).unwrap().unwrap();
            assert_eq!((mode(&path), mode(&backup)), (kept, kept));
            let left = fs::read_dir(&folder).unwrap().count();
            assert_eq!(left, 2);
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
