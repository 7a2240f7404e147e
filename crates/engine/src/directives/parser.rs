//! An invocation, read from its first character to its last, once.

use super::{Directive, Invocation, SyntaxError, picture, values};
use heirloom_model::limits::{DIRECTIVES_MAX, INVOCATION_BYTES_MAX, NAME_BYTES_MAX};
use heirloom_model::text;

const FORM: &str = "the form is `agent[input:a.md,docs/*.md][tail:50][recall:words][budget:4000]`";

/// What reads on from where it is.
pub(super) struct Reader<'t> {
    text: &'t str,
    at: usize,
}

/// A value or a name: its characters, where it begins, and whether it stood in quotes.
pub(super) struct Word {
    pub(super) text: String,
    pub(super) at: usize,
    pub(super) is_quoted: bool,
}

pub(super) fn invocation(text: &str) -> Result<Invocation, SyntaxError> {
    let mut reader = Reader { text, at: 0 };
    if text.len() > INVOCATION_BYTES_MAX {
        let problem = format!(
            "the invocation has {} bytes; at most {INVOCATION_BYTES_MAX} are read",
            text.len()
        );
        return Err(reader.error(0, problem, FORM));
    }
    let agent = agent(&mut reader)?;
    let mut directives: Vec<Directive> = Vec::new();
    loop {
        reader.skip_blanks();
        if !directives.is_empty() && reader.take(';') {
            reader.skip_blanks();
            if reader.peek().is_none() {
                return Err(reader.error(reader.at, "nothing follows the `;`", "leave it out"));
            }
        }
        let open = reader.at;
        match reader.peek() {
            None => return Ok(Invocation { agent, directives }),
            Some('[') => {
                reader.take('[');
                list(&mut reader, open, &mut directives)?;
            }
            Some(']') => {
                return Err(reader.error(open, "this `]` closes nothing", "take it away"));
            }
            Some(_) => {
                let problem = "only directives in brackets may follow";
                return Err(reader.error(open, problem, FORM));
            }
        }
    }
}

fn agent(reader: &mut Reader<'_>) -> Result<String, SyntaxError> {
    reader.skip_blanks();
    let start = reader.at;
    let word = reader.word(&[';', '[', ']'], start)?;
    if word.text.trim().is_empty() {
        return Err(reader.error(start, "the agent has no name", FORM));
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

/// What stands in one pair of brackets; the opening one, at `open`, is taken.
fn list(
    reader: &mut Reader<'_>,
    open: usize,
    directives: &mut Vec<Directive>,
) -> Result<(), SyntaxError> {
    loop {
        let (at, directive) = directive(reader, open)?;
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
            let name = values::name_of(&directive);
            let problem = format!("`{name}` is said twice");
            return Err(reader.error(at, problem, "say it once"));
        }
        directives.push(directive);
        reader.skip_blanks();
        if reader.take(']') {
            return Ok(());
        }
        if !reader.take(';') {
            return Err(reader.unexpected(open));
        }
    }
}

fn directive(reader: &mut Reader<'_>, open: usize) -> Result<(usize, Directive), SyntaxError> {
    reader.skip_blanks();
    let at = reader.at;
    let name = reader.name();
    if name.is_empty() {
        return Err(match reader.peek() {
            Some(']' | ';') => reader.error(at, "an empty directive", values::KNOWN),
            Some(':') => reader.error(at, "a directive without a name", values::KNOWN),
            Some('[') | None => reader.unexpected(open),
            Some(_) => reader.error(at, "no directive begins so", values::KNOWN),
        });
    }
    let Some(known) = values::known(name) else {
        let shown = text::excerpt(name, 40);
        let hint = values::nearest(name);
        return Err(reader.error(at, format!("unknown directive `{shown}`"), &hint));
    };
    reader.skip_blanks();
    if !reader.take(':') {
        return Err(match reader.peek() {
            Some(']' | ';') => {
                let problem = format!("`{name}` has no value");
                reader.error(at, problem, known.example())
            }
            Some('[') | None => reader.unexpected(open),
            Some(_) => {
                let problem = format!("a `:` is missing behind `{name}`");
                reader.error(reader.at, problem, known.example())
            }
        });
    }
    Ok((at, known.read(reader, at, open)?))
}

impl<'t> Reader<'t> {
    pub(super) fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Goes past the character if it comes next.
    pub(super) fn take(&mut self, c: char) -> bool {
        let is_next = self.peek() == Some(c);
        if is_next {
            self.at += c.len_utf8();
        }
        is_next
    }

    pub(super) fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn name(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// The characters up to one of `stops`, without blanks around them, or what stands in quotes.
    ///
    /// Of quotes nothing is said of what follows them. `open` is where what it stands in was opened.
    pub(super) fn word(&mut self, stops: &[char], open: usize) -> Result<Word, SyntaxError> {
        self.skip_blanks();
        let at = self.at;
        if self.peek() == Some('"') {
            let text = self.quotes(open)?;
            self.skip_blanks();
            return Ok(Word {
                text,
                at,
                is_quoted: true,
            });
        }
        let rest = &self.text[at..];
        let end = rest.find(|c| stops.contains(&c)).unwrap_or(rest.len());
        self.at += end;
        Ok(Word {
            text: rest[..end].trim_end().to_owned(),
            at,
            is_quoted: false,
        })
    }

    /// What stands in the quotes that come next, with its escapes read.
    fn quotes(&mut self, open: usize) -> Result<String, SyntaxError> {
        let start = self.at;
        self.take('"');
        let mut text = String::new();
        while let Some(c) = self.peek() {
            let at = self.at;
            self.take(c);
            match c {
                '"' => return Ok(text),
                '\\' => text.push(self.escape(at)?),
                c => text.push(c),
            }
        }
        let problem = if start == open {
            "this quote is not closed"
        } else {
            "this quote is not closed, so neither is what it stands in"
        };
        Err(self.error(start, problem, "a quote inside of quotes is `\\\"`"))
    }

    /// The character that an escape stands for; its backslash, at `at`, is taken.
    fn escape(&mut self, at: usize) -> Result<char, SyntaxError> {
        let known = "known are \\\" \\\\ \\n \\r \\t and \\u{…}";
        let unknown = |reader: &Self| reader.error(at, "an escape that nobody knows", known);
        let c = self.peek().ok_or_else(|| unknown(self))?;
        self.take(c);
        match c {
            '"' | '\\' => Ok(c),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'u' => {
                let rest = self.text[self.at..].strip_prefix('{');
                let code = rest.and_then(|rest| rest.split_once('}'));
                let (code, _) = code.ok_or_else(|| unknown(self))?;
                let is_hex = (1..=6).contains(&code.len())
                    && code.bytes().all(|byte| byte.is_ascii_hexdigit());
                let number = u32::from_str_radix(code, 16).ok().filter(|_| is_hex);
                let c = number.and_then(char::from_u32);
                let c = c.ok_or_else(|| unknown(self))?;
                self.at += code.len() + 2;
                Ok(c)
            }
            _ => Err(unknown(self)),
        }
    }

    /// What is wrong with the next character, inside of brackets that were opened at `open`.
    pub(super) fn unexpected(&self, open: usize) -> SyntaxError {
        match self.peek() {
            None => self.error(open, "this `[` is not closed", "close it with `]`"),
            Some('[') => {
                let hint = "put a name that holds a bracket in quotes";
                self.error(self.at, "a `[` inside of brackets", hint)
            }
            Some(_) => {
                let problem = "this was not expected here";
                self.error(
                    self.at,
                    problem,
                    "`;` begins another directive, `]` ends them",
                )
            }
        }
    }

    /// Where it is, in bytes.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Something is wrong with what comes next.
    pub(super) fn error_here(&self, problem: impl Into<String>, hint: &str) -> SyntaxError {
        self.error(self.at, problem, hint)
    }

    /// Something is wrong at this byte.
    pub(super) fn error(&self, at: usize, problem: impl Into<String>, hint: &str) -> SyntaxError {
        let all = text::chars(self.text).max(1);
        let column = (text::chars(&self.text[..at]) + 1).min(all);
        SyntaxError {
            column,
            problem: problem.into(),
            hint: hint.to_owned(),
            picture: picture(self.text, column),
        }
    }
}
