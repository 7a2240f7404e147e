//! Groups of commands for the overview of the program, with one short line for each command.

/// Commands that serve one purpose.
#[derive(Debug)]
pub(crate) struct CommandGroup {
    /// Heading in the overview.
    pub(crate) title: &'static str,
    /// Name as a topic of `heirloom help`.
    pub(crate) topic: &'static str,
    /// Commands in the order of the overview, each with its short line.
    pub(crate) commands: &'static [(&'static str, &'static str)],
}

impl CommandGroup {
    /// Returns true if `words` is the topic or the title of the group.
    pub(crate) fn is_named(&self, words: &str) -> bool {
        let words = words.to_lowercase();
        words == self.topic || words == self.title.to_lowercase()
    }
}

/// All groups; every command is in one of them.
pub(crate) const GROUPS: [CommandGroup; 6] = [
    CommandGroup {
        title: "Start",
        topic: "start",
        commands: &[
            ("demo", "See it work in a temporary project"),
            ("init", "Enable memory for the project in this folder"),
            ("status", "Show a summary of this memory"),
            ("ui", "Open the page of this memory in the browser"),
            ("help", "Describe a command, a group of commands or a topic"),
        ],
    },
    CommandGroup {
        title: "Remember and recall",
        topic: "memory",
        commands: &[
            ("remember", "Remember a fact, a decision, a convention"),
            ("recall", "Search memory for what fits a question"),
            ("list", "List records, newest first"),
            ("show", "Show one record completely"),
            (
                "context",
                "Print what is known for the next prompt, within a budget",
            ),
            ("tried", "Look up earlier attempts and their outcome"),
            ("forget", "Retire a record; its history stays"),
            ("undo", "Undo the last change of a record, or an import"),
            ("history", "Show earlier versions and changes of a record"),
            ("pin", "Include a record in every context of its scope"),
            ("mute", "Exclude a record from contexts"),
            ("useful", "Mark a record as helpful or not"),
        ],
    },
    CommandGroup {
        title: "Agents",
        topic: "agents",
        commands: &[
            ("install", "Let an agent program use this memory"),
            ("uninstall", "Remove the hooks from an agent program"),
            ("run", "Run an agent repeatedly on a task"),
            ("learn", "Take the lessons of a stored conversation"),
            ("propose", "Propose something for a person to decide"),
            ("accept", "Accept what an agent proposed"),
            ("reject", "Reject what an agent proposed"),
            (
                "conflicts",
                "Show different values of one key, without a decision",
            ),
            ("resolve", "Decide a conflict"),
        ],
    },
    CommandGroup {
        title: "Look after",
        topic: "look-after",
        commands: &[
            (
                "review",
                "Look for duplicates, contradictions and stale records",
            ),
            ("receipts", "Show what contexts contained, and why"),
            ("analytics", "Show what worked: success rates and failures"),
            ("doctor", "Look for damage, and repair it"),
            ("backup", "Write a verified copy of the store to a file"),
            ("restore", "Restore a copy from a file"),
            ("import", "Import what other programs remember"),
            ("export", "Print what is remembered, for other programs"),
            ("prune", "Retire attempts and artifacts beyond their age"),
            ("purge", "Delete for good, with all versions and copies"),
            (
                "reembed",
                "Compute missing vectors for the search by meaning",
            ),
            ("config", "Show the settings and their origin"),
        ],
    },
    CommandGroup {
        title: "Serve",
        topic: "serving",
        commands: &[
            ("serve", "Serve the HTTP API and the page"),
            ("mcp", "Serve agents over the Model Context Protocol"),
            ("trust", "Let what a clone brings be used"),
            ("token", "Create, list and revoke access tokens"),
            ("watch", "Ingest files of agents and edited files at once"),
            ("fleet", "Prepare a database server that machines share"),
            ("transfer", "Copy projects between a file and a server"),
        ],
    },
    CommandGroup {
        title: "Advanced",
        topic: "advanced",
        commands: &[
            ("task", "Set, show and list tasks"),
            ("step", "Record a step of a task: done, or pending"),
            ("error", "Log an error, or how one was resolved"),
            ("episode", "Log attempts at a task, or list them"),
            ("outcome", "Record how an iteration ended"),
            ("artifact", "Register files that a task produced"),
            ("observe", "Record the signals in an agent's output"),
            ("output", "Keep the last output of each agent of a plan"),
            ("session", "Store the turns of a conversation, or show them"),
            ("compact", "Make a conversation fit a model's window"),
            ("expand", "Print what a window shortened or left out"),
            ("group", "Write and show the notes of a group of agents"),
            ("workspace", "Write, show and sync workspace files"),
            ("share", "Share knowledge with the team through files"),
            ("unshare", "Remove entries from the team's files"),
            ("cmd", "Prompts of your own, with arguments and files"),
            ("redact", "Redact secrets in standard input"),
            ("hook", "Answer an event of an agent program"),
            ("bench", "Measure Heirloom with data of your own"),
            ("completions", "Print the completion script of a shell"),
            ("man", "Print the manual page"),
        ],
    },
];
