//! Parser of invocations: one pass from the first character to the last.

use super::invocation_reader::InvocationReader;
use super::{Directive, Invocation, SyntaxError, directive_values};
use heirloom_model::limits::{DIRECTIVES_MAX, INVOCATION_BYTES_MAX, NAME_BYTES_MAX};
use heirloom_model::text;

const FORM_HINT: &str =
    "the form is `agent[input:a.md,docs/*.md][tail:50][recall:words][budget:4000]`";

/// Parses an invocation: the agent and its directives.
pub(super) fn parse_invocation(text: &str) -> Result<Invocation, SyntaxError> {
    let mut reader = InvocationReader::new(text);
    if text.len() > INVOCATION_BYTES_MAX {
        let problem = format!(
            "the invocation has {} bytes; at most {INVOCATION_BYTES_MAX} are read",
            text.len()
        );
        return Err(reader.error(0, problem, FORM_HINT));
    }
    let agent = parse_agent(&mut reader)?;
    let mut directives: Vec<Directive> = Vec::new();
    loop {
        reader.skip_blanks();
        if !directives.is_empty() && reader.consume(';') {
            reader.skip_blanks();
            if reader.peek().is_none() {
                return Err(reader.error(
                    reader.position(),
                    "nothing follows the `;`",
                    "remove it",
                ));
            }
        }
        let open = reader.position();
        match reader.peek() {
            None => return Ok(Invocation { agent, directives }),
            Some('[') => {
                reader.consume('[');
                parse_list(&mut reader, open, &mut directives)?;
            }
            Some(']') => {
                return Err(reader.error(open, "this `]` closes nothing", "remove it"));
            }
            Some(_) => {
                let problem = "only directives in brackets may follow";
                return Err(reader.error(open, problem, FORM_HINT));
            }
        }
    }
}

fn parse_agent(reader: &mut InvocationReader<'_>) -> Result<String, SyntaxError> {
    reader.skip_blanks();
    let start = reader.position();
    let word = reader.read_word(&[';', '[', ']'], start)?;
    if word.text.trim().is_empty() {
        return Err(reader.error(start, "the agent has no name", FORM_HINT));
    }
    if word.text.len() > NAME_BYTES_MAX {
        let problem = format!(
            "the agent's name has {} bytes; at most {NAME_BYTES_MAX} are allowed",
            word.text.len()
        );
        return Err(reader.error(start, problem, "use a shorter name"));
    }
    if word.text.contains(char::is_control) {
        let problem = "the agent's name holds a control character";
        return Err(reader.error(start, problem, "a name is one line of text"));
    }
    Ok(word.text)
}

/// Parses the directives in one pair of brackets. The opening one, at `open`, was consumed.
fn parse_list(
    reader: &mut InvocationReader<'_>,
    open: usize,
    directives: &mut Vec<Directive>,
) -> Result<(), SyntaxError> {
    loop {
        let (at, directive) = parse_directive(reader, open)?;
        if directives.len() == DIRECTIVES_MAX {
            let problem = format!("more than {DIRECTIVES_MAX} directives");
            return Err(reader.error(at, problem, "one `input` takes several files"));
        }
        let is_another = |one: &Directive| match directive {
            Directive::Tail(_) => matches!(one, Directive::Tail(_)),
            Directive::Budget(_) => matches!(one, Directive::Budget(_)),
            Directive::Input(_) | Directive::Recall(_) => false,
        };
        if directives.iter().any(is_another) {
            let name = directive_values::directive_name(&directive);
            let problem = format!("`{name}` is given twice");
            return Err(reader.error(at, problem, "give it once"));
        }
        directives.push(directive);
        reader.skip_blanks();
        if reader.consume(']') {
            return Ok(());
        }
        if !reader.consume(';') {
            return Err(reader.unexpected_error(open));
        }
    }
}

fn parse_directive(
    reader: &mut InvocationReader<'_>,
    open: usize,
) -> Result<(usize, Directive), SyntaxError> {
    reader.skip_blanks();
    let at = reader.position();
    let name = reader.read_name();
    if name.is_empty() {
        return Err(match reader.peek() {
            Some(']' | ';') => {
                reader.error(at, "an empty directive", directive_values::KNOWN_DIRECTIVES)
            }
            Some(':') => reader.error(
                at,
                "a directive without a name",
                directive_values::KNOWN_DIRECTIVES,
            ),
            Some('[') | None => reader.unexpected_error(open),
            Some(_) => reader.error(
                at,
                "no directive begins like this",
                directive_values::KNOWN_DIRECTIVES,
            ),
        });
    }
    let Some(known) = directive_values::kind_by_name(name) else {
        let shown = text::excerpt(name, 40);
        let hint = directive_values::suggestion(name);
        return Err(reader.error(at, format!("unknown directive `{shown}`"), &hint));
    };
    reader.skip_blanks();
    if !reader.consume(':') {
        return Err(match reader.peek() {
            Some(']' | ';') => {
                let problem = format!("`{name}` has no value");
                reader.error(at, problem, known.example())
            }
            Some('[') | None => reader.unexpected_error(open),
            Some(_) => {
                let problem = format!("a `:` is missing after `{name}`");
                reader.error(reader.position(), problem, known.example())
            }
        });
    }
    Ok((at, known.parse_value(reader, at, open)?))
}
