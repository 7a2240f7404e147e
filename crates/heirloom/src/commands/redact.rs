//! `heirloom redact`.

use crate::open::Session;
use heirloom_engine::redact::{Finding, Redactor};
use heirloom_model::{Fault, limits, text};
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Take the secrets out of standard input, as every write does; with --check, show where they are
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  heirloom redact < build.log > clean.log
  heirloom redact --check .            path:line:column, kind, and the line up to the secret
  git diff | heirloom redact --check -

Files of bytes and .git are left out, links are not followed. The exit code is 0 whether something was found or not.")]
pub(crate) struct Args {
    /// Show what would go from this file or folder; `-` or nothing = standard input
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = "-")]
    check: Option<PathBuf>,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let config = match session.find() {
        Ok(found) => found.config,
        Err(fault) if fault.kind == heirloom_model::ErrorKind::NotFound => session.bare_config()?,
        Err(fault) => return Err(fault),
    };
    let redactor = Redactor::new(&config.settings().redact)
        .map_err(|bad| Fault::usage(bad.to_string()).hint("see `heirloom config redact`"))?;
    let Some(path) = args.check else {
        return filter(&redactor, session);
    };
    let mut check = Check::default();
    if path.as_os_str() == "-" {
        check.bytes("-", &standard_input()?, &redactor, session);
    } else {
        check.path(path, &redactor, session)?;
    }
    check.report(session)
}

/// Standard input without its secrets; what is no UTF-8 stays as it is.
fn filter(redactor: &Redactor, session: &mut Session) -> Result<u8, Fault> {
    let input = standard_input()?;
    let mut kinds = Vec::new();
    if session.out.json {
        let text = String::from_utf8_lossy(&input);
        let clean = redactor.redact_telling(&text, &mut kinds);
        session
            .out
            .value(&json!({"text": clean, "redacted": kinds}));
        return Ok(0);
    }
    for chunk in input.utf8_chunks() {
        let clean = redactor.redact_telling(chunk.valid(), &mut kinds);
        session.out.data(&clean);
        session.out.bytes(chunk.invalid());
    }
    Ok(0)
}

fn standard_input() -> Result<Vec<u8>, Fault> {
    let most = limits::REDACT_INPUT_BYTES_MAX;
    let mut input = Vec::new();
    std::io::stdin()
        .lock()
        .take(most as u64 + 1)
        .read_to_end(&mut input)
        .map_err(|error| Fault::failed(format!("cannot read standard input: {error}")))?;
    if input.len() > most {
        return Err(
            Fault::usage(format!("standard input has more than {most} bytes"))
                .hint("write it to a file and check that: `heirloom redact --check FILE`"),
        );
    }
    Ok(input)
}

/// What a check has seen so far.
#[derive(Default)]
struct Check {
    findings: Vec<Value>,
    found: usize,
    files: u64,
    size: u64,
    failed: bool,
}

impl Check {
    /// Checks a file, or a folder with everything in it, in the order of the names.
    fn path(
        &mut self,
        path: PathBuf,
        redactor: &Redactor,
        session: &mut Session,
    ) -> Result<(), Fault> {
        let kind = fs::symlink_metadata(&path).map_err(|error| {
            Fault::not_found(format!("cannot open {}: {error}", path.display()))
        })?;
        if kind.is_symlink() {
            return Err(Fault::usage(format!(
                "{} is a link, and links are not followed",
                path.display()
            ))
            .hint("name what it leads to"));
        }
        let mut open = vec![path];
        while let Some(path) = open.pop() {
            match fs::symlink_metadata(&path) {
                Err(error) => self.fail(&path, &error, session),
                Ok(meta) if meta.is_dir() => match entries(&path) {
                    Ok(inside) => open.extend(inside),
                    Err(error) => self.fail(&path, &error, session),
                },
                Ok(meta) if meta.is_file() => self.file(&path, meta.len(), redactor, session),
                // Links, pipes, devices.
                Ok(_) => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, size: u64, redactor: &Redactor, session: &mut Session) {
        let most = limits::REDACT_FILE_BYTES_MAX;
        if size > most {
            session.out.talk(&format!(
                "heirloom: {} is left out: it has {size} bytes, at most {most} are read",
                path.display()
            ));
            self.failed = true;
            return;
        }
        match fs::read(path) {
            Ok(bytes) => self.bytes(&path.display().to_string(), &bytes, redactor, session),
            Err(error) => self.fail(path, &error, session),
        }
    }

    fn bytes(&mut self, name: &str, bytes: &[u8], redactor: &Redactor, session: &mut Session) {
        let probe = bytes.len().min(limits::REDACT_BINARY_PROBE_BYTES);
        if bytes[..probe].contains(&0) {
            return;
        }
        self.files += 1;
        self.size += bytes.len() as u64;
        let text = String::from_utf8_lossy(bytes);
        let mut place = Place::default();
        for finding in redactor.find(&text) {
            self.found += 1;
            place.go_to(&text, finding.start);
            if self.found > limits::REDACT_FINDINGS_MAX {
                continue;
            }
            if session.out.json {
                self.findings.push(json!({
                    "path": name,
                    "line": place.line,
                    "column": place.column,
                    "kind": finding.kind,
                    "length": finding.end - finding.start,
                }));
            } else {
                let shown = place.shown(&text, &finding, redactor);
                session.out.line(&format!(
                    "{name}:{}:{} {}  {shown}",
                    place.line, place.column, finding.kind
                ));
            }
            place.shown_to = finding.end;
        }
    }

    fn fail(&mut self, path: &Path, error: &std::io::Error, session: &mut Session) {
        self.failed = true;
        session.out.talk(&format!(
            "heirloom: cannot read {}: {error}",
            path.display()
        ));
    }

    fn report(self, session: &mut Session) -> Result<u8, Fault> {
        let unlisted = self.found.saturating_sub(limits::REDACT_FINDINGS_MAX);
        if session.out.json {
            let mut answer =
                json!({"findings": self.findings, "files": self.files, "bytes": self.size});
            if unlisted > 0 {
                answer["unlisted"] = json!(unlisted);
            }
            session.out.value(&answer);
        } else {
            session.out.talk(&format!(
                "secrets found: {}, files read: {} ({} bytes)",
                self.found, self.files, self.size
            ));
            if unlisted > 0 {
                session.out.talk(&format!("{unlisted} of them not listed"));
            }
        }
        Ok(u8::from(self.failed))
    }
}

/// What is in a folder, the last name first; without what git keeps for itself.
fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut inside = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() != ".git" {
            inside.push(entry.path());
        }
    }
    inside.sort();
    inside.reverse();
    Ok(inside)
}

/// Where a finding stands; goes forward only, so that a long file is read once.
struct Place {
    line: u64,
    column: usize,
    line_start: usize,
    shown_to: usize,
    at: usize,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            line: 1,
            column: 1,
            line_start: 0,
            shown_to: 0,
            at: 0,
        }
    }
}

impl Place {
    fn go_to(&mut self, text: &str, at: usize) {
        for (n, _) in text[self.at..at].match_indices('\n') {
            self.line += 1;
            self.column = 1;
            self.line_start = self.at + n + 1;
        }
        self.column += text::chars(&text[self.at.max(self.line_start)..at]);
        self.at = at;
    }

    /// The line up to the secret, with the mark in its place; never a part of the secret, nor of the one before.
    fn shown(&self, text: &str, finding: &Finding<'_>, redactor: &Redactor) -> String {
        const BEFORE_CHARS: usize = 60;
        let before = &text[self.line_start.max(self.shown_to)..finding.start];
        let before = redactor.redact(before);
        let before = text::clip_start(before.trim_start(), BEFORE_CHARS);
        text::one_line(&format!("{before}[redacted:{}]", finding.kind))
    }
}
