//! Where programs keep their files on each platform.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The conventions for a user's folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    Linux,
    MacOs,
    Windows,
}

impl Platform {
    /// Other Unix systems follow the conventions of Linux.
    pub const fn current() -> Self {
        if cfg!(target_os = "macos") {
            Self::MacOs
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Linux
        }
    }
}

/// The folders of one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    platform: Platform,
    root: PathBuf,
    config: PathBuf,
    data: PathBuf,
    codex: PathBuf,
}

impl Home {
    /// The user this process runs as; `None` without a home folder.
    pub fn of_user() -> Option<Self> {
        Self::from_variables(Platform::current(), |name| std::env::var_os(name))
    }

    /// A home whose folders all lie where they lie by default.
    pub fn at(platform: Platform, root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let (config, data) = match platform {
            Platform::Linux => (root.join(".config"), root.join(".local/share")),
            Platform::MacOs => {
                let support = root.join("Library/Application Support");
                (support.clone(), support)
            }
            Platform::Windows => (root.join("AppData/Roaming"), root.join("AppData/Local")),
        };
        let codex = root.join(".codex");
        Self {
            platform,
            root,
            config,
            data,
            codex,
        }
    }

    /// A home with the folders that environment variables move elsewhere.
    pub fn from_variables(
        platform: Platform,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Option<Self> {
        // The conventions want absolute paths and have relative ones ignored.
        let folder = |name: &str| {
            variable(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let root = match platform {
            Platform::Windows => folder("USERPROFILE"),
            Platform::Linux | Platform::MacOs => folder("HOME"),
        }?;
        let mut home = Self::at(platform, root);
        let (config, data) = match platform {
            Platform::Linux => (folder("XDG_CONFIG_HOME"), folder("XDG_DATA_HOME")),
            Platform::MacOs => (None, None),
            Platform::Windows => (folder("APPDATA"), folder("LOCALAPPDATA")),
        };
        home.config = config.unwrap_or(home.config);
        home.data = data.unwrap_or(home.data);
        home.codex = folder("CODEX_HOME").unwrap_or(home.codex);
        Some(home)
    }

    pub fn platform(&self) -> Platform {
        self.platform
    }

    /// The home folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where programs keep their settings.
    pub fn config_folder(&self) -> &Path {
        &self.config
    }

    /// Where `pml` keeps what it has to remember.
    pub fn data_folder(&self) -> PathBuf {
        self.data.join("pml")
    }

    pub(super) fn codex_folder(&self) -> &Path {
        &self.codex
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_move_folders_and_relative_ones_do_not() {
        let home = Home::from_variables(Platform::Linux, |name| match name {
            "HOME" => Some("/home/someone".into()),
            "XDG_CONFIG_HOME" => Some("/etc/someone".into()),
            "XDG_DATA_HOME" => Some("data".into()),
            _ => None,
        })
        .unwrap();
        assert_eq!(home.config_folder(), Path::new("/etc/someone"));
        assert_eq!(
            home.data_folder(),
            Path::new("/home/someone/.local/share/pml")
        );
    }

    #[test]
    fn without_a_home_folder_there_is_no_home() {
        assert_eq!(Home::from_variables(Platform::Linux, |_| None), None);
    }
}
