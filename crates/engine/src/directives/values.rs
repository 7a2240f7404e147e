//! The directives that there are, and what each takes.

use super::parser::{Reader, Word};
use super::{Directive, Input, Lines, Name, SyntaxError};
use heirloom_model::limits::{
    CONTEXT_BUDGET_CHARS_MAX, CONTEXT_BUDGET_TOKENS_MAX, DIRECTIVE_FILES_MAX,
    DIRECTIVE_TAIL_LINES_MAX, PATH_BYTES_MAX, RECALL_QUERY_BYTES_MAX,
};
use heirloom_model::{Budget, text};

pub(super) const KNOWN: &str = "known are `input`, `tail`, `recall` and `budget`";

/// A directive by its name.
#[derive(Clone, Copy)]
pub(super) enum Known {
    Input,
    Tail,
    Recall,
    Budget,
}

const ALL: [(&str, Known); 4] = [
    ("input", Known::Input),
    ("tail", Known::Tail),
    ("recall", Known::Recall),
    ("budget", Known::Budget),
];

pub(super) fn known(name: &str) -> Option<Known> {
    let found = ALL.iter().find(|(known, _)| *known == name);
    found.map(|(_, known)| *known)
}

pub(super) fn name_of(directive: &Directive) -> &'static str {
    match directive {
        Directive::Input(_) => "input",
        Directive::Tail(_) => "tail",
        Directive::Recall(_) => "recall",
        Directive::Budget(_) => "budget",
    }
}

/// What somebody may have meant by a name.
pub(super) fn nearest(name: &str) -> String {
    let short: String = name.chars().take(40).collect::<String>().to_lowercase();
    let near = ALL
        .iter()
        .map(|(known, _)| (strsim::osa_distance(known, &short), known));
    match near.min() {
        Some((distance, known)) if distance <= 2 => format!("did you mean `{known}`?"),
        Some(_) | None => KNOWN.to_owned(),
    }
}

impl Known {
    pub(super) fn example(self) -> &'static str {
        match self {
            Self::Input => "such as `input:docs/*.md,\"a, b.md\":10-40`",
            Self::Tail => "such as `tail:50`",
            Self::Recall => "such as `recall:why does the deploy fail`",
            Self::Budget => "such as `budget:4000` or `budget:1000 tokens`",
        }
    }

    /// Reads the value behind the colon of a directive at `at`, in brackets that were opened at `open`.
    pub(super) fn read(
        self,
        reader: &mut Reader<'_>,
        at: usize,
        open: usize,
    ) -> Result<Directive, SyntaxError> {
        if let Self::Input = self {
            return inputs(reader, open).map(Directive::Input);
        }
        let word = reader.word(&[';', '[', ']'], open)?;
        ended(reader, open, &[';', ']'])?;
        if word.text.trim().is_empty() {
            let problem = format!("`{}` has no value", name(self));
            return Err(reader.error(at, problem, self.example()));
        }
        let wrong = |problem: String| reader.error(word.at, problem, self.example());
        match self {
            Self::Tail => lines_of(&word.text).map(Directive::Tail).map_err(wrong),
            Self::Budget => budget(&word.text).map(Directive::Budget).map_err(wrong),
            Self::Input | Self::Recall => question(&word).map(Directive::Recall).map_err(wrong),
        }
    }
}

fn name(known: Known) -> &'static str {
    match known {
        Known::Input => "input",
        Known::Tail => "tail",
        Known::Recall => "recall",
        Known::Budget => "budget",
    }
}

/// Whether a value ends here, at one of `ends`.
fn ended(reader: &Reader<'_>, open: usize, ends: &[char]) -> Result<(), SyntaxError> {
    match reader.peek() {
        Some(c) if ends.contains(&c) => Ok(()),
        Some(c) if c != '[' => {
            let problem = "nothing may stand behind the closing quote";
            Err(reader.error_here(problem, "put all of it in quotes; a quote inside is `\\\"`"))
        }
        Some(_) | None => Err(reader.unexpected(open)),
    }
}

fn inputs(reader: &mut Reader<'_>, open: usize) -> Result<Vec<Input>, SyntaxError> {
    let mut all = Vec::new();
    loop {
        let input = input(reader, open)?;
        if all.len() == DIRECTIVE_FILES_MAX {
            let problem = format!("more than {DIRECTIVE_FILES_MAX} names");
            return Err(reader.error_here(problem, "name fewer files"));
        }
        all.push(input);
        if !reader.take(',') {
            return Ok(all);
        }
    }
}

fn input(reader: &mut Reader<'_>, open: usize) -> Result<Input, SyntaxError> {
    let word = reader.word(&[',', ';', '[', ']'], open)?;
    let (bare, range, range_at) = if word.is_quoted {
        let at = reader.position();
        let range = if reader.take(':') {
            let said = reader.word(&[',', ';', '[', ']'], open)?;
            match range_of(&format!(":{}", said.text)) {
                RangeText::None => RangeText::Bad("these are no lines", 0),
                range @ (RangeText::Some(..) | RangeText::Bad(..)) => range,
            }
        } else {
            RangeText::None
        };
        ended(reader, open, &[',', ';', ']'])?;
        (word.text.clone(), range, at)
    } else {
        if !matches!(reader.peek(), Some(',' | ';' | ']')) {
            return Err(reader.unexpected(open));
        }
        let range = range_of(&word.text);
        let cut = word.text.len() - range.len();
        (word.text[..cut].trim_end().to_owned(), range, word.at + cut)
    };
    if bare.trim().is_empty() {
        return Err(reader.error(word.at, "a file without a name", Known::Input.example()));
    }
    if bare.len() > PATH_BYTES_MAX {
        let problem = format!(
            "the name has {} bytes; at most {PATH_BYTES_MAX} are allowed",
            bare.len()
        );
        return Err(reader.error(word.at, problem, "name the file by a shorter path"));
    }
    let lines = match range {
        RangeText::None => None,
        RangeText::Some(lines, _) => Some(lines),
        RangeText::Bad(problem, _) => {
            let hint = "lines count from 1: `a.md:10`, `a.md:10-40`, `a.md:10-`";
            return Err(reader.error(range_at, problem, hint));
        }
    };
    let is_pattern = !word.is_quoted && is_pattern(&bare);
    let name = if is_pattern {
        Name::Pattern(bare)
    } else {
        Name::Exact(bare)
    };
    Ok(Input { name, lines })
}

/// Whether a name without quotes stands for what it matches.
pub(super) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// The lines at the end of a name, and the bytes that they take with their colon.
pub(super) enum RangeText {
    None,
    Some(Lines, usize),
    Bad(&'static str, usize),
}

impl RangeText {
    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Some(_, length) | Self::Bad(_, length) => *length,
        }
    }
}

/// The lines that a name without quotes ends with. Digits and a hyphen behind a colon are lines, right or wrong.
pub(super) fn range_of(name: &str) -> RangeText {
    let Some((_, said)) = name.rsplit_once(':') else {
        return RangeText::None;
    };
    let said = said.trim();
    let length = name.len() - name.rfind(':').unwrap_or(0);
    if said.is_empty() || said.contains(|c: char| !(c.is_ascii_digit() || c == '-')) {
        return RangeText::None;
    }
    let number = |digits: &str| digits.parse::<usize>().ok().filter(|&n| n <= MOST_LINES);
    let (from, to) = match said.split_once('-') {
        None => (number(said), Some(number(said))),
        Some((from, "")) => (number(from), None),
        Some((from, to)) => (number(from), Some(number(to))),
    };
    let bad = |problem| RangeText::Bad(problem, length);
    match (from, to) {
        (None, _) | (_, Some(None)) => bad("these are no lines"),
        (Some(0), _) => bad("there is no line 0"),
        (Some(from), Some(Some(to))) if to < from => bad("the last line is before the first"),
        (Some(from), to) => RangeText::Some(
            Lines {
                from,
                to: to.flatten(),
            },
            length,
        ),
    }
}

/// More lines than any file that is read has bytes.
const MOST_LINES: usize = 1_000_000_000;

fn lines_of(said: &str) -> Result<usize, String> {
    match said.parse::<usize>() {
        Ok(lines) if (1..=DIRECTIVE_TAIL_LINES_MAX).contains(&lines) => Ok(lines),
        Ok(_) | Err(_) => Err(format!(
            "`{}` is no number of lines from 1 to {DIRECTIVE_TAIL_LINES_MAX}",
            text::excerpt(said, 40)
        )),
    }
}

fn budget(said: &str) -> Result<Budget, String> {
    let digits = said.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = said.split_at(digits.unwrap_or(said.len()));
    let number: Option<usize> = number.parse().ok().filter(|&n| n > 0);
    let (budget, most) = match (number, unit.trim()) {
        (Some(n), "" | "chars") => (Budget::Chars(n), CONTEXT_BUDGET_CHARS_MAX),
        (Some(n), "tokens") => (Budget::Tokens(n), CONTEXT_BUDGET_TOKENS_MAX),
        _ => {
            let shown = text::excerpt(said, 40);
            return Err(format!("`{shown}` is no budget of characters or tokens"));
        }
    };
    if budget.chars() > CONTEXT_BUDGET_CHARS_MAX {
        return Err(format!("the budget is larger than {most}"));
    }
    Ok(budget)
}

fn question(word: &Word) -> Result<String, String> {
    if word.text.len() > RECALL_QUERY_BYTES_MAX {
        return Err(format!(
            "the question has {} bytes; at most {RECALL_QUERY_BYTES_MAX} are allowed",
            word.text.len()
        ));
    }
    Ok(word.text.clone())
}
