//! Commands as stored in transcripts.

/// Shells that take a command as one argument.
const SHELLS: [&str; 5] = ["sh", "bash", "zsh", "dash", "fish"];

/// Returns the command for a list of words.
pub(crate) fn command_from_words(words: &[String]) -> Option<String> {
    match words {
        [] => None,
        [shell, flag, command, ..] if is_shell(shell) && is_command_flag(flag) => {
            Some(command.clone())
        }
        words => Some(words.join(" ")),
    }
}

fn is_shell(word: &str) -> bool {
    SHELLS.contains(&base_name(word))
}

fn is_command_flag(flag: &str) -> bool {
    flag.starts_with('-') && flag.ends_with('c')
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_from_words_unwraps_shell() {
        let words = |all: &[&str]| {
            command_from_words(&all.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(words(&["bash", "-lc", "ls -la"]).as_deref(), Some("ls -la"));
        assert_eq!(words(&["ls", "-la"]).as_deref(), Some("ls -la"));
        assert_eq!(words(&[]), None);
    }
}
