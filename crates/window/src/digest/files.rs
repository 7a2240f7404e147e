//! The files that calls of tools touched.

use super::names::{ByHash, Place};
use super::words;
use crate::message::Call;
use memchr::memmem::Finder;
use std::ops::Range;
use std::sync::LazyLock;

/// Files that are remembered; the one that was touched longest ago makes room.
const FILES: usize = 512;
/// Bytes of arguments that are searched for paths if no key says where one is.
const LOOK: usize = 2_000;
/// Paths of one command.
const PATHS: usize = 6;

/// One file.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) place: Place,
    pub(super) edited: bool,
    hash: u64,
    last: u64,
}

/// All files so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    all: Vec<File>,
    at: ByHash<usize>,
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

/// The paths that a command names, while its words are gone through.
#[derive(Debug, Default)]
pub(super) struct Paths {
    found: [Range<usize>; PATHS],
    count: usize,
}

impl Paths {
    /// Takes a token of the arguments, if it looks like the path of a file.
    pub(super) fn take(&mut self, text: &str, range: Range<usize>) {
        let token = &text[range.clone()];
        if self.count == PATHS || range.end > LOOK || !words::is_path(token) {
            return;
        }
        if memchr::memrchr(b'.', token.as_bytes()) > memchr::memrchr(b'/', token.as_bytes()) {
            let rooted = text[..range.start].ends_with('/');
            self.found[self.count] = range.start - usize::from(rooted)..range.end;
            self.count += 1;
        }
    }
}

impl Files {
    /// Notes the files of a call, which stands at that message and part: the one that a key names,
    /// else those of its command.
    pub(super) fn note(&mut self, call: &Call, at: (u32, u32), paths: &Paths) {
        let text = call.arguments.as_str();
        let keyed = KEYS
            .iter()
            .find_map(|key| value(text, key.find(text.as_bytes())? + key.needle().len()));
        if let Some((start, len)) = keyed {
            let place = place(at, start, len);
            self.touch(&text[start..start + len], place, writes(call));
        } else if paths.count > 0 {
            let edited = redirects(&text[..text.floor_char_boundary(LOOK.min(text.len()))]);
            for range in &paths.found[..paths.count] {
                let place = place(at, range.start, range.len());
                self.touch(&text[range.clone()], place, edited);
            }
        }
    }

    fn touch(&mut self, path: &str, place: Place, edited: bool) {
        let hash = words::hash(path);
        self.touched += 1;
        let index = *self.at.entry(hash).or_insert(self.all.len());
        match self.all.get_mut(index) {
            Some(file) => {
                file.last = self.touched;
                file.edited |= edited;
            }
            None => self.all.push(File {
                place,
                edited,
                hash,
                last: self.touched,
            }),
        }
        if self.all.len() > FILES {
            self.thin();
        }
    }

    /// Forgets the half that was touched longest ago.
    fn thin(&mut self) {
        self.all
            .sort_unstable_by_key(|file| std::cmp::Reverse(file.last));
        self.all.truncate(FILES / 2);
        self.at = (0..)
            .zip(&self.all)
            .map(|(index, file)| (file.hash, index))
            .collect();
    }

    /// The files, the last touched first.
    pub(super) fn newest(&self) -> Vec<&File> {
        let mut files: Vec<&File> = self.all.iter().collect();
        files.sort_unstable_by_key(|file| std::cmp::Reverse(file.last));
        files
    }
}

fn place(at: (u32, u32), start: usize, len: usize) -> Place {
    Place {
        message: at.0,
        part: at.1,
        start: u32::try_from(start).unwrap_or(u32::MAX),
        len: u32::try_from(len).unwrap_or(u32::MAX),
    }
}

/// Where the text behind a key is: a path on one line without escapes.
fn value(text: &str, behind: usize) -> Option<(usize, usize)> {
    let rest = text[behind..].trim_start();
    let rest = rest.strip_prefix('"')?;
    let start = text.len() - rest.len();
    let len = rest.find('"')?;
    let path = &rest[..len];
    let fits = (1..=300).contains(&len) && !path.contains(['\\', '\n', ' ', ',']);
    fits.then_some((start, len))
}

/// Whether a command writes into files.
fn redirects(command: &str) -> bool {
    let bytes = command.as_bytes();
    let marked = memchr::memchr2_iter(b'<', b'>', bytes).any(|at| {
        matches!(bytes.get(at..at + 2), Some(b"<<" | b"> " | b">>")) && bytes[..at].ends_with(b" ")
    });
    marked || WRITES.iter().any(|mark| mark.find(bytes).is_some())
}

/// Whether a call with a path changes the file.
pub(super) fn writes(call: &Call) -> bool {
    let name = call.name.to_ascii_lowercase();
    let says = |text: &str| {
        ["edit", "write", "create", "insert", "replace", "patch"]
            .iter()
            .any(|word| text.contains(word))
    };
    // Some tools do all that by a word in their arguments.
    says(&name) && !call.arguments.contains("\"view\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(calls: &[(&str, &str)]) -> Vec<(String, bool)> {
        let mut files = Files::default();
        for (index, (name, arguments)) in (0..).zip(calls) {
            let call = Call {
                id: String::new(),
                name: (*name).to_owned(),
                arguments: (*arguments).to_owned(),
                span: 0..0,
            };
            let mut paths = Paths::default();
            words::scan(arguments, words::Writing::Json, |range| {
                paths.take(arguments, range)
            });
            files.note(&call, (index, 0), &paths);
        }
        let text = |file: &&File| {
            let start = file.place.start as usize;
            let path =
                &calls[file.place.message as usize].1[start..start + file.place.len as usize];
            (path.to_owned(), file.edited)
        };
        files.newest().iter().map(text).collect()
    }

    #[test]
    fn paths_of_keys_and_of_commands() {
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
    fn the_oldest_make_room() {
        let calls: Vec<String> = (0..2_000)
            .map(|n| format!(r#"{{"path":"dir/file{n}.rs"}}"#))
            .collect();
        let calls: Vec<(&str, &str)> = calls.iter().map(|call| ("Read", call.as_str())).collect();
        let found = files(&calls);
        assert!(found.len() <= FILES);
        assert_eq!(found[0].0, "dir/file1999.rs");
    }
}
