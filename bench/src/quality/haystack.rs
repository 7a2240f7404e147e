//! A haystack that is scored here, by the parts of the index, so that each of them can be left out.
//!
//! Nothing left out, it gives the lists that the store gives; the ablation prints for how many questions.

use heirloom_engine::recall::{Asked, Asking, Candidate, Item, Ranked, rank};
use heirloom_index::code::{self, Codes};
use heirloom_index::score::{Spread, Totals, Weights, best};
use heirloom_index::vector::{Document as Meaning, EMPTY_ROW, Question as MeaningAsked};
use heirloom_index::words::{HEAD_STEMS, Question, Stem, Term, stems};
use heirloom_model::{Record, Scope, Timestamp, limits};
use heirloom_store::Hit;
use std::collections::HashMap;

/// What a vector's score counts beside the words': the store's number.
const VECTOR: f32 = 1.5;
/// Candidates of each arm.
const EACH: usize = 50;

/// What can be left out of the index and of the reading of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Without {
    /// Nothing.
    Nothing,
    /// What hyphens and underscores join, as one word.
    Joined,
    /// The parts of names in camel case.
    CamelParts,
    /// The head counted once more.
    Head,
    /// The list of words that say little: a question keeps them.
    StopWords,
    /// How rare a piece is, in the vector of a question.
    Rarity,
    /// Counts and lengths rounded to what one byte holds.
    Rounding,
}

/// A text, taken apart once.
struct Text {
    stems: Vec<Stem>,
    joined: Vec<Term>,
    first_line_end: usize,
}

/// Texts of one haystack.
pub(crate) struct Haystack<'r> {
    records: &'r [Record],
    texts: Vec<Text>,
    rows: Vec<u8>,
    pieces: HashMap<u16, u32>,
    now: Timestamp,
}

/// One text's count of a stem.
struct Posting {
    text: usize,
    len: u32,
    head_len: u32,
    count: u32,
    in_head: u32,
}

/// The postings of all texts, without something.
pub(crate) struct Postings {
    without: Without,
    terms: HashMap<Term, Vec<Posting>>,
    weights: Weights,
}

impl<'r> Haystack<'r> {
    /// Takes the texts apart.
    pub(crate) fn of(records: &'r [Record], now: Timestamp) -> Self {
        let mut rows = Vec::new();
        let mut pieces = HashMap::new();
        for record in records {
            match Meaning::of(&record.text) {
                Some(meaning) => {
                    rows.extend_from_slice(&meaning.vector.to_bytes());
                    for piece in meaning.distinct {
                        *pieces.entry(piece).or_default() += 1;
                    }
                }
                None => rows.extend_from_slice(&EMPTY_ROW),
            }
        }
        Self {
            records,
            texts: records
                .iter()
                .map(|record| Text::of(&record.text))
                .collect(),
            rows,
            pieces,
            now,
        }
    }

    /// The postings of all texts.
    pub(crate) fn postings(&self, without: Without) -> Postings {
        let mut terms: HashMap<Term, Vec<Posting>> = HashMap::new();
        let mut totals = Totals::default();
        for (text, parts) in self.texts.iter().enumerate() {
            let kept: Vec<&Stem> = parts
                .stems
                .iter()
                .filter(|stem| parts.keeps(stem, without))
                .collect();
            let heads = kept.iter().take(HEAD_STEMS);
            let head_len = heads
                .take_while(|stem| stem.at < parts.first_line_end)
                .count();
            let (len, head_len) = (length(kept.len()), length(head_len));
            totals.texts += 1;
            totals.len += u64::from(len);
            totals.head_len += u64::from(head_len);
            for (place, stem) in (0..).zip(kept) {
                let list = terms.entry(stem.term).or_default();
                if list.last().is_none_or(|last| last.text != text) {
                    list.push(Posting {
                        text,
                        len,
                        head_len,
                        count: 0,
                        in_head: 0,
                    });
                }
                if let Some(posting) = list.last_mut() {
                    posting.count += 1;
                    posting.in_head += u32::from(place < head_len);
                }
            }
        }
        Postings {
            without,
            terms,
            weights: Weights::of(totals),
        }
    }

    /// The answers to a question, best first.
    pub(crate) fn ranked(&self, postings: &Postings, asked: &Asked) -> Vec<Ranked> {
        let question = postings.question(&asked.text);
        let (lexical, dfs) = postings.scores(&question, self.records.len());
        let vector = self.meanings(&asked.text, postings.without);
        let count = self.records.len() as u64;
        let spreads = (Spread::of(&lexical, count), Spread::of(&vector, count));
        let mut places: Vec<usize> = [&lexical, &vector]
            .into_iter()
            .flat_map(|scores| best(scores, EACH, |_| true))
            .map(|(place, _)| place)
            .collect();
        places.sort_unstable();
        places.dedup();
        let at = |scores: &[f32], place: usize| scores.get(place).copied().unwrap_or(0.0);
        let z = |scores: &[f32], spread: &Spread, place: usize| {
            scores.get(place).map_or(0.0, |score| spread.z(*score))
        };
        let candidate = |place: usize| Candidate {
            hit: Hit {
                id: self.records[place].id,
                is_turn: false,
                lexical: at(&lexical, place),
                vector: at(&vector, place),
                score: z(&lexical, &spreads.0, place) + VECTOR * z(&vector, &spreads.1, place),
                conversation: 0.0,
            },
            item: Item::Record(Box::new(self.records[place].clone())),
        };
        let asking = Asking {
            asked,
            near: &Scope::default(),
            now: self.now,
            terms: &question.terms,
            pairs: &question.pairs,
            dfs: &dfs,
            searched: count,
            stems: &plain_stems,
        };
        rank(&asking, places.into_iter().map(candidate).collect())
    }

    fn meanings(&self, text: &str, without: Without) -> Vec<f32> {
        let df = |piece| self.pieces.get(&piece).copied().unwrap_or(0);
        let asked = if without == Without::Rarity {
            MeaningAsked::of(text, 0, |_| 0)
        } else {
            MeaningAsked::of(text, length(self.records.len()), df)
        };
        let mut scores = Vec::new();
        if let Some(asked) = asked {
            asked.scores(&self.rows, &mut scores);
        }
        scores
    }
}

impl Text {
    fn of(text: &str) -> Self {
        let first_line = text.trim_start();
        let skipped = text.len() - first_line.len();
        Self {
            stems: stems(text),
            joined: joined(text),
            first_line_end: skipped + first_line.find('\n').unwrap_or(first_line.len()),
        }
    }

    fn keeps(&self, stem: &Stem, without: Without) -> bool {
        let is_joined = || self.joined.contains(&stem.term);
        let is_left_out = stem.is_extra
            && match without {
                Without::Joined => is_joined(),
                Without::CamelParts => !is_joined(),
                Without::Nothing
                | Without::Head
                | Without::StopWords
                | Without::Rarity
                | Without::Rounding => false,
            };
        !is_left_out
    }
}

impl Postings {
    fn question(&self, text: &str) -> Question {
        let mut question = Question::of(text);
        match self.without {
            Without::StopWords => {
                // Its neighbours stay those of the words that say something: that is a signal of its own.
                for stem in stems(text) {
                    if !question.terms.contains(&stem.term) {
                        question.terms.push(stem.term);
                    }
                }
                question.terms.truncate(limits::QUESTION_TERMS_MAX);
            }
            Without::Joined | Without::CamelParts => {
                let parts = Text::of(text);
                let kept: Vec<Term> = parts
                    .stems
                    .iter()
                    .filter(|stem| parts.keeps(stem, self.without))
                    .map(|stem| stem.term)
                    .collect();
                // A term stays in its place, so that the pairs do; one that is nowhere adds nothing.
                for term in &mut question.terms {
                    if !kept.contains(term) {
                        *term = Term(u64::MAX);
                    }
                }
            }
            Without::Nothing | Without::Head | Without::Rarity | Without::Rounding => {}
        }
        question
    }

    fn scores(&self, question: &Question, texts: usize) -> (Vec<f32>, Vec<u64>) {
        let mut scores = vec![0.0; texts];
        let mut dfs = Vec::new();
        for term in &question.terms {
            let list = self.terms.get(term).map_or(&[][..], Vec::as_slice);
            let codes: Vec<u8> = list.iter().map(Posting::code).collect();
            let df = list.len() as u64;
            let head_df = if self.without == Without::Rounding {
                list.iter().filter(|posting| posting.in_head > 0).count()
            } else {
                let in_head = codes.iter().filter(|code| code::is_in_head(**code));
                in_head.count()
            } as u64;
            let table = Codes::of(self.weights).table(df, head_df);
            for (posting, code) in list.iter().zip(codes) {
                scores[posting.text] += match self.without {
                    Without::Rounding => self.exact(posting, df, head_df),
                    Without::Head => {
                        let meaning = code::decode(code);
                        self.weights.full(df, meaning.count, meaning.len)
                    }
                    Without::Nothing
                    | Without::Joined
                    | Without::CamelParts
                    | Without::StopWords
                    | Without::Rarity => table[usize::from(code)],
                };
            }
            dfs.push(df);
        }
        (scores, dfs)
    }

    fn exact(&self, posting: &Posting, df: u64, head_df: u64) -> f32 {
        let exact = |count: u32| count as f32;
        let head_len = Some(exact(posting.head_len));
        self.weights
            .full(df, exact(posting.count), exact(posting.len))
            + self.weights.head(head_df, exact(posting.in_head), head_len)
    }
}

impl Posting {
    fn code(&self) -> u8 {
        code::encode(self.len, self.count, self.in_head)
    }
}

fn length(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The joined forms in a text, as terms.
fn joined(text: &str) -> Vec<Term> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut found = Vec::new();
    for run in text.split(|c: char| !is_part(c)) {
        let run = run.trim_matches(['-', '_']);
        if !run.contains(['-', '_']) {
            continue;
        }
        // In small letters, else the joined form would be taken for a name in camel case.
        let whole: String = run.chars().filter(char::is_ascii_alphanumeric).collect();
        found.extend(
            stems(&whole.to_ascii_lowercase())
                .first()
                .map(|stem| stem.term),
        );
    }
    found
}

/// The stems of a text, as the engine takes them for neighbours.
fn plain_stems(text: &str) -> Vec<Term> {
    let plain = stems(text).into_iter().filter(|stem| !stem.is_extra);
    plain
        .map(|stem| stem.term)
        .take(limits::RECALL_PAIR_WORDS_MAX)
        .collect()
}
