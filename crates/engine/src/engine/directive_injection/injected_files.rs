//! Files of an invocation, rendered with their markers.

use super::super::Engine;
use super::nearest_file;
use heirloom_fs::project_fs::{
    EntryKind, FolderVisitor, OpenFile, SafeFolder, SafeOpenProblem, private_reason,
};
use heirloom_model::limits::{
    DIRECTIVE_ENTRIES_MAX, DIRECTIVE_FILE_BYTES_MAX, DIRECTIVE_FILES_MAX, DIRECTIVE_TOTAL_BYTES_MAX,
};
use heirloom_model::section::{Layout, Offer, Origin, Section};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, text};
use heirloom_prompt::context;
use heirloom_prompt::directives::glob::{Glob, GlobState};
use heirloom_prompt::directives::{FileInput, FileSelector, LineRange, block};
use std::collections::HashSet;
use std::io::Read;

/// Collector of files for a section.
pub(super) struct Files<'e> {
    engine: &'e Engine,
    folder: SafeFolder,
    prefixes: Vec<String>,
    section: Section,
    known: HashSet<(String, Option<LineRange>)>,
    bytes: u64,
}

/// Reason for a file that is not injected.
enum Problem {
    /// The invocation is wrong and must be changed.
    Fault(Fault),
    /// The file cannot be injected, for this reason; a pattern skips it.
    Unfit(String),
}

impl<'e> Files<'e> {
    /// Reads the files of `inputs` in order, those of a pattern sorted by name; each once.
    pub(super) fn read(engine: &'e Engine, inputs: &[FileInput]) -> Result<Section, Fault> {
        let root = engine.root();
        let folder = SafeFolder::new(root).map_err(|error| {
            Fault::failed(format!(
                "cannot open the project {}: {error}",
                root.to_escaped()
            ))
        })?;
        let mut files = Self {
            engine,
            folder,
            prefixes: engine.contexts().signal_prefixes(),
            section: Section {
                name: "input".to_owned(),
                heading: "## Input".to_owned(),
                layout: Layout::Blocks,
                ..Section::default()
            },
            known: HashSet::new(),
            bytes: 0,
        };
        for input in inputs {
            match &input.name {
                FileSelector::Exact(name) => files.add_file(name, input.lines)?,
                FileSelector::Pattern(pattern) => files.add_matching(pattern, input.lines)?,
            }
        }
        Ok(files.section)
    }

    fn add_file(&mut self, name: &str, lines: Option<LineRange>) -> Result<(), Fault> {
        match self.inject(name, lines) {
            Ok(()) => Ok(()),
            Err(Problem::Fault(fault)) => Err(fault),
            Err(Problem::Unfit(why)) => {
                let shown = text::excerpt(name, 120);
                Err(Fault::refused(format!("input `{shown}`: {why}"))
                    .hint("text files inside of the project can be injected"))
            }
        }
    }

    fn add_matching(&mut self, pattern: &str, lines: Option<LineRange>) -> Result<(), Fault> {
        let shown = text::excerpt(pattern, 120);
        let paths = self.paths(pattern, &shown)?;
        let mut refused = Vec::new();
        let mut count = 0;
        for path in &paths {
            match self.inject(path, lines) {
                Ok(()) => count += 1,
                Err(Problem::Fault(fault)) if fault.kind == heirloom_model::ErrorKind::NotFound => {
                    refused.push(fault.message);
                }
                Err(Problem::Fault(fault)) => return Err(fault),
                Err(Problem::Unfit(why)) => {
                    refused.push(format!("input `{}`: {why}", text::excerpt(path, 120)));
                }
            }
        }
        match refused.first() {
            Some(first) if count == 0 => Err(Fault::refused(format!(
                "no file that `{shown}` matches can be injected: {first}"
            ))),
            Some(_) | None => {
                self.section.notes.append(&mut refused);
                Ok(())
            }
        }
    }

    /// Returns the paths that match a pattern, sorted.
    fn paths(&self, pattern: &str, shown: &str) -> Result<Vec<String>, Fault> {
        let none = || Fault::not_found(format!("nothing matches `{shown}`"));
        let glob = Glob::new(pattern).ok_or_else(|| {
            Fault::usage(format!("`{shown}` has `..` after a wildcard"))
                .hint("`..` is allowed before the first `*` or `?`")
        })?;
        let mut matches = Matches {
            glob: &glob,
            base: glob.base(),
            paths: Vec::new(),
        };
        let base = glob.base();
        let start = glob.start();
        let walked = self
            .folder
            .walk(&base, &start, DIRECTIVE_ENTRIES_MAX, &mut matches);
        match walked {
            Ok(()) => {}
            Err(
                SafeOpenProblem::Missing | SafeOpenProblem::NoFile(_) | SafeOpenProblem::NoFolder,
            ) => return Err(none()),
            Err(problem @ SafeOpenProblem::Unreadable(_)) => {
                return Err(Fault::failed(format!("`{shown}`: {problem}")));
            }
            Err(problem) => return Err(Fault::refused(format!("`{shown}`: {problem}"))),
        }
        let count = matches.paths.len();
        if count == 0 {
            return Err(none().hint("`*` does not match hidden names and folders"));
        }
        if count > DIRECTIVE_FILES_MAX {
            return Err(Fault::refused(format!(
                "`{shown}` matches {count} files; at most {DIRECTIVE_FILES_MAX} are injected"
            ))
            .hint("use a narrower pattern"));
        }
        matches.paths.sort_unstable();
        Ok(matches.paths)
    }

    fn inject(&mut self, name: &str, lines: Option<LineRange>) -> Result<(), Problem> {
        let shown = text::excerpt(name, 120);
        if name == "~" || name.starts_with("~/") {
            return Err(Problem::Unfit(SafeOpenProblem::Outside.to_string()));
        }
        let mut open = match self.folder.file(name) {
            Ok(open) => open,
            Err(SafeOpenProblem::Missing | SafeOpenProblem::InvalidName) => {
                return Err(Problem::Fault(nearest_file::missing_file_fault(
                    &self.folder,
                    name,
                )));
            }
            Err(problem @ SafeOpenProblem::Unreadable(_)) => {
                return Err(Problem::Fault(
                    Fault::failed(format!("input `{shown}`: {problem}"))
                        .hint("check the file, its owner and its permissions"),
                ));
            }
            Err(problem) => return Err(Problem::Unfit(problem.to_string())),
        };
        // Check both names: that of a link, and that of its target.
        let own = name.rsplit('/').next().unwrap_or(name);
        if let Some(why) = private_reason(&open.path).or_else(|| private_reason(own)) {
            return Err(Problem::Unfit(why.to_owned()));
        }
        if self.known.contains(&(open.path.clone(), lines)) {
            return Ok(());
        }
        if self.known.len() == DIRECTIVE_FILES_MAX {
            return Err(Problem::Fault(Fault::refused(format!(
                "the directives name more than {DIRECTIVE_FILES_MAX} files"
            ))));
        }
        let content = self.read_content(&mut open)?;
        let offer = self.render(&open.path, &content, lines)?;
        self.section.offers.push(offer);
        self.known.insert((open.path, lines));
        Ok(())
    }

    /// Reads a file's text within the size limits.
    fn read_content(&mut self, open: &mut OpenFile) -> Result<String, Problem> {
        let most = DIRECTIVE_FILE_BYTES_MAX;
        let too_large =
            |size: u64| Problem::Unfit(format!("it has {size} bytes; at most {most} are injected"));
        if open.size_bytes > most {
            return Err(too_large(open.size_bytes));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(open.size_bytes).unwrap_or(0));
        let read = (&mut open.file).take(most + 1).read_to_end(&mut bytes);
        read.map_err(|error| {
            let shown = text::excerpt(&open.path, 120);
            Problem::Fault(Fault::failed(format!(
                "input `{shown}`: it cannot be read: {error}"
            )))
        })?;
        let size = bytes.len() as u64;
        if size > most {
            return Err(too_large(size));
        }
        self.bytes += size;
        if self.bytes > DIRECTIVE_TOTAL_BYTES_MAX {
            return Err(Problem::Fault(Fault::refused(format!(
                "the files have more than {DIRECTIVE_TOTAL_BYTES_MAX} bytes together"
            ))));
        }
        if memchr::memchr(0, &bytes).is_some() {
            return Err(Problem::Unfit(format!("it is binary, {size} bytes")));
        }
        let content = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Problem::Unfit(format!("it is not UTF-8 at byte {at} of {size}"))
        })?;
        Ok(match content.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => content,
        })
    }

    /// Renders the requested lines of a file, redacted and with neutralised signals.
    fn render(
        &mut self,
        path: &str,
        content: &str,
        lines: Option<LineRange>,
    ) -> Result<Offer, Problem> {
        let content = self.redact_lines(content);
        let content = context::neutralize_signals(&content, &self.prefixes);
        let of = content.lines().count();
        let (from, to) = lines.map_or((1, None), |lines| (lines.from, lines.to));
        let whole = block::ShownLines {
            from: 1,
            to: of,
            total: of,
        };
        let (body, shown) = match block::select_lines(&content, from, to) {
            Some(found) => found,
            None if lines.is_none() => ("", whole),
            None => {
                let shown = text::excerpt(path, 120);
                return Err(Problem::Fault(Fault::not_found(format!(
                    "input `{shown}` has {of} lines, and no line {from}"
                ))));
            }
        };
        let mut kinds = Vec::new();
        let body = self
            .engine
            .redaction()
            .redactor()
            .redact_with_kinds(body, &mut kinds);
        let path = self.engine.redaction().redact_input(path);
        let text = block::render_file(&path, shown, &body);
        let text = context::neutralize_signals(&text, &self.prefixes);
        Ok(Offer {
            origin: Origin::File {
                path: path.into_owned(),
                line: lines.map(|lines| u32::try_from(lines.from).unwrap_or(u32::MAX)),
            },
            frame: Some(block::frame_of_block(&text)),
            text,
            ..Offer::default()
        })
    }

    /// Redacts a text; keeps the number of lines, so that line numbers stay valid.
    fn redact_lines<'t>(&self, content: &'t str) -> std::borrow::Cow<'t, str> {
        let found = self.engine.redaction().redactor().find(content);
        if found.is_empty() {
            return content.into();
        }
        let mut out = String::with_capacity(content.len());
        let mut done = 0;
        for secret in found {
            out.push_str(&content[done..secret.start]);
            out.push_str(&format!("[redacted:{}]", secret.kind));
            let secret_bytes = &content.as_bytes()[secret.start..secret.end];
            out.extend(memchr::memchr_iter(b'\n', secret_bytes).map(|_| '\n'));
            done = secret.end;
        }
        out.push_str(&content[done..]);
        out.into()
    }
}

/// Files that match a pattern.
struct Matches<'g> {
    glob: &'g Glob,
    base: String,
    paths: Vec<String>,
}

impl FolderVisitor for Matches<'_> {
    type State = GlobState;

    fn visit(&mut self, place: &GlobState, path: &str, entry: EntryKind) -> Option<GlobState> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if entry == EntryKind::Folder {
            let next = self.glob.enter(place, name);
            return self.glob.can_match_below(&next).then_some(next);
        }
        if self.glob.matches_file(place, name) {
            self.paths.push(match self.base.as_str() {
                "" => path.to_owned(),
                "/" => format!("/{path}"),
                base => format!("{base}/{path}"),
            });
        }
        None
    }
}
