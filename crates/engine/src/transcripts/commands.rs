//! Commands as programs write them down, and tools that only show something.

/// Shells that take a command as one argument.
const SHELLS: [&str; 5] = ["sh", "bash", "zsh", "dash", "fish"];

/// Tools that only show what is in the project, or note what is to be done.
const LOOKING: [&str; 17] = [
    "Read",
    "Glob",
    "Grep",
    "LS",
    "NotebookRead",
    "TodoWrite",
    "ToolSearch",
    "read_file",
    "read_many_files",
    "glob",
    "search_file_content",
    "list_directory",
    "list_dir",
    "grep_files",
    "write_todos",
    "update_plan",
    "view_image",
];

/// Whether a tool only shows what is in the project.
pub fn is_look(tool: &str) -> bool {
    LOOKING.contains(&tool)
}

/// A command that a program gave as words.
pub(super) fn of_words(words: &[String]) -> Option<String> {
    match words {
        [] => None,
        [shell, flag, command, ..] if is_shell(shell) && is_command_flag(flag) => {
            Some(command.clone())
        }
        words => Some(words.join(" ")),
    }
}

fn is_shell(word: &str) -> bool {
    SHELLS.contains(&base(word))
}

fn is_command_flag(flag: &str) -> bool {
    flag.starts_with('-') && flag.ends_with('c')
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell_are_its_command() {
        let words =
            |all: &[&str]| of_words(&all.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
        assert_eq!(words(&["bash", "-lc", "ls -la"]).as_deref(), Some("ls -la"));
        assert_eq!(words(&["ls", "-la"]).as_deref(), Some("ls -la"));
        assert_eq!(words(&[]), None);
    }
}
