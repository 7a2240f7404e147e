//! The files that an invocation names, read and put between their marks.

use super::super::Engine;
use super::near;
use crate::context;
use crate::directives::glob::{Glob, Place};
use crate::directives::{Input, Lines, Name, block};
use crate::places::{Beneath, BeneathProblem, Entry, OpenFile, Visitor};
use heirloom_model::limits::{
    DIRECTIVE_ENTRIES_MAX, DIRECTIVE_FILE_BYTES_MAX, DIRECTIVE_FILES_MAX, DIRECTIVE_TOTAL_BYTES_MAX,
};
use heirloom_model::section::{Layout, Offer, Origin, Section};
use heirloom_model::{Fault, text};
use std::collections::HashSet;
use std::io::Read;

/// Files on their way into a section.
pub(super) struct Files<'e> {
    engine: &'e Engine,
    folder: Beneath,
    prefixes: Vec<String>,
    section: Section,
    known: HashSet<(String, Option<Lines>)>,
    bytes: u64,
}

/// Why a file is not injected.
enum Problem {
    /// Somebody must name another one.
    Fault(Fault),
    /// It cannot be injected, for this reason; a pattern passes it over.
    Unfit(String),
}

impl<'e> Files<'e> {
    /// The files of `inputs` in their order, those of a pattern in order of their names; each once.
    pub(super) fn read(engine: &'e Engine, inputs: &[Input]) -> Result<Section, Fault> {
        let root = engine.root();
        let folder = Beneath::new(root).map_err(|error| {
            Fault::failed(format!(
                "cannot open the project {}: {error}",
                root.display()
            ))
        })?;
        let mut files = Self {
            engine,
            folder,
            prefixes: engine.signal_prefixes(),
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
                Name::Exact(name) => files.one(name, input.lines)?,
                Name::Pattern(pattern) => files.matching(pattern, input.lines)?,
            }
        }
        Ok(files.section)
    }

    fn one(&mut self, name: &str, lines: Option<Lines>) -> Result<(), Fault> {
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

    fn matching(&mut self, pattern: &str, lines: Option<Lines>) -> Result<(), Fault> {
        let shown = text::excerpt(pattern, 120);
        let paths = self.paths(pattern, &shown)?;
        let mut unfit = Vec::new();
        let mut count = 0;
        for path in &paths {
            match self.inject(path, lines) {
                Ok(()) => count += 1,
                Err(Problem::Fault(fault)) if fault.kind == heirloom_model::ErrorKind::NotFound => {
                    unfit.push(fault.message);
                }
                Err(Problem::Fault(fault)) => return Err(fault),
                Err(Problem::Unfit(why)) => {
                    unfit.push(format!("input `{}`: {why}", text::excerpt(path, 120)));
                }
            }
        }
        match unfit.first() {
            Some(first) if count == 0 => Err(Fault::refused(format!(
                "no file that `{shown}` matches can be injected: {first}"
            ))),
            Some(_) | None => {
                self.section.notes.append(&mut unfit);
                Ok(())
            }
        }
    }

    /// What a pattern matches, in order of names.
    fn paths(&self, pattern: &str, shown: &str) -> Result<Vec<String>, Fault> {
        let none = || Fault::not_found(format!("nothing matches `{shown}`"));
        let glob = Glob::new(pattern).ok_or_else(|| {
            Fault::usage(format!(
                "`{shown}` goes up from a folder that it only matches"
            ))
            .hint("`..` may stand before the first `*` or `?`")
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
            Err(BeneathProblem::Missing | BeneathProblem::NoFile(_)) => return Err(none()),
            Err(problem @ BeneathProblem::Unreadable(_)) => {
                return Err(Fault::failed(format!("`{shown}`: {problem}")));
            }
            Err(problem) => return Err(Fault::refused(format!("`{shown}`: {problem}"))),
        }
        let count = matches.paths.len();
        if count == 0 {
            return Err(
                none().hint("names with a point in front, and folders, are left out by `*`")
            );
        }
        if count > DIRECTIVE_FILES_MAX {
            return Err(Fault::refused(format!(
                "`{shown}` matches {count} files; at most {DIRECTIVE_FILES_MAX} are injected"
            ))
            .hint("a pattern that matches less"));
        }
        matches.paths.sort_unstable();
        Ok(matches.paths)
    }

    fn inject(&mut self, name: &str, lines: Option<Lines>) -> Result<(), Problem> {
        let shown = text::excerpt(name, 120);
        if name == "~" || name.starts_with("~/") {
            return Err(Problem::Unfit(BeneathProblem::Outside.to_string()));
        }
        let mut open = match self.folder.file(name) {
            Ok(open) => open,
            Err(BeneathProblem::Missing | BeneathProblem::NoName) => {
                return Err(Problem::Fault(near::missing(&self.folder, name)));
            }
            Err(problem @ BeneathProblem::Unreadable(_)) => {
                return Err(Problem::Fault(
                    Fault::failed(format!("input `{shown}`: {problem}"))
                        .hint("check the file, its owner and its permissions"),
                ));
            }
            Err(problem) => return Err(Problem::Unfit(problem.to_string())),
        };
        if self.known.contains(&(open.path.clone(), lines)) {
            return Ok(());
        }
        if self.known.len() == DIRECTIVE_FILES_MAX {
            return Err(Problem::Fault(Fault::refused(format!(
                "the directives name more than {DIRECTIVE_FILES_MAX} files"
            ))));
        }
        let content = self.content(&mut open)?;
        let offer = self.offer(&open.path, &content, lines)?;
        self.section.offers.push(offer);
        self.known.insert((open.path, lines));
        Ok(())
    }

    /// The file's text, up to the caps.
    fn content(&mut self, open: &mut OpenFile) -> Result<String, Problem> {
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
            Problem::Unfit(format!("it is no UTF-8 from byte {at} on, of {size} bytes"))
        })?;
        Ok(match content.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => content,
        })
    }

    /// The wanted lines of a file between its marks, without secrets and signals.
    fn offer(&mut self, path: &str, content: &str, lines: Option<Lines>) -> Result<Offer, Problem> {
        let content = self.masked(content);
        let content = context::disarm(&content, &self.prefixes);
        let of = content.lines().count();
        let (from, to) = lines.map_or((1, None), |lines| (lines.from, lines.to));
        let whole = block::Shown {
            from: 1,
            to: of,
            of,
        };
        let (body, shown) = match block::lines_of(&content, from, to) {
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
        let body = self.engine.redactor().redact_telling(body, &mut kinds);
        let path = self.engine.clean(path);
        let text = block::file(&path, shown, &body);
        let text = context::disarm(&text, &self.prefixes);
        Ok(Offer {
            origin: Origin::File {
                path: path.into_owned(),
                line: lines.map(|lines| u32::try_from(lines.from).unwrap_or(u32::MAX)),
            },
            frame: Some(block::frame(&text)),
            text,
            score: None,
        })
    }

    /// The text without its secrets, each line where it was.
    fn masked<'t>(&self, content: &'t str) -> std::borrow::Cow<'t, str> {
        let found = self.engine.redactor().find(content);
        if found.is_empty() {
            return content.into();
        }
        let mut out = String::with_capacity(content.len());
        let mut done = 0;
        for secret in found {
            out.push_str(&content[done..secret.start]);
            out.push_str(&format!("[redacted:{}]", secret.kind));
            let taken = &content.as_bytes()[secret.start..secret.end];
            out.extend(memchr::memchr_iter(b'\n', taken).map(|_| '\n'));
            done = secret.end;
        }
        out.push_str(&content[done..]);
        out.into()
    }
}

/// The files that a pattern matches.
struct Matches<'g> {
    glob: &'g Glob,
    base: String,
    paths: Vec<String>,
}

impl Visitor for Matches<'_> {
    type Place = Place;

    fn visit(&mut self, place: &Place, path: &str, entry: Entry) -> Option<Place> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if entry == Entry::Folder {
            let next = self.glob.enter(place, name);
            return self.glob.goes_on(&next).then_some(next);
        }
        if self.glob.takes(place, name) {
            self.paths.push(match self.base.as_str() {
                "" => path.to_owned(),
                "/" => format!("/{path}"),
                base => format!("{base}/{path}"),
            });
        }
        None
    }
}
