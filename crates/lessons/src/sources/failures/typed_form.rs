//! Forms of a command that a person typed after it failed: "no, uv run lint .github".

use super::open_failure::OpenFailure;
use crate::bounded_text::bounded;
use crate::command_run::CommandRun;
use crate::sources::command_variant::{CommandVariant, VariantKind};
use serde::{Deserialize, Serialize};

/// Words of a typed command that are kept.
const WORDS_MAX: usize = 12;
/// Bytes of a word.
const WORD_BYTES_MAX: usize = 80;
/// Bytes of a prompt that are read.
const PROMPT_BYTES_MAX: usize = 4_000;

/// Words that a person typed, from the name of a failed program on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TypedForm {
    program: String,
    words: Vec<String>,
    /// Number of calls before the prompt.
    call: u64,
}

impl TypedForm {
    /// Finds a command of a program that failed in a prompt.
    pub(super) fn read(prompt: &str, failed: &[OpenFailure], call: u64) -> Option<Self> {
        let head = prompt.get(..prompt.floor_char_boundary(PROMPT_BYTES_MAX))?;
        let programs = failed.iter().filter_map(|open| program_of(open));
        let programs: Vec<&str> = programs.filter(|program| program.len() >= 2).collect();
        head.lines().find_map(|line| {
            let mut words = line.split_whitespace().map(|word| {
                let word = word.trim_start_matches(['`', '"', '\'']);
                word.trim_end_matches(['`', '"', '\'', ',', ';', ':', '!'])
            });
            let program = words.find(|word| programs.contains(word))?;
            let rest = words.take(WORDS_MAX);
            Some(Self {
                program: bounded(program, WORD_BYTES_MAX),
                words: rest.map(|word| bounded(word, WORD_BYTES_MAX)).collect(),
                call,
            })
        })
    }

    /// Returns the variant if a run that passed has the typed words, and the failed one had others.
    pub(super) fn variant(&self, open: &OpenFailure, run: &CommandRun) -> Option<CommandVariant> {
        let failed = open.failed_part()?;
        let is_later = open.last_call <= self.call && program_of(open) == Some(&self.program);
        let part = run.parts.iter().find(|part| {
            let program = part.family.split(' ').next();
            let mut typed = self.words.iter().zip(&part.words);
            let is_typed = self.words.len() >= part.words.len()
                && typed.all(|(typed, word)| typed == word || typed.trim_end_matches('.') == word);
            program == Some(&self.program) && is_typed && part.words != failed.words
        })?;
        is_later.then(|| CommandVariant {
            kind: VariantKind::Program,
            text: part.text.clone(),
        })
    }
}

fn program_of(open: &OpenFailure) -> Option<&str> {
    open.failed_part()?.family.split(' ').next()
}
