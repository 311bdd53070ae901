//! The folders that clients keep their settings in.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pml_files::{Platform, UserDirs};

/// The folders of one user that clients keep their settings in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientDirs {
    user: UserDirs,
    codex: PathBuf,
}

impl ClientDirs {
    /// The user that this process runs as; `None` without a home folder.
    pub fn current() -> Option<Self> {
        Self::from_env(Platform::current(), |name| std::env::var_os(name))
    }

    /// The default folders below a home folder.
    pub fn at(platform: Platform, home: impl Into<PathBuf>) -> Self {
        Self::new(UserDirs::at(platform, home))
    }

    /// The folders that environment variables name, among them `CODEX_HOME`, else the default ones.
    pub fn from_env(
        platform: Platform,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Option<Self> {
        let mut dirs = Self::new(UserDirs::from_env(platform, &variable)?);
        let codex = variable("CODEX_HOME").map(PathBuf::from);
        if let Some(codex) = codex.filter(|path| path.is_absolute()) {
            dirs.codex = codex;
        }
        Some(dirs)
    }

    fn new(user: UserDirs) -> Self {
        let codex = user.home_dir().join(".codex");
        Self { user, codex }
    }

    /// The home folder.
    pub fn home(&self) -> &Path {
        self.user.home_dir()
    }

    /// The folder for settings of programs.
    pub fn config(&self) -> &Path {
        self.user.config_dir()
    }

    /// The folder of Codex.
    pub fn codex(&self) -> &Path {
        &self.codex
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codex_home_moves_the_folder_of_codex_and_a_relative_one_does_not() {
        for (codex_home, folder) in [("/etc/codex", "/etc/codex"), ("codex", "/home/ada/.codex")] {
            let dirs = ClientDirs::from_env(Platform::Linux, |name| match name {
                "HOME" => Some("/home/ada".into()),
                "CODEX_HOME" => Some(codex_home.into()),
                _ => None,
            })
            .unwrap();
            assert_eq!(dirs.codex(), Path::new(folder));
        }
    }
}
