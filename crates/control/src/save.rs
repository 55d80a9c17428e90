//! Writes the configuration to its file: the new text whole or the old one untouched.
//!
//! What stood there before is kept beside it as `FILE~`. Of a file that reads as a configuration
//! only what changed is written anew; of any other the comment at its head is kept in place.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::config::amend::amend;
use crate::config::{Config, Host, Source, parse, render};

/// Writes `config` to `path`; returns the backup of what was there, if anything had to change.
pub fn save(config: &Config, path: &Path) -> io::Result<Option<PathBuf>> {
    let before = match fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let Some(before) = before else {
        write_whole(path, &render(config), path)?;
        return Ok(None);
    };
    let said = parse(&Source::new("", before.as_str()), &Host::any());
    if said.as_ref() == Ok(config) {
        return Ok(None);
    }
    let amended = said.ok().and_then(|said| amend(&before, &said, config));
    let text = amended.unwrap_or_else(|| format!("{}{}", head_comment(&before), render(config)));
    let kept = beside(path, "~");
    write_whole(&kept, &before, path)?;
    write_whole(path, &text, path)?;
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

/// Writes a file under another name, then renames it; with the permissions of `like`, if it is
/// there.
fn write_whole(path: &Path, text: &str, like: &Path) -> io::Result<()> {
    let temporary = beside(path, ".new");
    let write = || {
        let mut file = File::create(&temporary)?;
        if let Ok(metadata) = fs::metadata(like) {
            file.set_permissions(metadata.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().inspect_err(|_| {
        if let Err(error) = fs::remove_file(&temporary) {
            let path = temporary.display();
            tracing::warn!(fault = "left-over", %path, %error, "half a file stays behind");
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(text, "# My router.\n\n[port.p1]\nkind = \"memory\"\n");
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
}
