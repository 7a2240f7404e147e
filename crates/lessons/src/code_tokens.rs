//! Code tokens of sentences: code spans, identifiers, paths, options and numbers, and the plain words around them.

/// Kind of a code token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Code span, identifier, path or option: it names one thing.
    Code,
    /// Name in mixed case, such as `LiveView`: a class, or a product.
    Name,
    /// Number of at least two digits.
    Number,
}

/// Code token of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodeToken<'s> {
    /// Text without backticks.
    pub(crate) text: &'s str,
    /// Kind.
    pub(crate) kind: TokenKind,
}

/// Endings of files in prose, in lower case.
const EXTENSIONS: [&str; 47] = [
    "c",
    "cc",
    "cfg",
    "conf",
    "cpp",
    "cs",
    "css",
    "csproj",
    "env",
    "ex",
    "exs",
    "go",
    "gradle",
    "h",
    "heex",
    "hpp",
    "html",
    "ini",
    "java",
    "js",
    "json",
    "jsx",
    "kt",
    "kts",
    "lock",
    "md",
    "mjs",
    "cjs",
    "mod",
    "php",
    "properties",
    "proto",
    "py",
    "rb",
    "rs",
    "scss",
    "sh",
    "sql",
    "svelte",
    "swift",
    "tf",
    "toml",
    "ts",
    "tsx",
    "vue",
    "yaml",
    "yml",
];

/// Returns the code tokens of a sentence.
pub(crate) fn code_tokens(sentence: &str) -> Vec<CodeToken<'_>> {
    let mut found = Vec::new();
    for (number, part) in sentence.split('`').enumerate() {
        let text = part.trim();
        // Parts between backticks have odd numbers.
        if number % 2 == 1 {
            if !text.is_empty() {
                let kind = TokenKind::Code;
                found.push(CodeToken { text, kind });
            }
            continue;
        }
        for word in part.split_whitespace() {
            let text = trim_punctuation(word);
            if let Some(kind) = word_kind(text) {
                found.push(CodeToken { text, kind });
            }
        }
    }
    found
}

/// Removes punctuation around a word, but not the marks of options and atoms.
fn trim_punctuation(word: &str) -> &str {
    word.trim_start_matches(['(', '"', '\'', '[', '*', '“', '‘'])
        .trim_end_matches([
            ',', '.', ';', ':', '!', '?', ')', '"', '\'', ']', '*', '”', '’', '…',
        ])
}

/// Returns the kind of a word, if it looks like code.
fn word_kind(word: &str) -> Option<TokenKind> {
    if word.len() < 2 || word.starts_with("http") && word.contains("://") {
        return None;
    }
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(TokenKind::Number);
    }
    let has_letters = word.contains(|c: char| c.is_alphabetic());
    if !has_letters {
        return None;
    }
    let is_option = word.starts_with("--") || word.starts_with('-') && word.len() == 2;
    let is_atom = word.starts_with([':', '@', '$']) && word.len() > 2;
    let is_joined =
        word.contains(['_', '=', '{', '(']) || word.contains("::") || word.contains("->");
    if is_option || is_atom || is_joined || is_path(word) || is_camel_case(word) {
        return Some(TokenKind::Code);
    }
    is_mixed_case(word).then_some(TokenKind::Name)
}

/// Returns true for a word that ends like the name of a source or configuration file.
pub(crate) fn is_file_name(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(name, end)| {
        !name.is_empty() && end.len() <= 10 && EXTENSIONS.contains(&end.to_lowercase().as_str())
    })
}

/// Returns true for file names and paths, not for alternatives such as `read/write`.
fn is_path(word: &str) -> bool {
    let has_extension = is_file_name(word);
    let slashes = word.matches('/').count();
    let is_scoped = word.starts_with(['/', '.', '~']) && slashes > 0;
    has_extension
        || slashes >= 2
        || is_scoped
        || slashes == 1 && word.contains(|c: char| c.is_ascii_digit())
}

/// Returns true for `camelCase`.
fn is_camel_case(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.contains(|c: char| c.is_ascii_uppercase())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
}

/// Returns true for `MixedCase`, `Module.Name` and upper case with digits.
fn is_mixed_case(word: &str) -> bool {
    let is_word = word
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
    let capitals = word.bytes().filter(u8::is_ascii_uppercase).count();
    let has_lower = word.contains(|c: char| c.is_ascii_lowercase());
    let has_digit = word.contains(|c: char| c.is_ascii_digit());
    is_word
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && (capitals >= 2 && has_lower || has_digit)
}

/// Words without meaning for a comparison, in lower case.
const COMMON_WORDS: [&str; 120] = [
    "about",
    "actual",
    "added",
    "adding",
    "after",
    "again",
    "against",
    "allow",
    "allowed",
    "already",
    "also",
    "always",
    "another",
    "because",
    "been",
    "before",
    "being",
    "below",
    "both",
    "called",
    "calls",
    "cannot",
    "cause",
    "caused",
    "causes",
    "causing",
    "change",
    "changed",
    "changes",
    "clear",
    "code",
    "configured",
    "contain",
    "contains",
    "correct",
    "could",
    "default",
    "defined",
    "does",
    "doesn",
    "doing",
    "done",
    "each",
    "error",
    "errors",
    "exist",
    "existing",
    "exists",
    "expect",
    "expected",
    "expects",
    "fail",
    "failed",
    "failing",
    "fails",
    "failure",
    "false",
    "file",
    "files",
    "first",
    "fixed",
    "found",
    "from",
    "have",
    "here",
    "inside",
    "instead",
    "into",
    "isn",
    "issue",
    "just",
    "line",
    "make",
    "means",
    "missing",
    "must",
    "need",
    "needed",
    "needs",
    "only",
    "other",
    "problem",
    "real",
    "reason",
    "require",
    "required",
    "requires",
    "root",
    "same",
    "should",
    "since",
    "some",
    "still",
    "support",
    "test",
    "tests",
    "than",
    "that",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "true",
    "used",
    "uses",
    "using",
    "value",
    "values",
    "want",
    "were",
    "when",
    "which",
    "while",
    "will",
    "with",
    "without",
    "would",
];

/// Returns the words of a text that carry meaning, in lower case: parts of identifiers of at least three letters.
pub(crate) fn content_words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        for part in split_case(word) {
            let lower = part.to_lowercase();
            let is_long = lower.chars().count() >= 3 && !lower.bytes().all(|b| b.is_ascii_digit());
            if is_long && !COMMON_WORDS.contains(&lower.as_str()) {
                found.push(lower);
            }
        }
    }
    found
}

/// Splits an identifier at changes from small to capital letters.
fn split_case(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut was_lower = false;
        let end = rest.char_indices().find(|(_, c)| {
            let is_start = was_lower && c.is_uppercase();
            was_lower = c.is_lowercase();
            is_start
        });
        let (part, others) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        rest = others;
        Some(part)
    })
}

/// Returns the stem by which plural and singular are compared.
pub(crate) fn stem(word: &str) -> &str {
    let stem = word.strip_suffix("es").or_else(|| word.strip_suffix('s'));
    stem.filter(|stem| stem.len() >= 4).unwrap_or(word)
}

/// Returns true if a token occurs in a text, or its last part if it is qualified. Both are in lower case.
pub(crate) fn contains_token(text: &str, token: &str) -> bool {
    let bare = token.trim_end_matches("()").trim_end_matches('/');
    let is_word = |part: &str| part.len() >= 2 && text.contains(part);
    // The arity of a function is not written where it is called.
    let is_arity = |end: &str| end.bytes().all(|byte| byte.is_ascii_digit());
    let name = match bare.rsplit_once('/') {
        Some((name, end)) if is_arity(end) => name,
        _ => bare,
    };
    let last = name.rsplit(['.', ':', '#']).next().unwrap_or(name);
    is_word(name) || last.len() >= 4 && last != name && is_word(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(sentence: &str) -> Vec<&str> {
        let all = code_tokens(sentence);
        all.iter().map(|token| token.text).collect()
    }

    #[test]
    fn code_tokens_of_sentences() {
        for (sentence, expected) in [
            (
                "The config needs `secret_key_base` set.",
                vec!["secret_key_base"],
            ),
            (
                "Set DATABASE_URL and --locked in ci.yml, please.",
                vec!["DATABASE_URL", "--locked", "ci.yml"],
            ),
            ("Read/write access is fine, e.g. and/or.", vec![]),
            (
                "The LiveView process uses :auto mode on port 8080.",
                vec!["LiveView", ":auto", "8080"],
            ),
            (
                "Call getUser from src/app/users.",
                vec!["getUser", "src/app/users"],
            ),
            ("Nothing here, 3 times.", vec![]),
            ("See https://example.org/a_b now", vec![]),
            ("an open `tick", vec!["tick"]),
        ] {
            assert_eq!(tokens(sentence), expected, "{sentence}");
        }
    }

    #[test]
    fn contains_token_ignores_qualifiers_and_arity() {
        let text = "alias app.endpoint\nlive(conn)";
        for (token, is_in) in [
            ("live/2", true),
            ("app.endpoint", true),
            ("shop.endpoint", true),
            ("endpoint()", true),
            ("conn_case", false),
            ("x", false),
        ] {
            assert_eq!(contains_token(text, token), is_in, "{token}");
        }
    }

    #[test]
    fn content_words_split_identifiers() {
        assert_eq!(
            content_words("config :app, MyApp.Endpoint"),
            ["config", "app", "app", "endpoint"]
        );
        assert_eq!(
            content_words("the secretKey_base"),
            ["the", "secret", "key", "base"]
        );
        assert_eq!(stem("processes"), "process");
        assert_eq!(stem("uses"), "uses");
    }
}
