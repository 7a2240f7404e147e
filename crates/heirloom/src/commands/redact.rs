//! `heirloom redact`.

use crate::store_access::CliSession;
use heirloom_fs::project_fs::{DigestProblem, read_bounded_following_links};
use heirloom_model::text::{self, EscapedPath};
use heirloom_model::{Fault, limits};
use heirloom_redact::{Finding, Redactor};
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Redact secrets in standard input, as every write does; with --check, show where they are
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  heirloom redact < build.log > clean.log
  heirloom redact --check .            path:line:column, kind, and the line up to the secret
  git diff | heirloom redact --check -

Binary files and .git are skipped, links are not followed. The exit code is 0 whether or not something was found.")]
pub(crate) struct Args {
    /// Show what would be redacted in this file or folder; `-` or nothing = standard input
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = "-")]
    check: Option<PathBuf>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let config = match session.find_project() {
        Ok(found) => found.config,
        Err(fault) if fault.kind == heirloom_model::ErrorKind::NotFound => {
            session.config_without_project()?
        }
        Err(fault) => return Err(fault),
    };
    let redactor = Redactor::new(&config.settings().redact)
        .map_err(|bad| Fault::usage(bad.to_string()).hint("see `heirloom config redact`"))?;
    let Some(path) = args.check else {
        return redact_input(&redactor, session);
    };
    let mut scan = SecretScan::default();
    if path.as_os_str() == "-" {
        scan.scan_bytes("-", &read_standard_input()?, &redactor, session);
    } else {
        scan.scan_path(path, &redactor, session)?;
    }
    scan.report(session)
}

/// Prints standard input without its secrets; bytes that are not UTF-8 stay unchanged.
fn redact_input(redactor: &Redactor, session: &mut CliSession) -> Result<u8, Fault> {
    let input = read_standard_input()?;
    let mut kinds = Vec::new();
    if session.out.json {
        let text = String::from_utf8_lossy(&input);
        let clean = redactor.redact_with_kinds(&text, &mut kinds);
        session
            .out
            .value(&json!({"text": clean, "redacted": kinds}));
        return Ok(0);
    }
    for chunk in input.utf8_chunks() {
        let clean = redactor.redact_with_kinds(chunk.valid(), &mut kinds);
        session.out.data(&clean);
        session.out.bytes(chunk.invalid());
    }
    Ok(0)
}

fn read_standard_input() -> Result<Vec<u8>, Fault> {
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
                .hint("write it to a file and check the file: `heirloom redact --check FILE`"),
        );
    }
    Ok(input)
}

/// Running totals and findings of a check.
#[derive(Default)]
struct SecretScan {
    findings: Vec<Value>,
    found: usize,
    files: u64,
    size: u64,
    failed: bool,
}

impl SecretScan {
    /// Checks a file, or a folder with everything in it, sorted by name.
    fn scan_path(
        &mut self,
        path: PathBuf,
        redactor: &Redactor,
        session: &mut CliSession,
    ) -> Result<(), Fault> {
        let kind = fs::symlink_metadata(&path).map_err(|error| {
            Fault::not_found(format!("cannot open {}: {error}", path.to_escaped()))
        })?;
        if kind.is_symlink() {
            return Err(Fault::usage(format!(
                "{} is a link, and links are not followed",
                path.to_escaped()
            ))
            .hint("name its target"));
        }
        if !kind.is_dir() && !kind.is_file() {
            let problem = format!("{} is neither a file nor a folder", path.to_escaped());
            return Err(Fault::usage(problem).hint("`-` reads standard input"));
        }
        let mut open = vec![path];
        while let Some(path) = open.pop() {
            match fs::symlink_metadata(&path) {
                Err(error) => self.note_failure(&path, &error, session),
                Ok(meta) if meta.is_dir() => match list_folder(&path) {
                    Ok(inside) => open.extend(inside),
                    Err(error) => self.note_failure(&path, &error, session),
                },
                Ok(meta) if meta.is_file() => self.scan_file(&path, meta.len(), redactor, session),
                // Links, pipes, devices.
                Ok(_) => {}
            }
        }
        Ok(())
    }

    fn scan_file(&mut self, path: &Path, size: u64, redactor: &Redactor, session: &mut CliSession) {
        let most = limits::REDACT_FILE_BYTES_MAX;
        if size > most {
            session.out.talk(&format!(
                "heirloom: {} is skipped: it has {size} bytes, at most {most} are read",
                path.to_escaped()
            ));
            self.failed = true;
            return;
        }
        match read_bounded_following_links(path, most).map_err(DigestProblem::into_io_error) {
            Ok(bytes) => self.scan_bytes(&path.to_string_lossy(), &bytes, redactor, session),
            Err(error) => self.note_failure(path, &error, session),
        }
    }

    fn scan_bytes(
        &mut self,
        name: &str,
        bytes: &[u8],
        redactor: &Redactor,
        session: &mut CliSession,
    ) {
        let probe = bytes.len().min(limits::REDACT_BINARY_PROBE_BYTES);
        if bytes[..probe].contains(&0) {
            return;
        }
        self.files += 1;
        self.size += bytes.len() as u64;
        let text = String::from_utf8_lossy(bytes);
        let mut place = FindingPosition::default();
        for finding in redactor.find(&text) {
            self.found += 1;
            place.advance_to(&text, finding.start);
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
                let preview = place.preview(&text, &finding, redactor);
                session.out.line(&format!(
                    "{}:{}:{} {}  {preview}",
                    text::escape_name(name),
                    place.line,
                    place.column,
                    finding.kind
                ));
            }
            place.printed_until = finding.end;
        }
    }

    fn note_failure(&mut self, path: &Path, error: &std::io::Error, session: &mut CliSession) {
        self.failed = true;
        session.out.talk(&format!(
            "heirloom: cannot read {}: {error}",
            path.to_escaped()
        ));
    }

    fn report(self, session: &mut CliSession) -> Result<u8, Fault> {
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

/// Lists a folder in reverse order of the names, without `.git`.
fn list_folder(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
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

/// Position of a finding; advances forward only, so that a long file is scanned once.
struct FindingPosition {
    line: u64,
    column: usize,
    line_start: usize,
    printed_until: usize,
    at: usize,
}

impl Default for FindingPosition {
    fn default() -> Self {
        Self {
            line: 1,
            column: 1,
            line_start: 0,
            printed_until: 0,
            at: 0,
        }
    }
}

impl FindingPosition {
    fn advance_to(&mut self, text: &str, at: usize) {
        for (n, _) in text[self.at..at].match_indices('\n') {
            self.line += 1;
            self.column = 1;
            self.line_start = self.at + n + 1;
        }
        self.column += text::chars(&text[self.at.max(self.line_start)..at]);
        self.at = at;
    }

    /// Returns the line up to the secret, with a redaction mark; never a part of this secret or the one before.
    fn preview(&self, text: &str, finding: &Finding<'_>, redactor: &Redactor) -> String {
        const BEFORE_CHARS: usize = 60;
        let before = &text[self.line_start.max(self.printed_until)..finding.start];
        let before = redactor.redact(before);
        let before = text::clip_start(before.trim_start(), BEFORE_CHARS);
        text::one_line(&format!("{before}[redacted:{}]", finding.kind))
    }
}
