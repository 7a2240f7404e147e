//! Rendering of a template: fills in the arguments and returns the remaining steps.

use super::template::Template;
use super::template_part::{
    ArgumentSlot, BlockPiece, Position, Quotes, TemplatePart, TemplateProblem,
};
use heirloom_model::limits::{
    COMMAND_ARGS_BYTES_MAX, COMMAND_ARGS_MAX, COMMAND_RENDERED_BYTES_MAX,
};

/// Prefix of the variables with the arguments, before their number.
const VARIABLE_PREFIX: &str = "HEIRLOOM_ARG";

/// One step of a filled-in template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenderStep {
    /// Literal text.
    Text(String),
    /// The output of a script, which gets the arguments in [`argument_variables`].
    Shell {
        /// The script, for `sh -c`. Arguments are not part of it.
        script: String,
        /// Position in the template.
        at: Position,
    },
    /// The content of a file.
    File {
        /// Path as in the template.
        path: String,
        /// Position in the template.
        at: Position,
    },
}

/// Returns the arguments as variables for a script: name and value.
pub fn argument_variables(args: &[String]) -> Vec<(String, String)> {
    let numbered = args.iter().enumerate();
    numbered
        .map(|(at, value)| (format!("{VARIABLE_PREFIX}{}", at + 1), value.clone()))
        .collect()
}

/// Quotes a text as one word of a POSIX shell, for display.
pub fn quote_for_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

impl Template {
    /// Fills in the arguments once; their text is never parsed.
    ///
    /// Errors: an argument that is missing, contains a NUL, or is too long; a result that is too long.
    pub fn prepare(&self, args: &[String]) -> Result<Vec<RenderStep>, TemplateProblem> {
        check_arguments(args)?;
        let mut steps = Vec::with_capacity(self.parts.len());
        let mut size = 0;
        for part in &self.parts {
            let (step, length, at) = match part {
                TemplatePart::Text(text) => (RenderStep::Text(text.clone()), text.len(), START),
                TemplatePart::ArgumentSlot(slot, at) => {
                    let text = argument_text(*slot, *at, args)?;
                    let length = text.len();
                    (RenderStep::Text(text), length, *at)
                }
                TemplatePart::Shell(pieces, at) => {
                    let script = fill(pieces, args, fill_script, &mut size)?;
                    (RenderStep::Shell { script, at: *at }, 0, *at)
                }
                TemplatePart::File(pieces, at) => {
                    let path = fill(pieces, args, fill_path, &mut size)?;
                    let path = path.trim().to_owned();
                    (RenderStep::File { path, at: *at }, 0, *at)
                }
            };
            add_size(&mut size, length, at)?;
            steps.push(step);
        }
        Ok(steps)
    }
}

const START: Position = Position { line: 1, column: 1 };

fn new_problem(at: Position, message: String) -> TemplateProblem {
    TemplateProblem { at, message }
}

/// Checks the number, size and content of arguments.
fn check_arguments(args: &[String]) -> Result<(), TemplateProblem> {
    let bytes: usize = args.iter().map(String::len).sum();
    let wrong = if args.len() > COMMAND_ARGS_MAX {
        let number = args.len();
        format!("{number} arguments; at most {COMMAND_ARGS_MAX} are allowed")
    } else if bytes > COMMAND_ARGS_BYTES_MAX {
        format!("the arguments have {bytes} bytes; at most {COMMAND_ARGS_BYTES_MAX} are allowed")
    } else if let Some(at) = args.iter().position(|arg| arg.contains('\0')) {
        format!("argument {} holds a NUL character", at + 1)
    } else {
        return Ok(());
    };
    Err(new_problem(START, wrong))
}

fn add_size(size: &mut usize, length: usize, at: Position) -> Result<(), TemplateProblem> {
    *size = size.saturating_add(length);
    if *size <= COMMAND_RENDERED_BYTES_MAX {
        return Ok(());
    }
    let most = COMMAND_RENDERED_BYTES_MAX;
    Err(new_problem(
        at,
        format!("the filled-in template has more than {most} bytes"),
    ))
}

/// Returns the argument with this number.
fn nth_argument(n: usize, at: Position, args: &[String]) -> Result<&str, TemplateProblem> {
    let found = n.checked_sub(1).and_then(|index| args.get(index));
    found.map(String::as_str).ok_or_else(|| {
        let given = match args.len() {
            0 => "no argument was given".to_owned(),
            1 => "only 1 argument was given".to_owned(),
            number => format!("only {number} arguments were given"),
        };
        new_problem(at, format!("`{{{{arg{n}}}}}` is missing: {given}"))
    })
}

fn argument_text(
    slot: ArgumentSlot,
    at: Position,
    args: &[String],
) -> Result<String, TemplateProblem> {
    match slot {
        ArgumentSlot::All => Ok(args.join(" ")),
        ArgumentSlot::Nth(n) => nth_argument(n, at, args).map(str::to_owned),
    }
}

type FillSlot = fn(ArgumentSlot, Quotes, Position, &[String]) -> Result<String, TemplateProblem>;

fn fill(
    pieces: &[BlockPiece],
    args: &[String],
    fill_slot: FillSlot,
    size: &mut usize,
) -> Result<String, TemplateProblem> {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            BlockPiece::Text(text) => out.push_str(text),
            BlockPiece::ArgumentSlot(slot, quotes, at) => {
                let text = fill_slot(*slot, *quotes, *at, args)?;
                add_size(size, text.len(), *at)?;
                out.push_str(&text);
            }
        }
    }
    Ok(out)
}

fn fill_path(
    slot: ArgumentSlot,
    _: Quotes,
    at: Position,
    args: &[String],
) -> Result<String, TemplateProblem> {
    argument_text(slot, at, args)
}

/// Returns a reference to a variable and never the value: in any context (a comment, a here-document, nested quotes)
/// the shell does not parse the value as a part of the script.
fn fill_script(
    slot: ArgumentSlot,
    quotes: Quotes,
    at: Position,
    args: &[String],
) -> Result<String, TemplateProblem> {
    let numbers = match slot {
        ArgumentSlot::All => 1..=args.len(),
        ArgumentSlot::Nth(n) => {
            nth_argument(n, at, args)?;
            n..=n
        }
    };
    let is_bare = quotes == Quotes::None;
    let reference = |n| match is_bare {
        true => format!("\"${{{VARIABLE_PREFIX}{n}}}\""),
        false => format!("${{{VARIABLE_PREFIX}{n}}}"),
    };
    let text = numbers.map(reference).collect::<Vec<_>>().join(" ");
    Ok(match quotes {
        Quotes::Single if !text.is_empty() => format!("'\"{text}\"'"),
        Quotes::None | Quotes::Single | Quotes::Double => text,
    })
}
