//! Formats of `heirloom import`, and their names at the command line.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use heirloom_agents::AgentProgram;

/// Format of the imported data.
#[derive(Debug, Clone, Copy)]
pub(super) enum ImportFormat {
    /// Conversations recorded by an agent program.
    Conversations(AgentProgram),
    /// Data of another kind.
    Data(DataFormat),
}

/// Format of data that no agent program recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum DataFormat {
    Jsonl,
    Agentium,
    #[value(alias = "markdown")]
    Shared,
    Radium,
    History,
    Workspace,
    ServerMemory,
    Mem0,
    ClaudeMem,
    BasicMemory,
    ClaudeMemory,
    CodexMemories,
    CursorRules,
    #[value(name = "chatgpt")]
    ChatGpt,
    ClaudeAi,
    AiAgentChat,
}

/// Returns the parser of a format: the table of programs has the names of conversations.
pub(super) fn format_parser() -> impl TypedValueParser<Value = ImportFormat> {
    let data = DataFormat::value_variants().iter();
    let data = data.filter_map(ValueEnum::to_possible_value);
    let programs = AgentProgram::with_transcripts().map(|program| {
        let aliases = (program.import_name() != program.as_str()).then_some(program.as_str());
        PossibleValue::new(program.import_name()).aliases(aliases)
    });
    PossibleValuesParser::new(data.chain(programs)).try_map(|name| {
        let is_named = |one: &AgentProgram| one.import_name() == name || one.as_str() == name;
        match AgentProgram::with_transcripts().find(is_named) {
            Some(program) => Ok(ImportFormat::Conversations(program)),
            None => DataFormat::from_str(&name, false).map(ImportFormat::Data),
        }
    })
}

impl ImportFormat {
    /// Returns true for data of this format.
    pub(super) fn is(self, format: DataFormat) -> bool {
        matches!(self, Self::Data(own) if own == format)
    }

    /// Returns true if `--dry-run` is available.
    pub(super) fn can_be_dry(self) -> bool {
        match self {
            Self::Conversations(_) => true,
            Self::Data(format) => match format {
                DataFormat::Radium
                | DataFormat::History
                | DataFormat::Workspace
                | DataFormat::ServerMemory
                | DataFormat::Mem0
                | DataFormat::ClaudeMem
                | DataFormat::BasicMemory
                | DataFormat::ClaudeMemory
                | DataFormat::CodexMemories
                | DataFormat::CursorRules
                | DataFormat::ChatGpt
                | DataFormat::ClaudeAi
                | DataFormat::AiAgentChat => true,
                DataFormat::Jsonl | DataFormat::Agentium | DataFormat::Shared => false,
            },
        }
    }
}
