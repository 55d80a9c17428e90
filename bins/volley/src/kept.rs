//! What a helper of the router's has made, in a file: written down before it is done, so that a
//! crash loses nothing and leaves nothing.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::CliError;

/// A state with its file.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    path: Option<PathBuf>,
    state: T,
}

impl<T: Clone + Default + PartialEq + Serialize + DeserializeOwned> Kept<T> {
    /// What the file has; nothing where there is none.
    pub(crate) fn load(path: &Path) -> Result<Self, CliError> {
        let wrong = |error| CliError::File { path: path.to_owned(), error };
        let state = match fs::read(path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| wrong(error.into()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => T::default(),
            Err(error) => return Err(wrong(error)),
        };
        Ok(Self { path: Some(path.to_owned()), state })
    }

    /// What nobody writes down.
    #[cfg(test)]
    pub(crate) fn nowhere() -> Self {
        Self { path: None, state: T::default() }
    }

    /// What there is to be.
    pub(crate) fn state(&self) -> &T {
        &self.state
    }

    /// Changes it: whole, in the file as well, or not at all.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut T)) -> Result<(), String> {
        let mut state = self.state.clone();
        change(&mut state);
        if state == self.state {
            return Ok(());
        }
        if let Some(path) = &self.path {
            write(path, &state).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        self.state = state;
        Ok(())
    }
}

fn write<T: Serialize>(path: &Path, state: &T) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension("new");
    fs::write(&beside, serde_json::to_vec_pretty(state)?)?;
    fs::rename(&beside, path)
}
