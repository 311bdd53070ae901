//! The clients that are known, and where each keeps its servers.

use std::path::{Path, PathBuf};

use super::home::Home;

/// A program that talks to MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    VsCode,
    Codex,
}

/// For whom a place holds servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// For this user, whatever they work on.
    User,
    /// For one project.
    Project,
}

/// How servers are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON with `mcpServers`.
    McpServers,
    /// The same, with more of it below `projects` by folder.
    McpServersAndProjects,
    /// JSON with `servers`.
    Servers,
    /// JSON with `mcp.servers`, among other settings.
    McpDotServers,
    /// TOML with `mcp_servers`.
    CodexToml,
}

/// A file that may hold servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub path: PathBuf,
    pub scope: Scope,
    pub(super) form: Form,
}

impl Client {
    pub const ALL: [Self; 5] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Codex,
    ];

    /// The name people know it by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
        }
    }

    /// The name for options and for telling servers apart.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
        }
    }

    /// Every file it reads servers from, those of the project first because they are meant more
    /// closely.
    pub fn places(self, home: &Home, project: Option<&Path>) -> Vec<Place> {
        let user = |path: PathBuf, form| Place {
            path,
            scope: Scope::User,
            form,
        };
        let in_project = |path: &str, form| {
            project.map(|project| Place {
                path: project.join(path),
                scope: Scope::Project,
                form,
            })
        };
        let (of_project, of_user) = match self {
            Self::ClaudeDesktop => {
                let file = home
                    .config_folder()
                    .join("Claude/claude_desktop_config.json");
                (None, vec![user(file, Form::McpServers)])
            }
            Self::ClaudeCode => {
                let file = home.root().join(".claude.json");
                (
                    in_project(".mcp.json", Form::McpServers),
                    vec![user(file, Form::McpServersAndProjects)],
                )
            }
            Self::Cursor => {
                let file = home.root().join(".cursor/mcp.json");
                (
                    in_project(".cursor/mcp.json", Form::McpServers),
                    vec![user(file, Form::McpServers)],
                )
            }
            Self::VsCode => {
                let folder = home.config_folder().join("Code/User");
                (
                    in_project(".vscode/mcp.json", Form::Servers),
                    vec![
                        user(folder.join("mcp.json"), Form::Servers),
                        user(folder.join("settings.json"), Form::McpDotServers),
                    ],
                )
            }
            Self::Codex => {
                let file = home.codex_folder().join("config.toml");
                (
                    in_project(".codex/config.toml", Form::CodexToml),
                    vec![user(file, Form::CodexToml)],
                )
            }
        };
        of_project.into_iter().chain(of_user).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::Platform;

    fn user_files(client: Client, platform: Platform) -> Vec<String> {
        let home = Home::at(platform, "/h");
        let places = client.places(&home, None);
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
        let home = Home::at(Platform::Linux, "/h");
        let places = Client::Cursor.places(&home, Some(Path::new("/p")));
        assert_eq!(places[0].path, Path::new("/p/.cursor/mcp.json"));
        assert_eq!(places[0].scope, Scope::Project);
        assert_eq!(places[1].scope, Scope::User);
    }
}
