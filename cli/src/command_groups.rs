//! The list of commands in `pml --help`, grouped by what they are for.
//!
//! clap lists all subcommands under one heading, so the list is rendered here and replaces clap's
//! own in the help template.

use std::fmt::Write;

use clap::Command;
use clap::builder::StyledStr;

/// A heading and the commands below it, in the order of the help.
struct Group {
    heading: &'static str,
    commands: &'static [&'static str],
}

/// Every command that is not hidden, once. A new command is added here and in `command::Command`.
const GROUPS: &[Group] = &[
    Group {
        heading: "Scripts",
        commands: &["run", "workflow", "test", "check", "types"],
    },
    Group {
        heading: "Durable runs",
        commands: &["runs", "resume", "approvals"],
    },
    Group {
        heading: "Servers and tools",
        commands: &[
            "init",
            "add",
            "remove",
            "trust",
            "lock",
            "policy",
            "token",
            "secrets",
            "doctor",
            "tools",
            "functions",
            "search",
            "suggest",
            "learn",
            "call",
            "login",
            "logout",
            "index",
            "model",
        ],
    },
    Group {
        heading: "Operations",
        commands: &[
            "serve",
            "logs",
            "restart",
            "audit",
            "suspensions",
            "scrub",
            "completions",
            "demo-server",
        ],
    },
];

/// The command, with a help text that lists its subcommands by group.
pub fn with_groups(command: Command) -> Command {
    let list = grouped_list(&command);
    let header = *command.get_styles().get_header();
    command.help_template(StyledStr::from(format!(
        "{{about-with-newline}}\n\
         {{usage-heading}} {{usage}}\n\n\
         {list}\
         {header}Options:{header:#}\n\
         {{options}}{{after-help}}"
    )))
}

fn grouped_list(command: &Command) -> String {
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let names = GROUPS.iter().flat_map(|group| group.commands);
    let width = names.map(|name| name.len()).max().unwrap_or_default();
    let mut list = String::new();
    for Group { heading, commands } in GROUPS {
        // Writing to a string cannot fail.
        let _ = writeln!(list, "{header}{heading}:{header:#}");
        for command in commands
            .iter()
            .filter_map(|name| command.find_subcommand(name))
        {
            let name = command.get_name();
            let about = command.get_about().cloned().unwrap_or_default();
            let _ = writeln!(
                list,
                "  {literal}{name:width$}{literal:#}  {}",
                about.ansi()
            );
        }
        list.push('\n');
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::definition;

    #[test]
    fn every_visible_command_is_in_exactly_one_group() {
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|group| group.commands.iter().copied())
            .collect();
        let command = definition();
        let mut visible: Vec<&str> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        grouped.sort_unstable();
        visible.sort_unstable();
        assert_eq!(grouped, visible);
    }

    #[test]
    fn the_help_lists_each_command_below_the_heading_of_its_group() {
        let help = definition().render_help().to_string();
        let mut rest = help.as_str();
        for Group { heading, commands } in GROUPS {
            for words in std::iter::once(format!("\n{heading}:\n"))
                .chain(commands.iter().map(|name| format!("\n  {name} ")))
            {
                let at = rest.find(&words);
                // The line end also begins the next line.
                rest =
                    &rest[at.unwrap_or_else(|| panic!("{words:?} in\n{help}")) + words.len() - 1..];
            }
        }
        for words in ["Usage: pml", "\nOptions:\n", "--config <FILE>", "Examples:"] {
            assert!(help.contains(words), "{words}\n{help}");
        }
        assert!(!help.contains("\nCommands:\n"), "{help}");
    }

    #[test]
    fn the_help_of_a_command_has_a_template_of_its_own() {
        let mut command = definition();
        let model = command.find_subcommand_mut("model").unwrap();
        let help = model.render_help().to_string();
        assert!(
            help.contains("Commands:\n") && !help.contains("Scripts"),
            "{help}"
        );
    }
}
