//! Installed command: the command line of a hook in the settings of an agent program.

use crate::AgentProgram;
use crate::heirloom_program::is_heirloom;

/// Start of an installed command line, before the call.
const COMMAND_OPENS: &str = "/bin/sh -c 'exec 2>/dev/null; ";
/// End of an installed command line, after the call.
const COMMAND_CLOSES: &str = " || cat >/dev/null; exit 0'";
/// Word after the event in the commands of a plugin or an extension, which the agent program installs itself.
pub const PLUGIN_WORD: &str = "plugin";

impl AgentProgram {
    /// Builds the command line that an installation writes.
    ///
    /// It exits 0 and prints nothing if `heirloom` is missing, not executable or crashes: Gemini CLI treats exit
    /// codes other than 0 and 1 as a denial, and shows standard error of a hook. The rest of the event is consumed so
    /// that the program does not write into a closed pipe. The inner `/bin/sh` is necessary because Codex uses the
    /// person's shell, which may be fish. Programs trust a command by its text: a change makes people accept the
    /// hooks again.
    ///
    /// On Windows it is the call alone, because programs run hooks there with Git's bash, `cmd` or PowerShell, and all
    /// of them accept it.
    pub fn hook_command(self, event: &str) -> String {
        let call = format!("heirloom hook {} {event}", self.as_str());
        match cfg!(windows) {
            true => call,
            false => format!("{COMMAND_OPENS}{call}{COMMAND_CLOSES}"),
        }
    }

    /// Builds the command line of a hook in a plugin or an extension. Its calls do nothing while the settings of the
    /// program have our hooks too, so that no event is handled twice.
    pub fn plugin_hook_command(self, event: &str) -> String {
        self.hook_command(&format!("{event} {PLUGIN_WORD}"))
    }

    /// Returns true for a command line that any version's installation wrote for this program, with any path.
    pub fn is_hook_command(self, command: &str) -> bool {
        let command = command.trim();
        let guarded = command.strip_prefix(COMMAND_OPENS);
        let bare = match guarded.and_then(|rest| rest.strip_suffix(COMMAND_CLOSES)) {
            Some(bare) => bare,
            None => command,
        };
        let mut words = bare.split_whitespace();
        let program = words.next().unwrap_or_default();
        is_heirloom(program) && words.next() == Some("hook") && words.next() == Some(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(windows)]
    #[test]
    fn hook_command_is_accepted_by_every_shell() {
        let command = AgentProgram::ClaudeCode.hook_command("SessionStart");
        assert_eq!(command, "heirloom hook claude-code SessionStart");
        assert!(AgentProgram::ClaudeCode.is_hook_command(&command));
        let with_folder = r"C:\bin\heirloom.exe hook claude-code X";
        assert!(AgentProgram::ClaudeCode.is_hook_command(with_folder));
    }

    #[cfg(unix)]
    #[test]
    fn hook_command_is_stable() {
        assert_eq!(
            AgentProgram::ClaudeCode.hook_command("SessionStart"),
            "/bin/sh -c 'exec 2>/dev/null; heirloom hook claude-code SessionStart || cat >/dev/null; exit 0'"
        );
    }

    #[test]
    fn is_hook_command_recognises_own_forms_only() {
        for (command, ours) in [
            ("heirloom hook claude-code X", true),
            ("/usr/bin/heirloom hook claude-code X", true),
            (AgentProgram::ClaudeCode.hook_command("X").as_str(), true),
            (
                "/bin/sh -c 'exec 2>/dev/null; /opt/bin/heirloom hook claude-code X || cat >/dev/null; exit 0'",
                true,
            ),
            (AgentProgram::Codex.hook_command("X").as_str(), false),
            ("heirloom hook codex X", false),
            ("my-heirloom hook claude-code X", false),
            ("echo heirloom hook claude-code", false),
            ("sh -c 'heirloom hook claude-code X; mine'", false),
            (
                "/bin/sh -c 'exec 2>/dev/null; mine hook claude-code X || cat >/dev/null; exit 0'",
                false,
            ),
        ] {
            assert_eq!(
                AgentProgram::ClaudeCode.is_hook_command(command),
                ours,
                "{command}"
            );
        }
    }
}
