//! Cues of rules by people: phrases with weights, compiled by `build.rs` from `data/person_rules.toml`.

use std::ops::Range;

mod phrase_search;
#[cfg(test)]
mod tests;
mod word_forms;
mod word_match;

use phrase_search::{Phrase, find_phrases};
use word_forms::{is_basic_form, word_forms};
use word_match::{
    contains_word, ends_clause, has_boundaries, has_second_word, is_clause_mark,
    starts_with_word_or_ending,
};
pub(crate) use word_match::{ends_with_word, normalize, starts_with_word};

/// Greatest number of phrases of a sentence that are evaluated.
const FOUND_MAX: usize = 128;
/// Greatest number of determiners before the head of a noun phrase.
const DETERMINERS_MAX: usize = 4;
/// Greatest number of bytes between a cue and the object that refines it.
const OBJECT_GAP_MAX: usize = 24;

/// Cues of rules by people and their phrases.
#[derive(Debug)]
pub(crate) struct PersonRuleCues {
    /// Sum of weights from which on a sentence is a rule.
    pub(crate) threshold: f32,
    /// Worth of a rule at the threshold, its growth per point above, and its maximum.
    pub(crate) worth: [f32; 3],
    /// Worth of a check that only suggests a preference.
    pub(crate) weak_worth: f32,
    /// Words that the reader of turns needs.
    pub(crate) turns: TurnWords,
    /// Words before a clause that belong to no clause.
    connectors: &'static [&'static str],
    /// Connectors after which a clause begins wherever they are.
    conjunctions: &'static [&'static str],
    /// Words before the head of a generic noun phrase.
    determiners: &'static [&'static str],
    /// Words that are no verbs in their basic form.
    no_verbs: &'static [&'static str],
    cues: &'static [Cue],
    /// Phrases of the cues, in order.
    phrases: &'static [Phrase],
    /// Cues of word forms.
    form_cues: &'static [(WordForm, usize)],
}

/// Words that the reader of turns needs, in lower case except those of rejections.
#[derive(Debug)]
pub(crate) struct TurnWords {
    /// Interjections before a sentence if a mark follows.
    lead_ins: &'static [&'static str],
    /// Interjections without a mark after them.
    soft_lead_ins: &'static [&'static str],
    /// Words of a question that is a polite instruction.
    pub(crate) polite: &'static [&'static str],
    /// First words of a sentence whose subject the sentence before it names.
    pub(crate) pronouns: &'static [&'static str],
    /// Last words of a sentence that refer to the sentence before it.
    pub(crate) pronoun_ends: &'static [&'static str],
    /// First words of a reason.
    pub(crate) reasons: &'static [&'static str],
    /// First words of a question about work that should be done.
    pub(crate) check_starts: &'static [&'static str],
    /// Words of which one follows those.
    pub(crate) check_verbs: &'static [&'static str],
    /// Complete questions about work that should be done.
    pub(crate) check_phrases: &'static [&'static str],
    /// First words of a request.
    pub(crate) request_starts: &'static [&'static str],
    /// Last words of an impatient request.
    pub(crate) request_ends: &'static [&'static str],
    /// Words that withdraw the last turn.
    pub(crate) withdrawals: &'static [&'static str],
    /// Beginnings of lines that a program wrote.
    pub(crate) machine_starts: &'static [&'static str],
    /// Beginnings of the results of rejected calls.
    pub(crate) rejections: &'static [&'static str],
    /// Words before the person's reason in those.
    pub(crate) rejection_reasons: &'static [&'static str],
    /// Words after it.
    pub(crate) rejection_ends: &'static [&'static str],
}

/// Category of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleCategory {
    Convention,
    Preference,
    Decision,
    Correction,
}

/// Place that a cue needs in its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CuePlace {
    Any,
    /// First in a clause.
    Clause,
    /// First in the sentence, after interjections.
    Start,
    /// Last in a clause.
    End,
    /// Head of the first noun phrase of a clause.
    Subject,
}

/// Form of a word that a cue has instead of phrases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordForm {
    /// Path, file name or pattern of file names.
    Path,
    /// Code span.
    Code,
    /// Noun in the plural, as far as its last letter shows it.
    Plural,
}

/// Phrases with the same meaning.
#[derive(Debug)]
struct Cue {
    name: &'static str,
    category: Option<RuleCategory>,
    weight: f32,
    at: CuePlace,
    /// Name of the cue that it refines: it counts in the text of that cue, and only if that cue counts.
    refines: Option<&'static str>,
    /// Maximum of the worth of a rule with this cue.
    worth: Option<f32>,
    /// Words of which one comes directly before it.
    previous: &'static [&'static str],
    /// Words of which one comes directly after it; `<verb>` is an English verb in its basic form, `*es` a word that
    /// ends so.
    next: &'static [&'static str],
    not_next: &'static [&'static str],
    not_previous: &'static [&'static str],
    second_not: &'static [&'static str],
    with: &'static [&'static str],
    /// True if words of a form count as its phrases.
    has_form: bool,
}

/// Evaluation of a sentence.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SentenceScore {
    /// Sum of the weights of its cues.
    pub(crate) total: f32,
    /// Sum of the positive weights.
    pub(crate) positive: f32,
    /// Category of the cue with the greatest weight that has one, and that weight.
    pub(crate) category: Option<(RuleCategory, f32)>,
    /// True if the sentence contradicts the agent.
    pub(crate) is_correction: bool,
    /// Maximum of the worth.
    pub(crate) worth_max: Option<f32>,
    /// Names of all cues, including those whose text counts for another one.
    #[cfg(test)]
    pub(crate) names: Vec<String>,
}

impl PersonRuleCues {
    /// Built-in cues.
    pub(super) const BUILT_IN: Self = include!(concat!(env!("OUT_DIR"), "/person_rules.rs"));

    /// Evaluates a sentence in the form of [`normalize`].
    pub(crate) fn score(&self, sentence: &str) -> SentenceScore {
        #[cfg(test)]
        let mut names = Vec::new();
        let mut found: Vec<(&Cue, usize, Range<usize>)> = Vec::new();
        let phrases = find_phrases(self.phrases, sentence).into_iter();
        let forms = word_forms(sentence).flat_map(|(form, span)| {
            let cues = self.form_cues.iter().filter(move |(one, _)| *one == form);
            cues.map(move |(_, index)| (*index, span.clone()))
        });
        for (index, span) in phrases.chain(forms) {
            let Some(cue) = self.cues.get(index) else {
                continue;
            };
            if found.len() < FOUND_MAX && self.is_cue(cue, sentence, span.clone()) {
                #[cfg(test)]
                names.push(cue.name.to_owned());
                found.push((cue, index, span));
            }
        }
        // A refinement comes after the cue that it refines.
        found.sort_by(|(one, ..), (other, ..)| {
            let refines = one.refines.is_some().cmp(&other.refines.is_some());
            refines.then(other.weight.total_cmp(&one.weight))
        });
        let mut score = SentenceScore {
            #[cfg(test)]
            names,
            ..SentenceScore::default()
        };
        let mut counted: Vec<(&Cue, usize, Range<usize>)> = Vec::new();
        for (cue, index, span) in found {
            let is_free = match &cue.refines {
                Some(name) => counted.iter().any(|(other, _, refined)| {
                    let gap = span.start.checked_sub(refined.end);
                    other.name == *name
                        && (!cue.has_form || gap.is_some_and(|gap| gap <= OBJECT_GAP_MAX))
                }),
                None => {
                    cue.weight < 0.0
                        || !counted
                            .iter()
                            .any(|(_, _, other)| span.start < other.end && other.start < span.end)
                }
            };
            if is_free && !counted.iter().any(|(_, other, _)| *other == index) {
                score.add(cue);
                counted.push((cue, index, span));
            }
        }
        score
    }

    /// Returns true if the phrase at `span` is the cue there.
    fn is_cue(&self, cue: &Cue, sentence: &str, span: Range<usize>) -> bool {
        let before = sentence.get(..span.start).unwrap_or_default();
        let after = sentence.get(span.end..).unwrap_or_default();
        let phrase = sentence.get(span).unwrap_or_default();
        if !cue.has_form && !has_boundaries(before, phrase, after) {
            return false;
        }
        let is_at = match cue.at {
            CuePlace::Any => true,
            CuePlace::Start => self.is_lead_in(before),
            CuePlace::Clause => self.is_clause_start(before),
            CuePlace::Subject => self.is_subject(before),
            CuePlace::End => after.trim_start().chars().next().is_none_or(ends_clause),
        };
        let rest = after.trim_start();
        let starts = |list: &[&str]| {
            list.iter()
                .any(|word| starts_with_word_or_ending(rest, word))
        };
        let previous = before.trim_end();
        let ends = |list: &[&str]| list.iter().any(|word| ends_with_word(previous, word));
        is_at
            && (cue.next.is_empty() || starts(cue.next) || self.is_before_verb(cue, rest))
            && (cue.previous.is_empty() || ends(cue.previous))
            && !starts(cue.not_next)
            && !ends(cue.not_previous)
            && (cue.second_not.is_empty() || has_second_word(rest, cue.second_not))
            && (cue.with.is_empty() || cue.with.iter().any(|word| contains_word(after, word)))
    }

    /// Returns true if a clause begins after `before`.
    fn is_clause_start(&self, before: &str) -> bool {
        let mut before = before.trim_end();
        for _ in 0..4 {
            let Some(last) = before.chars().next_back() else {
                return true;
            };
            if self.is_lead_in(before)
                || ends_clause(last)
                || matches!(last, '(' | '-' | '–' | '—' | '/')
            {
                return true;
            }
            let is_last = |word: &&&str| ends_with_word(before, word);
            if self.conjunctions.iter().any(|word| is_last(&word)) {
                return true;
            }
            let Some(word) = self.connectors.iter().find(is_last) else {
                return false;
            };
            let length = before.len() - word.len();
            before = before.get(..length).unwrap_or_default().trim_end();
        }
        false
    }

    /// Returns true if the cue comes before an English verb and `rest` begins with one.
    fn is_before_verb(&self, cue: &Cue, rest: &str) -> bool {
        cue.next.contains(&"<verb>")
            && is_basic_form(rest)
            && !self
                .no_verbs
                .iter()
                .any(|word| starts_with_word(rest, word))
    }

    /// Returns true if only determiners are between the beginning of a clause and the end of `before`.
    fn is_subject(&self, before: &str) -> bool {
        let mut before = before.trim_end();
        for _ in 0..DETERMINERS_MAX {
            let last = self.determiners.iter();
            let last = last.filter(|word| ends_with_word(before, word));
            let Some(word) = last.max_by_key(|word| word.len()) else {
                break;
            };
            let length = before.len() - word.len();
            before = before.get(..length).unwrap_or_default().trim_end();
        }
        self.is_clause_start(before)
    }

    /// Returns true if the text before a word consists of interjections.
    fn is_lead_in(&self, before: &str) -> bool {
        self.skip_lead_ins(before, false) == before.len()
    }

    /// Returns the length of the interjections at the beginning of a normalized sentence.
    pub(crate) fn lead_in_length(&self, sentence: &str) -> usize {
        self.skip_lead_ins(sentence, true)
    }

    /// Returns the length of the interjections. The last one needs no mark after it if the sentence `ends` there.
    fn skip_lead_ins(&self, sentence: &str, ends: bool) -> usize {
        let mut rest = sentence;
        loop {
            rest = rest.trim_start_matches(|c: char| c == ' ' || c == '-' || is_clause_mark(c));
            let marked = self.turns.lead_ins.iter().filter(|word| {
                let after = || rest.get(word.len()..).unwrap_or_default();
                starts_with_word(rest, word)
                    && match after().trim_start().chars().next() {
                        Some(c) => is_clause_mark(c) || matches!(c, '-' | '–' | '—'),
                        None => ends,
                    }
            });
            let soft = &self.turns.soft_lead_ins;
            let soft = soft.iter().filter(|word| starts_with_word(rest, word));
            let Some(length) = marked.chain(soft).map(|word| word.len()).max() else {
                return sentence.len() - rest.len();
            };
            rest = rest.get(length..).unwrap_or_default();
        }
    }
}

impl SentenceScore {
    fn add(&mut self, cue: &Cue) {
        self.total += cue.weight;
        self.positive += cue.weight.max(0.0);
        self.is_correction |= cue.category == Some(RuleCategory::Correction);
        if let Some(worth) = cue.worth {
            self.worth_max = Some(self.worth_max.map_or(worth, |max| max.max(worth)));
        }
        if let Some(category) = cue.category
            && self.category.is_none_or(|(_, weight)| cue.weight > weight)
        {
            self.category = Some((category, cue.weight));
        }
    }
}
