//! The known clients, and the files that each keeps its servers in.

use std::path::{Path, PathBuf};

use crate::client_dirs::ClientDirs;

/// A program that talks to MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// Claude Desktop
    ClaudeDesktop,
    /// Claude Code
    ClaudeCode,
    /// Cursor
    Cursor,
    /// VS Code
    VsCode,
    /// Codex
    Codex,
}

/// Where the servers of a file are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// In every project of this user.
    User,
    /// In one project.
    Project,
}

/// The format of a file with servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON with `mcpServers`.
    McpServers,
    /// JSON with `mcpServers`, and more of them in `projects.<folder>`.
    McpServersAndProjects,
    /// JSON with `servers`.
    Servers,
    /// JSON with `mcp.servers` among other settings.
    McpDotServers,
    /// TOML with `mcp_servers`.
    CodexToml,
}

/// A file that may hold servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its path.
    pub path: PathBuf,
    /// Where its servers are used.
    pub scope: Scope,
    pub(crate) format: Format,
}

impl Client {
    /// Every known client.
    pub const ALL: [Self; 5] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Codex,
    ];

    /// The product name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
        }
    }

    /// The name in options, and the suffix of servers whose name is taken.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
        }
    }

    /// Every file that it reads servers from. Files of the project come first, as they are more
    /// specific.
    pub fn config_files(self, dirs: &ClientDirs, project: Option<&Path>) -> Vec<ConfigFile> {
        let user = |path: PathBuf, format| ConfigFile {
            path,
            scope: Scope::User,
            format,
        };
        let in_project = |path: &str, format| {
            project.map(|project| ConfigFile {
                path: project.join(path),
                scope: Scope::Project,
                format,
            })
        };
        let (of_project, of_user) = match self {
            Self::ClaudeDesktop => {
                let file = dirs.config().join("Claude/claude_desktop_config.json");
                (None, vec![user(file, Format::McpServers)])
            }
            Self::ClaudeCode => {
                let file = dirs.home().join(".claude.json");
                (
                    in_project(".mcp.json", Format::McpServers),
                    vec![user(file, Format::McpServersAndProjects)],
                )
            }
            Self::Cursor => {
                let file = dirs.home().join(".cursor/mcp.json");
                (
                    in_project(".cursor/mcp.json", Format::McpServers),
                    vec![user(file, Format::McpServers)],
                )
            }
            Self::VsCode => {
                let folder = dirs.config().join("Code/User");
                (
                    in_project(".vscode/mcp.json", Format::Servers),
                    vec![
                        user(folder.join("mcp.json"), Format::Servers),
                        user(folder.join("settings.json"), Format::McpDotServers),
                    ],
                )
            }
            Self::Codex => {
                let file = dirs.codex().join("config.toml");
                (
                    in_project(".codex/config.toml", Format::CodexToml),
                    vec![user(file, Format::CodexToml)],
                )
            }
        };
        of_project.into_iter().chain(of_user).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pml_files::Platform;

    fn user_files(client: Client, platform: Platform) -> Vec<String> {
        let dirs = ClientDirs::at(platform, "/h");
        let places = client.config_files(&dirs, None);
        places
            .iter()
            .map(|place| place.path.to_string_lossy().replace('\\', "/"))
            .collect()
    }

    #[test]
    fn each_platform_has_its_own_folders() {
        for (client, platform, path) in [
            (
                Client::ClaudeDesktop,
                Platform::Linux,
                "/h/.config/Claude/claude_desktop_config.json",
            ),
            (
                Client::ClaudeDesktop,
                Platform::MacOs,
                "/h/Library/Application Support/Claude/claude_desktop_config.json",
            ),
            (
                Client::ClaudeDesktop,
                Platform::Windows,
                "/h/AppData/Roaming/Claude/claude_desktop_config.json",
            ),
            (Client::ClaudeCode, Platform::Windows, "/h/.claude.json"),
            (Client::Cursor, Platform::MacOs, "/h/.cursor/mcp.json"),
            (
                Client::VsCode,
                Platform::Linux,
                "/h/.config/Code/User/mcp.json",
            ),
            (
                Client::VsCode,
                Platform::MacOs,
                "/h/Library/Application Support/Code/User/mcp.json",
            ),
            (
                Client::VsCode,
                Platform::Windows,
                "/h/AppData/Roaming/Code/User/mcp.json",
            ),
            (Client::Codex, Platform::Linux, "/h/.codex/config.toml"),
        ] {
            assert_eq!(user_files(client, platform)[0], path);
        }
    }

    #[test]
    fn a_projects_own_file_comes_first() {
        let dirs = ClientDirs::at(Platform::Linux, "/h");
        let places = Client::Cursor.config_files(&dirs, Some(Path::new("/p")));
        assert_eq!(places[0].path, Path::new("/p/.cursor/mcp.json"));
        assert_eq!(places[0].scope, Scope::Project);
        assert_eq!(places[1].scope, Scope::User);
    }
}
