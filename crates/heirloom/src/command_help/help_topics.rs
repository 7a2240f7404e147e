//! Short texts about subjects that concern several commands.

/// Text of `heirloom help NAME`.
#[derive(Debug)]
pub(crate) struct HelpTopic {
    /// Name of the topic.
    pub(crate) name: &'static str,
    /// Other words that people try.
    pub(crate) other_names: &'static [&'static str],
    /// The text.
    pub(crate) text: &'static str,
}

/// All topics.
pub(crate) const TOPICS: [HelpTopic; 7] = [
    HelpTopic {
        name: "aliases",
        other_names: &["alias", "names", "synonyms"],
        text: include_str!("topics/aliases.txt"),
    },
    HelpTopic {
        name: "budget",
        other_names: &["budgets", "tokens", "size"],
        text: include_str!("topics/budget.txt"),
    },
    HelpTopic {
        name: "environment",
        other_names: &["env", "variables", "colors", "colours"],
        text: include_str!("topics/environment.txt"),
    },
    HelpTopic {
        name: "exit-codes",
        other_names: &["exit-code", "exit", "codes"],
        text: include_str!("topics/exit_codes.txt"),
    },
    HelpTopic {
        name: "ids",
        other_names: &["id"],
        text: include_str!("topics/ids.txt"),
    },
    HelpTopic {
        name: "json",
        other_names: &["scripts", "scripting"],
        text: include_str!("topics/json.txt"),
    },
    HelpTopic {
        name: "scopes",
        other_names: &["scope", "projects", "plan", "agent", "phase"],
        text: include_str!("topics/scopes.txt"),
    },
];

impl HelpTopic {
    /// Returns the topic with this name.
    pub(crate) fn find(words: &str) -> Option<&'static Self> {
        let words = words.to_lowercase().replace(' ', "-");
        TOPICS
            .iter()
            .find(|topic| topic.name == words || topic.other_names.contains(&words.as_str()))
    }
}
