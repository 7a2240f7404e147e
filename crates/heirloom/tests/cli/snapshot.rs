//! Snapshots of texts that people read, in `snapshots/` next to this file.
//!
//! A changed text fails its test. `INSTA_UPDATE=always cargo nextest run -p heirloom --test cli texts` accepts it.

use crate::project::{Answer, Project};
use insta::Settings;

/// Replacements of values that differ between runs.
const FILTERS: [(&str, &str); 8] = [
    (
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "[id]",
    ),
    // Lists shorten ids.
    (r"\b01[0-9a-f]{6}-[0-9a-f]{4}(-[0-9a-f]{1,4})?\b", "[id]"),
    (
        r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?",
        "[time]",
    ),
    (r"\b\d+(\.\d+)? (ms|µs|s)\b", "[duration]"),
    (r"\b\d+(\.\d+)? (B|KB|KiB|MB|MiB)\b", "[size]"),
    (r"\b(heirloom|version) +\d+\.\d+\.\d+", "$1 [version]"),
    // Scores depend on the widest registers of the processor.
    (r"-?\b\d+\.\d{2,3}\b", "[score]"),
    (r" +\[score\]", " [score]"),
];

/// Compares a text that is equal in every run with the snapshot of this name.
#[track_caller]
pub(crate) fn assert_constant_text(name: &str, text: &str) {
    let mut settings = Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Compares a text of a project with the snapshot of this name; ids, times, sizes and folders may differ.
#[track_caller]
pub(crate) fn assert_text(name: &str, project: &Project, text: &str) {
    let mut text = text.to_owned();
    for (folder, path) in [("project", project.path()), ("home", project.home.path())] {
        text = text.replace(path.to_str().unwrap(), &format!("[{folder} folder]"));
        let last = path.file_name().unwrap().to_str().unwrap();
        text = text.replace(last, &format!("[{folder} name]"));
    }
    let mut settings = Settings::clone_current();
    for (pattern, replacement) in FILTERS {
        settings.add_filter(pattern, replacement);
    }
    settings.bind(|| assert_constant_text(name, &text));
}

/// Text of several calls: each command line, its exit code if that is not 0, and the printed text.
pub(crate) struct Screen<'p> {
    project: &'p Project,
    text: String,
}

impl<'p> Screen<'p> {
    /// Creates the empty text of calls in a project.
    pub(crate) fn new(project: &'p Project) -> Self {
        Self {
            project,
            text: String::new(),
        }
    }

    /// Calls the program and adds its output.
    pub(crate) fn call(&mut self, line: &str) -> &mut Self {
        let answer = self.project.run(&heirloom_testkit::sh(line));
        self.add(line, &answer)
    }

    /// Calls the program with this standard input and adds its output.
    pub(crate) fn input(&mut self, line: &str, input: &[u8]) -> &mut Self {
        let answer = self.project.input(&heirloom_testkit::sh(line), input);
        self.add(line, &answer)
    }

    /// Calls the program and adds its standard output, where the order of standard error differs between runs.
    pub(crate) fn call_without_stderr(&mut self, line: &str) -> &mut Self {
        let mut answer = self.project.run(&heirloom_testkit::sh(line));
        answer.stderr.clear();
        self.add(line, &answer)
    }

    fn add(&mut self, line: &str, answer: &Answer) -> &mut Self {
        self.text += &format!("$ heirloom {line}\n");
        for part in [&answer.stdout, &answer.stderr] {
            self.text += part;
            if !part.is_empty() && !part.ends_with('\n') {
                self.text.push('\n');
            }
        }
        if answer.code != 0 {
            self.text += &format!("[exit code {}]\n", answer.code);
        }
        self.text.push('\n');
        self
    }

    /// Compares the text with the snapshot of this name.
    #[track_caller]
    pub(crate) fn assert(&self, name: &str) {
        assert_text(name, self.project, &self.text);
    }

    /// Compares a text that is equal in every run with the snapshot of this name.
    #[track_caller]
    pub(crate) fn assert_constant(&self, name: &str) {
        assert_constant_text(name, &self.text);
    }
}
