//! Kinds of directives and the parsers of their values.

use super::invocation_reader::{InvocationReader, ParsedWord};
use super::{Directive, FileInput, FileSelector, LineRange, SyntaxError};
use heirloom_model::limits::{
    CONTEXT_BUDGET_CHARS_MAX, CONTEXT_BUDGET_TOKENS_MAX, DIRECTIVE_FILES_MAX,
    DIRECTIVE_TAIL_LINES_MAX, PATH_BYTES_MAX, RECALL_QUERY_BYTES_MAX,
};
use heirloom_model::{Budget, text};

pub(super) const KNOWN_DIRECTIVES: &str = "known are `input`, `tail`, `recall` and `budget`";

/// Kind of a directive.
#[derive(Clone, Copy)]
pub(super) enum DirectiveKind {
    Input,
    Tail,
    Recall,
    Budget,
}

const ALL: [(&str, DirectiveKind); 4] = [
    ("input", DirectiveKind::Input),
    ("tail", DirectiveKind::Tail),
    ("recall", DirectiveKind::Recall),
    ("budget", DirectiveKind::Budget),
];

pub(super) fn kind_by_name(name: &str) -> Option<DirectiveKind> {
    let found = ALL.iter().find(|(known, _)| *known == name);
    found.map(|(_, known)| *known)
}

pub(super) fn directive_name(directive: &Directive) -> &'static str {
    match directive {
        Directive::Input(_) => "input",
        Directive::Tail(_) => "tail",
        Directive::Recall(_) => "recall",
        Directive::Budget(_) => "budget",
    }
}

/// Returns a hint for an unknown name: the most similar directive, or all directives.
pub(super) fn suggestion(name: &str) -> String {
    let short: String = name.chars().take(40).collect::<String>().to_lowercase();
    let near = ALL
        .iter()
        .map(|(known, _)| (strsim::osa_distance(known, &short), known));
    match near.min() {
        Some((distance, known)) if distance <= 2 => format!("did you mean `{known}`?"),
        Some(_) | None => KNOWN_DIRECTIVES.to_owned(),
    }
}

impl DirectiveKind {
    pub(super) fn example(self) -> &'static str {
        match self {
            Self::Input => "such as `input:docs/*.md,\"a, b.md\":10-40`",
            Self::Tail => "such as `tail:50`",
            Self::Recall => "such as `recall:why does the deploy fail`",
            Self::Budget => "such as `budget:4000` or `budget:1000 tokens`",
        }
    }

    /// Parses the value after the colon of a directive at `at`, in brackets that were opened at `open`.
    pub(super) fn parse_value(
        self,
        reader: &mut InvocationReader<'_>,
        at: usize,
        open: usize,
    ) -> Result<Directive, SyntaxError> {
        if let Self::Input = self {
            return parse_inputs(reader, open).map(Directive::Input);
        }
        let word = reader.read_word(&[';', '[', ']'], open)?;
        expect_end(reader, open, &[';', ']'])?;
        if word.text.trim().is_empty() {
            let problem = format!("`{}` has no value", kind_name(self));
            return Err(reader.error(at, problem, self.example()));
        }
        let wrong = |problem: String| reader.error(word.at, problem, self.example());
        match self {
            Self::Tail => parse_line_count(&word.text)
                .map(Directive::Tail)
                .map_err(wrong),
            Self::Budget => parse_budget(&word.text)
                .map(Directive::Budget)
                .map_err(wrong),
            Self::Input | Self::Recall => {
                parse_question(&word).map(Directive::Recall).map_err(wrong)
            }
        }
    }
}

fn kind_name(known: DirectiveKind) -> &'static str {
    match known {
        DirectiveKind::Input => "input",
        DirectiveKind::Tail => "tail",
        DirectiveKind::Recall => "recall",
        DirectiveKind::Budget => "budget",
    }
}

/// Checks that a value ends here, at one of `ends`.
fn expect_end(
    reader: &InvocationReader<'_>,
    open: usize,
    ends: &[char],
) -> Result<(), SyntaxError> {
    match reader.peek() {
        Some(c) if ends.contains(&c) => Ok(()),
        Some(c) if c != '[' => {
            let problem = "nothing may follow the closing quote";
            Err(reader.error_here(problem, "put all of it in quotes; a quote inside is `\\\"`"))
        }
        Some(_) | None => Err(reader.unexpected_error(open)),
    }
}

fn parse_inputs(
    reader: &mut InvocationReader<'_>,
    open: usize,
) -> Result<Vec<FileInput>, SyntaxError> {
    let mut all = Vec::new();
    loop {
        let input = parse_input(reader, open)?;
        if all.len() == DIRECTIVE_FILES_MAX {
            let problem = format!("more than {DIRECTIVE_FILES_MAX} names");
            return Err(reader.error_here(problem, "name fewer files"));
        }
        all.push(input);
        if !reader.consume(',') {
            return Ok(all);
        }
    }
}

fn parse_input(reader: &mut InvocationReader<'_>, open: usize) -> Result<FileInput, SyntaxError> {
    let word = reader.read_word(&[',', ';', '[', ']'], open)?;
    let (bare, range, range_at) = if word.is_quoted {
        let at = reader.position();
        let range = if reader.consume(':') {
            let value = reader.read_word(&[',', ';', '[', ']'], open)?;
            match parse_range(&format!(":{}", value.text)) {
                RangeText::None => RangeText::Bad("this is not a line range", 0),
                range @ (RangeText::Some(..) | RangeText::Bad(..)) => range,
            }
        } else {
            RangeText::None
        };
        expect_end(reader, open, &[',', ';', ']'])?;
        (word.text.clone(), range, at)
    } else {
        if !matches!(reader.peek(), Some(',' | ';' | ']')) {
            return Err(reader.unexpected_error(open));
        }
        let range = parse_range(&word.text);
        let cut = word.text.len() - range.len();
        (word.text[..cut].trim_end().to_owned(), range, word.at + cut)
    };
    if bare.trim().is_empty() {
        return Err(reader.error(
            word.at,
            "a file without a name",
            DirectiveKind::Input.example(),
        ));
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
        FileSelector::Pattern(bare)
    } else {
        FileSelector::Exact(bare)
    };
    Ok(FileInput { name, lines })
}

/// Returns true if an unquoted name is a pattern.
pub(super) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// Line range at the end of a name, with its length in bytes including the colon.
pub(super) enum RangeText {
    None,
    Some(LineRange, usize),
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

/// Parses the line range at the end of an unquoted name. Digits and a hyphen after a colon are always a range, valid
/// or not.
pub(super) fn parse_range(name: &str) -> RangeText {
    let Some((_, value)) = name.rsplit_once(':') else {
        return RangeText::None;
    };
    let value = value.trim();
    let length = name.len() - name.rfind(':').unwrap_or(0);
    if value.is_empty() || value.contains(|c: char| !(c.is_ascii_digit() || c == '-')) {
        return RangeText::None;
    }
    let number = |digits: &str| {
        digits
            .parse::<usize>()
            .ok()
            .filter(|&n| n <= LINE_NUMBER_MAX)
    };
    let (from, to) = match value.split_once('-') {
        None => (number(value), Some(number(value))),
        Some((from, "")) => (number(from), None),
        Some((from, to)) => (number(from), Some(number(to))),
    };
    let bad = |problem| RangeText::Bad(problem, length);
    match (from, to) {
        (None, _) | (_, Some(None)) => bad("this is not a line range"),
        (Some(0), _) => bad("there is no line 0"),
        (Some(from), Some(Some(to))) if to < from => bad("the last line is before the first"),
        (Some(from), to) => RangeText::Some(
            LineRange {
                from,
                to: to.flatten(),
            },
            length,
        ),
    }
}

/// Maximum line number; no file that is read has as many bytes.
const LINE_NUMBER_MAX: usize = 1_000_000_000;

fn parse_line_count(value: &str) -> Result<usize, String> {
    match value.parse::<usize>() {
        Ok(lines) if (1..=DIRECTIVE_TAIL_LINES_MAX).contains(&lines) => Ok(lines),
        Ok(_) | Err(_) => Err(format!(
            "`{}` is not a number of lines from 1 to {DIRECTIVE_TAIL_LINES_MAX}",
            text::excerpt(value, 40)
        )),
    }
}

fn parse_budget(value: &str) -> Result<Budget, String> {
    let digits = value.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = value.split_at(digits.unwrap_or(value.len()));
    let number: Option<usize> = number.parse().ok().filter(|&n| n > 0);
    let (budget, most) = match (number, unit.trim()) {
        (Some(n), "" | "chars") => (Budget::Chars(n), CONTEXT_BUDGET_CHARS_MAX),
        (Some(n), "tokens") => (Budget::Tokens(n), CONTEXT_BUDGET_TOKENS_MAX),
        _ => {
            let shown = text::excerpt(value, 40);
            return Err(format!("`{shown}` is not a budget of characters or tokens"));
        }
    };
    if budget.chars() > CONTEXT_BUDGET_CHARS_MAX {
        return Err(format!("the budget is larger than {most}"));
    }
    Ok(budget)
}

fn parse_question(word: &ParsedWord) -> Result<String, String> {
    if word.text.len() > RECALL_QUERY_BYTES_MAX {
        return Err(format!(
            "the question has {} bytes; at most {RECALL_QUERY_BYTES_MAX} are allowed",
            word.text.len()
        ));
    }
    Ok(word.text.clone())
}
