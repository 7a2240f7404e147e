//! A template filled in: what is left to do, in order.

use super::template::{Part, Piece, Position, Problem, Quotes, Slot, Template};
use heirloom_model::limits::{
    COMMAND_ARGS_BYTES_MAX, COMMAND_ARGS_MAX, COMMAND_RENDERED_BYTES_MAX,
};

/// What the variables with arguments are called before their number.
const VARIABLE: &str = "HEIRLOOM_ARG";

/// One thing to write, or to do and then to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Text as it is.
    Text(String),
    /// What this script prints; it finds the arguments in [`variables`].
    Shell {
        /// The script, for `sh -c`. No argument is a part of it.
        script: String,
        /// Where it stands in the template.
        at: Position,
    },
    /// The content of this file.
    File {
        /// Its path, as it was named.
        path: String,
        /// Where it stands in the template.
        at: Position,
    },
}

/// The arguments as variables for a script: name and value.
pub fn variables(args: &[String]) -> Vec<(String, String)> {
    let numbered = args.iter().enumerate();
    numbered
        .map(|(at, value)| (format!("{VARIABLE}{}", at + 1), value.clone()))
        .collect()
}

/// A text as one word of a POSIX shell, to be shown to a person.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

impl Template {
    /// Fills the arguments in, once: what they say is never looked at again.
    ///
    /// Errors: an argument that is missing, holds a NUL, or is too long; a text that becomes too long.
    pub fn prepare(&self, args: &[String]) -> Result<Vec<Step>, Problem> {
        check(args)?;
        let mut steps = Vec::with_capacity(self.parts.len());
        let mut size = 0;
        for part in &self.parts {
            let (step, length, at) = match part {
                Part::Text(text) => (Step::Text(text.clone()), text.len(), START),
                Part::Slot(slot, at) => {
                    let text = plain(*slot, *at, args)?;
                    let length = text.len();
                    (Step::Text(text), length, *at)
                }
                Part::Shell(pieces, at) => {
                    let script = filled(pieces, args, in_script, &mut size)?;
                    (Step::Shell { script, at: *at }, 0, *at)
                }
                Part::File(pieces, at) => {
                    let path = filled(pieces, args, in_path, &mut size)?;
                    let path = path.trim().to_owned();
                    (Step::File { path, at: *at }, 0, *at)
                }
            };
            add(&mut size, length, at)?;
            steps.push(step);
        }
        Ok(steps)
    }
}

const START: Position = Position { line: 1, column: 1 };

fn problem(at: Position, message: String) -> Problem {
    Problem { at, message }
}

/// What can be said of arguments without a template.
fn check(args: &[String]) -> Result<(), Problem> {
    let bytes: usize = args.iter().map(String::len).sum();
    let wrong = if args.len() > COMMAND_ARGS_MAX {
        let number = args.len();
        format!("{number} arguments; at most {COMMAND_ARGS_MAX} are taken")
    } else if bytes > COMMAND_ARGS_BYTES_MAX {
        format!("the arguments have {bytes} bytes; at most {COMMAND_ARGS_BYTES_MAX} are taken")
    } else if let Some(at) = args.iter().position(|arg| arg.contains('\0')) {
        format!("argument {} holds a NUL character", at + 1)
    } else {
        return Ok(());
    };
    Err(problem(START, wrong))
}

fn add(size: &mut usize, length: usize, at: Position) -> Result<(), Problem> {
    *size = size.saturating_add(length);
    if *size <= COMMAND_RENDERED_BYTES_MAX {
        return Ok(());
    }
    let most = COMMAND_RENDERED_BYTES_MAX;
    Err(problem(
        at,
        format!("the filled-in template has more than {most} bytes"),
    ))
}

/// The argument with this number.
fn nth(n: usize, at: Position, args: &[String]) -> Result<&str, Problem> {
    let found = n.checked_sub(1).and_then(|index| args.get(index));
    found.map(String::as_str).ok_or_else(|| {
        let given = match args.len() {
            0 => "no argument was given".to_owned(),
            1 => "only 1 argument was given".to_owned(),
            number => format!("only {number} arguments were given"),
        };
        problem(at, format!("`{{{{arg{n}}}}}` is missing: {given}"))
    })
}

fn plain(slot: Slot, at: Position, args: &[String]) -> Result<String, Problem> {
    match slot {
        Slot::All => Ok(args.join(" ")),
        Slot::Nth(n) => nth(n, at, args).map(str::to_owned),
    }
}

type Fill = fn(Slot, Quotes, Position, &[String]) -> Result<String, Problem>;

fn filled(
    pieces: &[Piece],
    args: &[String],
    fill: Fill,
    size: &mut usize,
) -> Result<String, Problem> {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Slot(slot, quotes, at) => {
                let text = fill(*slot, *quotes, *at, args)?;
                add(size, text.len(), *at)?;
                out.push_str(&text);
            }
        }
    }
    Ok(out)
}

fn in_path(slot: Slot, _: Quotes, at: Position, args: &[String]) -> Result<String, Problem> {
    plain(slot, at, args)
}

/// A reference to a variable, never the value: whatever this stands in (a comment, a here-document, quotes inside of
/// quotes), the shell does not read the value as a part of the script.
fn in_script(slot: Slot, quotes: Quotes, at: Position, args: &[String]) -> Result<String, Problem> {
    let numbers = match slot {
        Slot::All => 1..=args.len(),
        Slot::Nth(n) => {
            nth(n, at, args)?;
            n..=n
        }
    };
    let is_bare = quotes == Quotes::None;
    let reference = |n| match is_bare {
        true => format!("\"${{{VARIABLE}{n}}}\""),
        false => format!("${{{VARIABLE}{n}}}"),
    };
    let said = numbers.map(reference).collect::<Vec<_>>().join(" ");
    Ok(match quotes {
        Quotes::Single if !said.is_empty() => format!("'\"{said}\"'"),
        Quotes::None | Quotes::Single | Quotes::Double => said,
    })
}
