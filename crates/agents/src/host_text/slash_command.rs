//! Commands that a person typed with a slash.

use std::borrow::Cow;

/// Greatest number of bytes of a command's name.
const NAME_BYTES_MAX: usize = 60;
/// First parts of absolute paths.
const ROOT_FOLDERS: [&str; 14] = [
    "/bin", "/dev", "/etc", "/home", "/lib", "/mnt", "/opt", "/proc", "/root", "/run", "/srv",
    "/tmp", "/usr", "/var",
];
/// Command whose words tell what a summary has to keep.
const COMPACTION: &str = "/compact";
/// Command after which the words are a memory.
const MEMORY: &str = "/memory";
/// Word before such a memory.
const MEMORY_ADDITION: &str = "add ";
/// Commands that set up the program and ask for no work: Claude Code 2.1, Codex 0.169, Gemini CLI 0.61, opencode 1.18
/// and Copilot CLI 1.0.
const PROGRAM_COMMANDS: [&str; 75] = [
    "/about",
    "/add-dir",
    "/agents",
    "/approvals",
    "/auth",
    "/bashes",
    "/bug",
    "/chat",
    "/clear",
    COMPACTION,
    "/compress",
    "/config",
    "/connect",
    "/context",
    "/copy",
    "/cost",
    "/cwd",
    "/debug-config",
    "/details",
    "/diff",
    "/directory",
    "/docs",
    "/doctor",
    "/editor",
    "/exit",
    "/experimental",
    "/export",
    "/extensions",
    "/extra-usage",
    "/fast",
    "/feedback",
    "/fork",
    "/help",
    "/hooks",
    "/ide",
    "/install-github-app",
    "/keybindings",
    "/login",
    "/logout",
    "/mcp",
    MEMORY,
    "/mention",
    "/model",
    "/models",
    "/new",
    "/output-style",
    "/permissions",
    "/plugin",
    "/privacy",
    "/quit",
    "/rate-limit-options",
    "/release-notes",
    "/rename",
    "/resume",
    "/rewind",
    "/sandbox",
    "/session",
    "/sessions",
    "/settings",
    "/share",
    "/skills",
    "/stats",
    "/status",
    "/statusline",
    "/terminal-setup",
    "/theme",
    "/themes",
    "/tools",
    "/undo",
    "/unshare",
    "/upgrade",
    "/usage",
    "/vim",
    "/voice",
    "/yolo",
];

/// A command and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlashCommand {
    /// The name, with its slash.
    pub name: String,
    /// The person's words after it.
    pub arguments: String,
}

impl SlashCommand {
    /// Returns true if the command sets up the program and asks for no work.
    pub fn is_of_program(&self) -> bool {
        PROGRAM_COMMANDS.contains(&self.name.as_str())
    }
}

/// Returns the command at the beginning of a prompt. A path is not a command.
pub fn parse_slash_command(prompt: &str) -> Option<SlashCommand> {
    let prompt = prompt.trim();
    let (name, arguments) = match prompt.split_once(char::is_whitespace) {
        Some((name, arguments)) => (name, arguments.trim()),
        None => (prompt, ""),
    };
    let rest = name.strip_prefix('/').filter(|rest| !rest.is_empty())?;
    let is_name = name.len() <= NAME_BYTES_MAX
        && !rest.contains(['/', '.', '\\'])
        && !ROOT_FOLDERS.contains(&name)
        && rest.starts_with(|c: char| c.is_alphanumeric());
    is_name.then(|| SlashCommand {
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    })
}

/// Returns a prompt with its command and the arguments in paragraphs of their own; empty for a command of the program
/// without a person's words.
pub(super) fn split_command(prompt: &str) -> Cow<'_, str> {
    let Some(command) = parse_slash_command(prompt) else {
        return Cow::Borrowed(prompt);
    };
    let words = command.arguments.as_str();
    if command.name == MEMORY
        && let Some(memory) = words.strip_prefix(MEMORY_ADDITION)
    {
        return Cow::Owned(memory.trim().to_owned());
    }
    match (command.is_of_program(), words.is_empty()) {
        (true, false) if command.name == COMPACTION => {}
        (true, _) => return Cow::Borrowed(""),
        (false, true) => return Cow::Owned(command.name),
        (false, false) => {}
    }
    Cow::Owned(format!("{}\n\n{words}", command.name))
}
