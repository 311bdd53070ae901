//! The folders of a user, by the conventions of each platform.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The conventions for a user's folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// The XDG base directories. Other Unix systems use them as well.
    Linux,
    /// `~/Library/Application Support`.
    MacOs,
    /// `AppData` in the user's profile.
    Windows,
}

impl Platform {
    /// The platform that this program was compiled for.
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

/// pml's own folder for the current user's data. `None` for a user without a home folder.
///
/// It is `pml` below `$XDG_DATA_HOME`, else below `~/.local/share`, on macOS
/// `~/Library/Application Support`. On Windows it is `pml` below `%LOCALAPPDATA%`. The folder need
/// not exist.
pub fn data_dir() -> Option<PathBuf> {
    data_dir_from(Platform::current(), |name| std::env::var_os(name))
}

/// pml's own folder for the current user's configuration. `None` for a user without a home folder.
///
/// It is `pml` below `$XDG_CONFIG_HOME`, else below `~/.config`, also on macOS. On Windows it is `pml`
/// below `%APPDATA%`. The folder need not exist.
pub fn config_dir() -> Option<PathBuf> {
    config_dir_from(Platform::current(), |name| std::env::var_os(name))
}

/// [`config_dir`] of any platform and environment.
fn config_dir_from(
    platform: Platform,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    let config = match platform {
        Platform::Linux | Platform::MacOs => absolute(&variable, "XDG_CONFIG_HOME")
            .or_else(|| Some(absolute(&variable, "HOME")?.join(".config"))),
        Platform::Windows => Some(UserDirs::from_env(platform, &variable)?.config),
    }?;
    Some(config.join("pml"))
}

/// [`data_dir`] of any platform and environment. `XDG_DATA_HOME` needs no home folder beside it.
fn data_dir_from(
    platform: Platform,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    let data = moved_data(platform, &variable)
        .or_else(|| Some(UserDirs::from_env(platform, &variable)?.data))?;
    Some(data.join("pml"))
}

/// The data folder that an environment variable names.
fn moved_data(platform: Platform, variable: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    absolute(
        variable,
        match platform {
            Platform::Linux | Platform::MacOs => "XDG_DATA_HOME",
            Platform::Windows => "LOCALAPPDATA",
        },
    )
}

/// An absolute path from a variable. XDG wants relative ones to be ignored.
fn absolute(variable: &impl Fn(&str) -> Option<OsString>, name: &str) -> Option<PathBuf> {
    variable(name)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

/// The folders of one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserDirs {
    home: PathBuf,
    config: PathBuf,
    data: PathBuf,
}

impl UserDirs {
    /// The user that this process runs as; `None` without a home folder.
    pub fn current() -> Option<Self> {
        Self::from_env(Platform::current(), |name| std::env::var_os(name))
    }

    /// The default folders below a home folder.
    pub fn at(platform: Platform, home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        let (config, data) = match platform {
            Platform::Linux => (home.join(".config"), home.join(".local/share")),
            Platform::MacOs => {
                let support = home.join("Library/Application Support");
                (support.clone(), support)
            }
            Platform::Windows => (home.join("AppData/Roaming"), home.join("AppData/Local")),
        };
        Self { home, config, data }
    }

    /// The folders that environment variables name, else the default ones.
    ///
    /// On macOS, `XDG_CONFIG_HOME` is ignored: the programs whose settings are read from there
    /// ignore it as well.
    pub fn from_env(
        platform: Platform,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Option<Self> {
        let home = match platform {
            Platform::Windows => absolute(&variable, "USERPROFILE"),
            Platform::Linux | Platform::MacOs => absolute(&variable, "HOME"),
        }?;
        let mut dirs = Self::at(platform, home);
        let config = match platform {
            Platform::Linux => absolute(&variable, "XDG_CONFIG_HOME"),
            Platform::MacOs => None,
            Platform::Windows => absolute(&variable, "APPDATA"),
        };
        dirs.config = config.unwrap_or(dirs.config);
        dirs.data = moved_data(platform, &variable).unwrap_or(dirs.data);
        Some(dirs)
    }

    /// The home folder.
    pub fn home_dir(&self) -> &Path {
        &self.home
    }

    /// The folder for settings of programs.
    pub fn config_dir(&self) -> &Path {
        &self.config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> {
        |name| {
            let (_, value) = pairs.iter().find(|(known, _)| *known == name)?;
            Some((*value).into())
        }
    }

    #[test]
    fn variables_move_folders_and_relative_ones_do_not() {
        let variables = env(&[
            ("HOME", "/home/ada"),
            ("XDG_CONFIG_HOME", "/etc/ada"),
            ("XDG_DATA_HOME", "data"),
        ]);
        let dirs = UserDirs::from_env(Platform::Linux, &variables).unwrap();
        assert_eq!(dirs.config_dir(), Path::new("/etc/ada"));
        assert_eq!(
            data_dir_from(Platform::Linux, variables).unwrap(),
            Path::new("/home/ada/.local/share/pml")
        );
    }

    #[cfg(unix)]
    #[test]
    fn each_platform_has_its_own_data_folder() {
        for (platform, variables, folder) in [
            (
                Platform::Linux,
                &[("HOME", "/h")][..],
                Some("/h/.local/share/pml"),
            ),
            (
                Platform::MacOs,
                &[("HOME", "/h")],
                Some("/h/Library/Application Support/pml"),
            ),
            (
                Platform::MacOs,
                &[("HOME", "/h"), ("XDG_DATA_HOME", "/data")],
                Some("/data/pml"),
            ),
            (
                Platform::Linux,
                &[("XDG_DATA_HOME", "/data")],
                Some("/data/pml"),
            ),
            (
                Platform::Windows,
                &[("USERPROFILE", "/h"), ("XDG_DATA_HOME", "/data")],
                Some("/h/AppData/Local/pml"),
            ),
            (
                Platform::Windows,
                &[("LOCALAPPDATA", "/local")],
                Some("/local/pml"),
            ),
            (Platform::Linux, &[], None),
        ] {
            let found = data_dir_from(platform, env(variables));
            assert_eq!(found.as_deref(), folder.map(Path::new), "{platform:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_configuration_is_below_dot_config_on_macos_too() {
        let folder = |platform, variables| config_dir_from(platform, env(variables)).unwrap();
        let home = &[("HOME", "/h")];
        assert_eq!(folder(Platform::MacOs, home), Path::new("/h/.config/pml"));
        let moved = &[("XDG_CONFIG_HOME", "/etc/ada")];
        assert_eq!(folder(Platform::Linux, moved), Path::new("/etc/ada/pml"));
        let profile = &[("USERPROFILE", "/h")];
        let roaming = Path::new("/h/AppData/Roaming/pml");
        assert_eq!(folder(Platform::Windows, profile), roaming);
    }

    #[test]
    fn without_a_home_folder_there_are_no_user_dirs() {
        assert_eq!(UserDirs::from_env(Platform::Linux, |_| None), None);
    }
}
