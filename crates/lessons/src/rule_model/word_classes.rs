//! Word classes: groups of words by which a lasting rule differs from a request. A misspelled word is found as well. The
//! groups are in `data/rule_words.toml`.

use super::typing_errors::is_misspelling;

/// Phrases that begin with the same word.
#[derive(Debug)]
pub(crate) struct FirstWord {
    /// The first word.
    word: &'static str,
    /// The other words of each phrase, and its class.
    rests: &'static [(&'static [&'static str], usize)],
}

include!(concat!(env!("OUT_DIR"), "/rule_words.rs"));

/// Number of classes.
pub(crate) const CLASS_COUNT: usize = CLASS_NAMES.len();
/// Greatest number of tokens of a sentence that are read.
const TOKENS_MAX: usize = 120;
/// Word in place of a code span.
pub(super) const CODE: &str = "`";
/// Words before the first word of a clause that belong to no clause.
const CONNECTORS: [&str; 47] = [
    "actually", "aber", "ah", "also", "always", "and", "bitte", "btw", "but", "dann", "donc", "e",
    "et", "hey", "however", "hi", "hm", "hmm", "ja", "just", "lets", "mais", "mas", "nein", "no",
    "nope", "oh", "ok", "okay", "or", "pero", "please", "pls", "plz", "really", "so", "stp", "svp",
    "that", "then", "und", "well", "y", "yeah", "yes", "you", "remember",
];
/// Connectors in the middle of a sentence after which a clause begins.
const CONJUNCTIONS: [&str; 12] = [
    "and", "but", "so", "then", "or", "und", "aber", "et", "mais", "y", "pero", "mas",
];
/// First words of a statement about what was found.
const FACT_SUBJECTS: [&str; 22] = [
    "it", "its", "this", "thats", "there", "theres", "they", "these", "those", "i", "im", "ive",
    "same", "still", "again", "same", "looks", "you", "he", "es", "il", "ça",
];
/// Verbs of a statement about how something is.
const STATE_VERBS: [&str; 20] = [
    "is", "are", "was", "were", "has", "have", "had", "does", "did", "got", "ist", "sind", "war",
    "hat", "est", "sont", "était", "es", "está", "son",
];
/// Words by which such a statement is a wish: "the answer is too long".
const EXCESS: [&str; 8] = [
    "too",
    "zu",
    "trop",
    "demasiado",
    "muy",
    "better",
    "enough",
    "rather",
];
/// Errors of typing in `do not`, the shortest words of which an error turns the meaning.
const MISTYPED_NOT: [&str; 5] = ["nit", "noy", "nto", "mot", "nt"];

/// Classes of a sentence.
#[derive(Debug, Default)]
pub(crate) struct SentenceClasses {
    /// The words and marks.
    pub(super) tokens: Vec<String>,
    /// For each class, the first token at which one of its phrases is.
    pub(super) first: Vec<Option<usize>>,
    /// Tokens that begin a clause.
    pub(super) starts: Vec<bool>,
    /// Number of words that belong to no class.
    pub(super) other_words: usize,
}

impl SentenceClasses {
    /// Reads a sentence.
    pub(crate) fn read(sentence: &str) -> Self {
        let tokens = tokenize(sentence);
        let mut classes = Self {
            starts: clause_starts(&tokens),
            tokens,
            first: vec![None; CLASS_COUNT],
            other_words: 0,
        };
        let mut at = 0;
        while let Some(token) = classes.tokens.get(at) {
            let is_start = classes.starts.get(at).copied().unwrap_or_default();
            let rest = classes.tokens.get(at + 1..).unwrap_or_default();
            let (length, found) = longest_phrases(token, rest, is_start);
            if found.is_empty() && token.chars().count() > 2 {
                classes.other_words += 1;
            }
            for class in found {
                classes
                    .first
                    .get_mut(class)
                    .map(|first| first.get_or_insert(at));
            }
            at += length.max(1);
        }
        if classes.is_unspaced() {
            let lower = sentence.to_lowercase();
            let found = UNSPACED_PHRASES
                .iter()
                .filter(|(phrase, _)| lower.contains(*phrase));
            for (_, class) in found {
                classes
                    .first
                    .get_mut(*class)
                    .map(|first| first.get_or_insert(0));
            }
        }
        classes
    }

    /// Returns true if the sentence has a phrase of the class.
    pub(crate) fn has(&self, class: usize) -> bool {
        self.first.get(class).is_some_and(Option::is_some)
    }

    /// Returns true if the sentence says how something is, and not how it shall be: "there are new comments", "the
    /// answer is right", in contrast to "the answer is too long".
    pub(super) fn states_fact(&self) -> bool {
        const NORMS: [usize; 6] = [
            OBLIGATION,
            PREFERENCE,
            CONTRAST,
            PROHIBITION,
            COMPLAINT,
            ALWAYS,
        ];
        let is_norm = NORMS.iter().any(|class| self.has(*class));
        let has = |words: &[&str]| {
            self.tokens
                .iter()
                .any(|token| words.contains(&token.as_str()))
        };
        let mut content = self.tokens.iter().map(String::as_str);
        let first = content.find(|token| !is_mark_token(token) && !is_connector(token));
        let is_about_it = first.is_some_and(|first| FACT_SUBJECTS.contains(&first));
        !is_norm && (is_about_it || has(&STATE_VERBS) && !has(&EXCESS))
    }

    /// Returns true if the sentence is in a script without blanks between words.
    pub(super) fn is_unspaced(&self) -> bool {
        self.tokens
            .iter()
            .any(|token| token.chars().any(crate::sentences::is_cjk))
    }
}

/// Returns the longest phrases at a token: their number of tokens, and their classes.
fn longest_phrases(token: &str, rest: &[String], is_start: bool) -> (usize, Vec<usize>) {
    if token == "do"
        && rest
            .first()
            .is_some_and(|next| MISTYPED_NOT.contains(&next.as_str()))
    {
        return (2, vec![PROHIBITION]);
    }
    let (mut length, mut found) = (0, Vec::new());
    let mut take = |first: &FirstWord| {
        for (others, class) in first.rests {
            let is_elsewhere = !is_start
                && CLASS_NAMES
                    .get(*class)
                    .is_some_and(|name| name.ends_with("_start"));
            let is_here = others.len() <= rest.len()
                && others
                    .iter()
                    .zip(rest)
                    .all(|(known, typed)| known == typed || is_typo(typed, known));
            if !is_here || is_elsewhere || others.len() + 1 < length {
                continue;
            }
            if others.len() + 1 > length {
                found.clear();
                length = others.len() + 1;
            }
            found.push(*class);
        }
    };
    match PHRASES.binary_search_by(|first| first.word.cmp(token)) {
        Ok(at) => PHRASES.get(at).into_iter().for_each(&mut take),
        Err(_) if token.is_ascii() => {
            let letter = token.get(..1).unwrap_or_default();
            let from = PHRASES.partition_point(|first| first.word < letter);
            let same_letter = PHRASES.get(from..).unwrap_or_default().iter();
            same_letter
                .take_while(|first| first.word.starts_with(letter))
                .filter(|first| is_misspelling(token, first.word))
                .for_each(&mut take);
        }
        Err(_) => {}
    }
    (length, found)
}

/// Returns true if `typed`, which is no known first word itself, is a misspelling of `known`.
fn is_typo(typed: &str, known: &str) -> bool {
    is_misspelling(typed, known)
        && PHRASES
            .binary_search_by(|first| first.word.cmp(typed))
            .is_err()
}

/// Returns the words of a sentence in lower case without apostrophes, its marks, and [`CODE`] for each code span.
fn tokenize(sentence: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut is_code = false;
    let mut chars = sentence.chars().peekable();
    while let Some(c) = chars.next() {
        let is_inner = matches!(c, '-' | '_' | '.' | '/')
            && !word.is_empty()
            && chars.peek().is_some_and(|next| next.is_alphanumeric());
        match c {
            '`' => {
                is_code = !is_code;
                if is_code {
                    tokens.push(CODE.to_owned());
                }
            }
            _ if is_code => {}
            '\'' | '’' => {}
            c if c.is_alphanumeric() || is_inner => word.extend(c.to_lowercase()),
            c => {
                if !word.is_empty() {
                    tokens.push(std::mem::take(&mut word));
                }
                if is_mark(c) {
                    tokens.push(c.to_string());
                }
            }
        }
        if tokens.len() >= TOKENS_MAX {
            return tokens;
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    tokens
}

fn is_mark(c: char) -> bool {
    matches!(
        c,
        '.' | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '…'
            | '('
            | ')'
            | '–'
            | '—'
            | '，'
            | '。'
            | '！'
            | '？'
            | '：'
            | '；'
    )
}

/// Returns true if the token is a mark between clauses.
pub(super) fn is_mark_token(token: &str) -> bool {
    token.chars().all(is_mark)
}

/// Returns true if the token belongs to no clause.
pub(super) fn is_connector(token: &str) -> bool {
    CONNECTORS.contains(&token)
}

/// Returns which tokens begin a clause: the first words after marks, with the connectors before them.
fn clause_starts(tokens: &[String]) -> Vec<bool> {
    let mut can_start = true;
    let start = |token: &String| {
        if is_mark_token(token) {
            can_start = true;
            return false;
        }
        let is_start = can_start;
        can_start = (can_start && is_connector(token)) || CONJUNCTIONS.contains(&token.as_str());
        is_start
    };
    tokens.iter().map(start).collect()
}
