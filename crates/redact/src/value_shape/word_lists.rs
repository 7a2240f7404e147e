//! Words that values without a secret contain.

/// Parts of placeholders, and of texts that replace a secret.
pub(super) const FILLERS: &[&str] = &[
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

/// Position after the last filler that begins with each byte, and before it, in [`BY_FIRST_BYTE`].
pub(super) static FIRST_BYTES: [(u8, u8); 256] = {
    let mut ranges = [(0, 0); 256];
    let mut at = 0;
    while at < FILLERS.len() {
        let first = FILLERS[BY_FIRST_BYTE[at] as usize].as_bytes()[0] as usize;
        if ranges[first].1 == 0 {
            ranges[first].0 = at as u8;
        }
        ranges[first].1 = at as u8 + 1;
        at += 1;
    }
    ranges
};

/// Numbers of the fillers, sorted by their first byte.
pub(super) static BY_FIRST_BYTE: [u8; FILLERS.len()] = {
    let mut sorted = [0; FILLERS.len()];
    let mut count = 0;
    let mut byte = 0;
    while byte < 256 {
        let mut at = 0;
        while at < FILLERS.len() {
            if FILLERS[at].as_bytes()[0] as usize == byte {
                sorted[count] = at as u8;
                count += 1;
            }
            at += 1;
        }
        byte += 1;
    }
    sorted
};

/// Values that are words of a programming language, a form or a description.
pub(super) const WORDS: &[&str] = &[
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
    "warn",
    "allow",
    "deny",
    "forbid",
    "expect",
    "ignore",
    "error",
    "off",
    "k8s",
    "win32",
    "x86",
    "http2",
];
