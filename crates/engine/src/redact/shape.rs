//! What a value looks like: a secret, a word, a piece of code, or something that stands for a secret.

/// Bytes of a value that are looked at: what a secret is shows in its beginning.
pub(super) const SAMPLE_BYTES: usize = 256;

/// The bits of information in a byte, by Shannon.
pub(super) fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    let all = bytes.len() as f64;
    let of = |&count: &u32| {
        let share = f64::from(count) / all;
        -share * share.log2()
    };
    counts.iter().filter(|&&count| count > 0).map(of).sum()
}

/// How the bytes of a value are made up.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Shape {
    pub(super) length: usize,
    pub(super) letters: usize,
    pub(super) digits: usize,
    pub(super) upper: usize,
    /// Neither letters nor digits.
    pub(super) other: usize,
    pub(super) blanks: usize,
    /// Bytes that no token has: beyond letters, digits and `_ . = + / ~ - :`.
    pub(super) odd: usize,
    /// A digit with a letter behind it, in the same word.
    pub(super) turns: usize,
    pub(super) hex: bool,
}

impl Shape {
    pub(super) fn of(value: &str) -> Self {
        let bytes = sample(value);
        let mut shape = Self {
            length: value.len(),
            hex: true,
            ..Self::default()
        };
        let mut before = 0u8;
        for &byte in bytes {
            if byte.is_ascii_digit() {
                shape.digits += 1;
            } else if byte.is_ascii_alphabetic() || byte >= 0x80 {
                shape.letters += 1;
                shape.upper += usize::from(byte.is_ascii_uppercase());
                shape.turns += usize::from(before.is_ascii_digit());
            } else {
                shape.other += 1;
                shape.blanks += usize::from(byte.is_ascii_whitespace());
                shape.odd += usize::from(!b"_.=+/~-:".contains(&byte));
            }
            shape.hex &= byte.is_ascii_hexdigit();
            before = byte;
        }
        shape
    }

    pub(super) fn mixed(&self) -> bool {
        self.letters > 0 && self.digits > 0
    }
}

pub(super) fn sample(value: &str) -> &[u8] {
    let bytes = value.as_bytes();
    bytes.get(..SAMPLE_BYTES).unwrap_or(bytes)
}

/// The beginning of a value, whole characters.
pub(super) fn beginning(value: &str, bytes_max: usize) -> &str {
    let mut end = value.len().min(bytes_max);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    &value[..end]
}

/// Whether a value has the look of a generated key: as long, as mixed and as random.
///
/// The threshold of 3.5 bits and the least length of 10 are those of gitleaks' `generic-api-key`; hexadecimal
/// digits cannot have more than 4 bits and get 3.
pub(super) fn generated(value: &str, bits_min: f64) -> bool {
    let shape = Shape::of(value);
    if shape.length < 10 || shape.odd > 0 || !shape.mixed() || wordy(value) {
        return false;
    }
    let least = if shape.hex && shape.length >= 32 {
        bits_min.min(3.0)
    } else {
        bits_min
    };
    entropy(sample(value)) >= least
}

/// Whether a value is made of words and small numbers, as names of things are: `access_token_v2`.
pub(super) fn wordy(value: &str) -> bool {
    let value = String::from_utf8_lossy(sample(value));
    value
        .split(|c: char| !c.is_alphanumeric())
        .filter(|part| !part.is_empty())
        .all(|part| {
            let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
            let digits = part.len() - letters.len();
            let most = if letters.is_empty() { 4 } else { 3 };
            let plain = letters.chars().all(char::is_alphabetic);
            // Where capitals stand in the middle of nowhere no word is.
            digits <= most
                && plain
                && letters.len() <= 24
                && humps(letters) * 3 <= letters.len() + 2
        })
}

/// How many times a word goes from small to capital letters.
fn humps(word: &str) -> usize {
    let pairs = word.as_bytes().windows(2);
    pairs
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        .count()
}

/// Parts of values that stand for a secret or say that one is left out.
const FILLERS: &[&str] = &[
    "example",
    "changeme",
    "change_me",
    "change-me",
    "change_this",
    "changethis",
    "placeholder",
    "your_",
    "your-",
    "yourpass",
    "yourtoken",
    "yoursecret",
    "yourkey",
    "yourapi",
    "dummy",
    "redacted",
    "insert_",
    "insert-",
    "replace_",
    "replaceme",
    "replace-me",
    "xxxx",
    "****",
    "....",
    "${",
    "{{",
    "#{",
    "$(",
    "<%",
    "...",
    "%s",
    "abcdefghijklmnopqrstuvwxyz",
    "os.environ",
    "process.env",
    "getenv",
];

/// What the fillers begin with.
static BEGINS: [bool; 256] = {
    let mut begins = [false; 256];
    let mut at = 0;
    while at < FILLERS.len() {
        begins[FILLERS[at].as_bytes()[0] as usize] = true;
        at += 1;
    }
    begins
};

/// Values that are words of a language, a form or a description.
const WORDS: &[&str] = &[
    "string",
    "str",
    "text",
    "bytes",
    "bool",
    "boolean",
    "int",
    "integer",
    "number",
    "float",
    "object",
    "array",
    "any",
    "none",
    "null",
    "nil",
    "undefined",
    "true",
    "false",
    "void",
    "unknown",
    "never",
    "self",
    "this",
    "required",
    "optional",
    "password",
    "passwd",
    "passwort",
    "pass",
    "pwd",
    "passphrase",
    "secret",
    "token",
    "key",
    "value",
    "user",
    "username",
    "login",
    "email",
    "hidden",
    "masked",
    "empty",
    "missing",
    "invalid",
    "expired",
    "wrong",
    "incorrect",
    "yes",
    "no",
    "default",
    "varchar",
    "char",
    "test",
    "testing",
    "input",
    "inherit",
    "env",
    "credentials",
    "hash",
    "hashed",
    "encrypted",
    "plain",
    "plaintext",
    "stdin",
    "prompt",
    "file",
    "foo",
    "bar",
    "baz",
    "n/a",
    "tbd",
    "todo",
    "basic",
    "bearer",
    "oauth",
    "oauth2",
    "jwt",
    "saml",
    "ldap",
    "md5",
    "sha1",
    "sha256",
    "sha512",
    "bcrypt",
    "argon2",
    "argon2i",
    "argon2id",
    "pbkdf2",
    "scrypt",
    "base64",
    "utf8",
    "utf16",
    "aes128",
    "aes256",
    "rsa2048",
    "rsa4096",
    "hs256",
    "rs256",
    "es256",
    "ed25519",
    "x509",
    "latin1",
    "auth0",
    "md4",
    "k8s",
    "win32",
    "x86",
    "http2",
];

/// Whether a value says that a secret goes there, rather than being one.
pub(super) fn placeholder(value: &str) -> bool {
    let trimmed = value.trim();
    let bytes = sample(trimmed);
    let (Some(&first), Some(&last)) = (bytes.first(), trimmed.as_bytes().last()) else {
        return true;
    };
    let second = bytes.get(1).copied().unwrap_or(0);
    if first == b'$' && (second.is_ascii_alphabetic() || b"_{([".contains(&second)) {
        return true;
    }
    let wrapped = [(b'<', b'>'), (b'[', b']'), (b'{', b'}'), (b'%', b'%')];
    if wrapped.contains(&(first, last))
        || trimmed.contains('\u{2026}')
        || trimmed.contains('\u{2022}')
    {
        return true;
    }
    if bytes.iter().all(|byte| byte == &first) {
        return true;
    }
    let mut small = [0; SAMPLE_BYTES];
    let small = &mut small[..bytes.len()];
    small.copy_from_slice(bytes);
    small.make_ascii_lowercase();
    let small = &*small;
    (0..small.len()).any(|at| {
        BEGINS[usize::from(small[at])]
            && FILLERS
                .iter()
                .any(|filler| small[at..].starts_with(filler.as_bytes()))
    })
}

/// Whether the second half of a value has some variety: `ghp_aaaaaa…` is no key.
pub(super) fn varied(value: &str) -> bool {
    let bytes = value.as_bytes();
    let half = &bytes[bytes.len() / 2..];
    let mut seen = [false; 256];
    half.iter().for_each(|&byte| seen[usize::from(byte)] = true);
    seen.iter().filter(|&&seen| seen).count() >= half.len().min(5)
}

/// Whether a value is one of the words that stand where a value may stand.
pub(super) fn word(value: &str) -> bool {
    WORDS.iter().any(|word| word.eq_ignore_ascii_case(value))
}

/// Whether `bytes` contain `part`, small letters, in any case.
pub(super) fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes
        .windows(part.len())
        .any(|window| window.eq_ignore_ascii_case(part))
}

/// Whether a value is a place in the file system or the network, or the name of another thing.
pub(super) fn reference(value: &str) -> bool {
    if value.contains("://") {
        return true;
    }
    let path = value.starts_with('/')
        || value.starts_with("./")
        || value.starts_with("../")
        || value.starts_with("~/");
    if path {
        return Shape::of(value).upper == 0 && wordy(value);
    }
    let dotted = value.contains(['.', ':', '/']) && !value.ends_with(['.', ':', '/']);
    let named = |c: char| c.is_ascii_alphabetic() || "_.:/-".contains(c);
    dotted && value.chars().all(named)
}

/// Whether a value is an identifier, or several with dots between them.
pub(super) fn identifier(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$')
        && value
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_.$".contains(&b))
}

/// Whether an unquoted value is a piece of a program: a call, an index, a path, an operator.
pub(super) fn code(value: &str) -> bool {
    let value = beginning(value, SAMPLE_BYTES);
    let inside = ["::", "->", "})", ")}", "))", "}}"];
    value.contains(['(', '[', '{', '|'])
        || value.starts_with(['&', '*', '!', '@'])
        || inside.iter().any(|part| value.contains(part))
}
