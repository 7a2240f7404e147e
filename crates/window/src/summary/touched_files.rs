//! Files touched by tool calls.

use super::identifier_tokenizer;
use super::identifiers::TextSpan;
use super::identity_hasher::HashKeyMap;
use crate::message::ToolCall;
use memchr::memmem::Finder;
use std::ops::Range;
use std::sync::LazyLock;

/// Maximum number of tracked files; beyond it the least recently touched half is dropped.
const FILES: usize = 512;
/// Number of bytes of arguments that are searched for paths without a key.
const LOOK: usize = 2_000;
/// Maximum number of paths of one command.
const PATHS: usize = 6;

/// A touched file.
#[derive(Debug, Clone)]
pub(super) struct TouchedFile {
    pub(super) place: TextSpan,
    pub(super) is_edited: bool,
    hash: u64,
    last: u64,
}

/// Touched files so far.
#[derive(Debug, Clone, Default)]
pub(super) struct TouchedFiles {
    all: Vec<TouchedFile>,
    at: HashKeyMap<usize>,
    touched: u64,
}

static KEYS: LazyLock<[Finder<'static>; 3]> = LazyLock::new(|| {
    [
        Finder::new("path\":"),
        Finder::new("file\":"),
        Finder::new("filename\":"),
    ]
});

static WRITES: LazyLock<[Finder<'static>; 3]> =
    LazyLock::new(|| ["sed -i", "tee ", "apply_patch"].map(Finder::new));

/// Collector of the paths in a command during tokenisation.
#[derive(Debug, Default)]
pub(super) struct CommandPaths {
    found: [Range<usize>; PATHS],
    count: usize,
}

impl CommandPaths {
    /// Adds a token of the arguments if it looks like a file path.
    pub(super) fn add_token(&mut self, text: &str, range: Range<usize>) {
        let token = &text[range.clone()];
        if self.count == PATHS || range.end > LOOK || !identifier_tokenizer::is_path(token) {
            return;
        }
        if memchr::memrchr(b'.', token.as_bytes()) > memchr::memrchr(b'/', token.as_bytes()) {
            let rooted = text[..range.start].ends_with('/');
            self.found[self.count] = range.start - usize::from(rooted)..range.end;
            self.count += 1;
        }
    }
}

impl TouchedFiles {
    /// Records the files of the call at this message and part: the file named by a key, else those of its command.
    pub(super) fn record_call(&mut self, call: &ToolCall, at: (u32, u32), paths: &CommandPaths) {
        let text = call.arguments.as_str();
        let keyed = KEYS
            .iter()
            .find_map(|key| path_value(text, key.find(text.as_bytes())? + key.needle().len()));
        if let Some((start, len)) = keyed {
            let place = span_at(at, start, len);
            self.touch(&text[start..start + len], place, is_write_call(call));
        } else if paths.count > 0 {
            let edited = writes_files(&text[..text.floor_char_boundary(LOOK.min(text.len()))]);
            for range in &paths.found[..paths.count] {
                let place = span_at(at, range.start, range.len());
                self.touch(&text[range.clone()], place, edited);
            }
        }
    }

    fn touch(&mut self, path: &str, place: TextSpan, edited: bool) {
        let hash = identifier_tokenizer::hash(path);
        self.touched += 1;
        let index = *self.at.entry(hash).or_insert(self.all.len());
        match self.all.get_mut(index) {
            Some(file) => {
                file.last = self.touched;
                file.is_edited |= edited;
            }
            None => self.all.push(TouchedFile {
                place,
                is_edited: edited,
                hash,
                last: self.touched,
            }),
        }
        if self.all.len() > FILES {
            self.evict_oldest();
        }
    }

    /// Drops the least recently touched half.
    fn evict_oldest(&mut self) {
        self.all
            .sort_unstable_by_key(|file| std::cmp::Reverse(file.last));
        self.all.truncate(FILES / 2);
        self.at = (0..)
            .zip(&self.all)
            .map(|(index, file)| (file.hash, index))
            .collect();
    }

    /// Returns the files, most recently touched first.
    pub(super) fn newest_first(&self) -> Vec<&TouchedFile> {
        let mut files: Vec<&TouchedFile> = self.all.iter().collect();
        files.sort_unstable_by_key(|file| std::cmp::Reverse(file.last));
        files
    }
}

fn span_at(at: (u32, u32), start: usize, len: usize) -> TextSpan {
    TextSpan {
        message: at.0,
        part: at.1,
        start: u32::try_from(start).unwrap_or(u32::MAX),
        len: u32::try_from(len).unwrap_or(u32::MAX),
    }
}

/// Returns start and length of the value after a key, if it is a path on one line without escapes.
fn path_value(text: &str, key_end: usize) -> Option<(usize, usize)> {
    let rest = text[key_end..].trim_start();
    let rest = rest.strip_prefix('"')?;
    let start = text.len() - rest.len();
    let len = rest.find('"')?;
    let path = &rest[..len];
    let fits = (1..=300).contains(&len) && !path.contains(['\\', '\n', ' ', ',']);
    fits.then_some((start, len))
}

/// Returns true if a command writes files.
fn writes_files(command: &str) -> bool {
    let bytes = command.as_bytes();
    let marked = memchr::memchr2_iter(b'<', b'>', bytes).any(|at| {
        matches!(bytes.get(at..at + 2), Some(b"<<" | b"> " | b">>")) && bytes[..at].ends_with(b" ")
    });
    marked || WRITES.iter().any(|mark| mark.find(bytes).is_some())
}

/// Returns true if a call with a path changes the file.
pub(super) fn is_write_call(call: &ToolCall) -> bool {
    let name = call.name.to_ascii_lowercase();
    let says = |text: &str| {
        ["edit", "write", "create", "insert", "replace", "patch"]
            .iter()
            .any(|word| text.contains(word))
    };
    // Some tools select reading or writing by an argument.
    says(&name) && !call.arguments.contains("\"view\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(calls: &[(&str, &str)]) -> Vec<(String, bool)> {
        let mut files = TouchedFiles::default();
        for (index, (name, arguments)) in (0..).zip(calls) {
            let call = ToolCall {
                id: String::new(),
                name: (*name).to_owned(),
                arguments: (*arguments).to_owned(),
                span: 0..0,
            };
            let mut paths = CommandPaths::default();
            identifier_tokenizer::scan(
                arguments,
                identifier_tokenizer::TextSyntax::Json,
                |range| paths.add_token(arguments, range),
            );
            files.record_call(&call, (index, 0), &paths);
        }
        let text = |file: &&TouchedFile| {
            let start = file.place.start as usize;
            let path =
                &calls[file.place.message as usize].1[start..start + file.place.len as usize];
            (path.to_owned(), file.is_edited)
        };
        files.newest_first().iter().map(text).collect()
    }

    #[test]
    fn paths_are_found_in_keys_and_commands() {
        let found = files(&[
            ("Read", r#"{"file_path":"/src/a.rs","limit":3}"#),
            ("bash", r#"{"command":"cd /w && sed -i 's/a/b/' src/b.py"}"#),
            (
                "str_replace_editor",
                r#"{"command":"view","path":"/src/c.py"}"#,
            ),
            (
                "Edit",
                r#"{"content":"see x/y.rs","file_path": "/src/a.rs"}"#,
            ),
            ("search", r#"{"path":"with spaces and \" quotes"}"#),
        ]);
        let expect = [
            ("/src/a.rs", true),
            ("/src/c.py", false),
            ("src/b.py", true),
        ];
        assert_eq!(
            found,
            expect.map(|(path, edited)| (path.to_owned(), edited))
        );
    }

    #[test]
    fn oldest_files_are_evicted() {
        let calls: Vec<String> = (0..2_000)
            .map(|n| format!(r#"{{"path":"dir/file{n}.rs"}}"#))
            .collect();
        let calls: Vec<(&str, &str)> = calls.iter().map(|call| ("Read", call.as_str())).collect();
        let found = files(&calls);
        assert!(found.len() <= FILES);
        assert_eq!(found[0].0, "dir/file1999.rs");
    }
}
