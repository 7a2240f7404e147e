//! Numbers that name something: a status, a version, a code, a port, a count of arguments.

use super::{is_hash, is_number_of_test, is_test_word};
use std::ops::Range;

/// Nouns that name the number behind them.
const NAMING_NOUNS: [&str; 54] = [
    "android",
    "angular",
    "clang",
    "clause",
    "code",
    "cuda",
    "debian",
    "django",
    "docker",
    "errno",
    "errorcode",
    "es",
    "gcc",
    "glibc",
    "go",
    "golang",
    "http",
    "https",
    "iso",
    "java",
    "jdk",
    "kotlin",
    "kubernetes",
    "llvm",
    "macos",
    "mysql",
    "node",
    "nodejs",
    "npm",
    "numpy",
    "openssl",
    "php",
    "pip",
    "pnpm",
    "port",
    "postgres",
    "postgresql",
    "python",
    "react",
    "redis",
    "ruby",
    "rust",
    "rustc",
    "sha",
    "signal",
    "sqlite",
    "sqlstate",
    "status",
    "swift",
    "tls",
    "ubuntu",
    "utf",
    "version",
    "windows",
];
/// Ends of compound nouns that name the number behind them: `statusCode`, `exit_status`.
const NAMING_ENDS: [&str; 5] = ["code", "errno", "port", "status", "version"];
/// Nouns that name the number behind them, if no colon is in between: `error 1045`, but `error: 3 tests failed`.
const ERROR_NOUNS: [&str; 3] = ["err", "error", "warning"];
/// Nouns before a place or a counter.
const PLACE_NOUNS: [&str; 23] = [
    "attempt",
    "byte",
    "bytes",
    "char",
    "character",
    "col",
    "column",
    "index",
    "iteration",
    "job",
    "line",
    "lines",
    "ln",
    "offset",
    "pid",
    "pos",
    "position",
    "process",
    "retry",
    "row",
    "thread",
    "tid",
    "worker",
];
/// Units of measures behind a number.
const UNITS: [&str; 40] = [
    "b",
    "byte",
    "bytes",
    "d",
    "day",
    "days",
    "gb",
    "gib",
    "h",
    "hour",
    "hours",
    "hz",
    "k",
    "kb",
    "kib",
    "m",
    "mb",
    "mhz",
    "mib",
    "millis",
    "milliseconds",
    "min",
    "mins",
    "minute",
    "minutes",
    "ms",
    "msec",
    "ns",
    "percent",
    "px",
    "s",
    "sec",
    "second",
    "seconds",
    "secs",
    "tb",
    "us",
    "µs",
    "x",
    "μs",
];
/// Words of an error that is about a request.
const WEB_WORDS: [&str; 12] = [
    "bad gateway",
    "endpoint",
    "fetch",
    "forbidden",
    "get /",
    "http",
    "not found",
    "post /",
    "request",
    "response",
    "status",
    "unauthorized",
];
/// Nouns of what a call takes.
const ARGUMENT_NOUNS: [&str; 7] = [
    "arg",
    "args",
    "argument",
    "operand",
    "parameter",
    "params",
    "positional",
];
/// Words before a host.
const CONNECTION_WORDS: [&str; 15] = [
    "address",
    "bind",
    "connect",
    "connecting",
    "dial",
    "eaddrinuse",
    "econnrefused",
    "econnreset",
    "ehostunreach",
    "etimedout",
    "host",
    "listen",
    "listening",
    "tcp",
    "to",
];
/// Ends of the names of hosts.
const HOST_ENDS: [&str; 12] = [
    "app",
    "cloud",
    "com",
    "dev",
    "internal",
    "io",
    "lan",
    "local",
    "localdomain",
    "net",
    "org",
    "test",
];
/// First port that a system assigns to outgoing connections (Linux, `ip_local_port_range`).
const EPHEMERAL_PORT_MIN: u32 = 32_768;
/// Bytes before a number in which its noun is looked for.
const NOUN_BYTES_MAX: usize = 48;
/// Words behind a number among which its noun is looked for: `2 required positional arguments`.
const NOUN_WORDS_MAX: usize = 3;

/// Text around the numbers of an error.
pub(super) struct NumberContext<'t> {
    text: &'t str,
    lower: String,
    is_web: bool,
    has_arguments: bool,
    /// End of the last number that was found to be named.
    named_end: Option<usize>,
}

impl<'t> NumberContext<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        // Offsets must be those of the text.
        let lower = text.to_ascii_lowercase();
        let contains = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        Self {
            text,
            is_web: contains(&WEB_WORDS),
            has_arguments: contains(&ARGUMENT_NOUNS),
            lower,
            named_end: None,
        }
    }

    /// Returns true if the number at `range` names something.
    pub(super) fn is_named(&mut self, range: Range<usize>) -> bool {
        let is_named = self.is_number_named(&range);
        if is_named {
            self.named_end = Some(range.end);
        }
        is_named
    }

    fn is_number_named(&self, range: &Range<usize>) -> bool {
        let number = &self.lower[range.clone()];
        let (noun, between) = self.noun_before(range.start);
        let is_code = is_naming_noun(noun)
            || ERROR_NOUNS.contains(&noun) && !between.contains([':', ',', '-']);
        if number.starts_with("0x") || is_hash(number) {
            return is_code;
        }
        if let Some(is_port) = self.port(range) {
            return is_port;
        }
        if PLACE_NOUNS.contains(&noun) || self.is_measure(range) || is_ip(number) {
            return false;
        }
        if noun.ends_with("port") {
            return is_fixed_port(number);
        }
        is_code
            || self.is_of_test(range)
            || self.is_http_status(number)
            || self.is_argument_count(range, noun)
            || self.is_version(number, noun, between, range.start)
            || self.continues_name(range.start, noun, between)
    }

    /// Returns the noun before a place, and what is between them.
    fn noun_before(&self, at: usize) -> (&str, &str) {
        let mut from = at.saturating_sub(NOUN_BYTES_MAX);
        while !self.lower.is_char_boundary(from) {
            from += 1;
        }
        let before = &self.lower[from..at];
        let is_between = |c: char| " []{}()<>=\"'`:#~^-/!".contains(c);
        let noun = before.trim_end_matches(is_between);
        let between = &before[noun.len()..];
        let start = noun
            .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
            .map_or(0, |at| {
                at + noun[at..].chars().next().map_or(1, char::len_utf8)
            });
        // The end of a file's name, as in `a.go:14`, is no noun.
        let is_ending = noun[..start].ends_with('.');
        (if is_ending { "" } else { &noun[start..] }, between)
    }

    /// Returns true for a duration, a size, a share, a date or a time.
    fn is_measure(&self, range: &Range<usize>) -> bool {
        let number = &self.lower[range.clone()];
        let unit = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let after = &self.lower[range.end..];
        let is_time =
            after.starts_with(':') && after[1..].starts_with(|c: char| c.is_ascii_digit());
        let next = after.strip_prefix(' ').unwrap_or_default();
        let next = next.split(|c: char| !c.is_alphanumeric()).next();
        UNITS.contains(&unit)
            || after.starts_with('%')
            || is_time
            || unit.is_empty() && next.is_some_and(|next| UNITS.contains(&next))
    }

    /// Returns true for the fixed port of `host:port`, false for another one, and `None` for any other number.
    fn port(&self, range: &Range<usize>) -> Option<bool> {
        let number = &self.lower[range.clone()];
        let before = self.lower[..range.start].strip_suffix(':')?;
        let is_host_part = |c: char| c.is_alphanumeric() || ".-_*:[]".contains(c);
        let head = before.trim_end_matches(is_host_part);
        let host = &before[head.len()..];
        let last = host.rsplit('.').next().unwrap_or(host);
        let is_dotted = host.contains('.');
        let is_host = head.ends_with("://")
            || head.ends_with('@')
            || matches!(host, "localhost" | "::" | "*" | "[::]" | "[::1]")
            || is_ip(host)
            || is_dotted && HOST_ENDS.contains(&last) && !host.contains(':')
            || !is_dotted
                && !host.is_empty()
                && !host.contains(':')
                && CONNECTION_WORDS.contains(&self.noun_before(head.len()).0);
        is_host.then(|| is_fixed_port(number))
    }

    /// Returns true for a number in the name of a test, and for the number of a test.
    fn is_of_test(&self, range: &Range<usize>) -> bool {
        let start = self.lower[..range.start].rfind(' ').map_or(0, |at| at + 1);
        let rest = &self.lower[start..];
        let word = rest.split(' ').next().unwrap_or(rest);
        let before = self.lower[..start].trim_end().rsplit(' ').next();
        if before.is_some_and(|before| is_number_of_test(before, word)) {
            return true;
        }
        let is_value = self.lower[..range.start].ends_with([':', '(', '=']);
        is_test_word(word) && !is_value
    }

    fn is_http_status(&self, number: &str) -> bool {
        let status = number.parse::<u32>();
        self.is_web && status.is_ok_and(|status| (400..600).contains(&status))
    }

    /// Returns true for the numbers in `takes 2 positional arguments but 3 were given`.
    fn is_argument_count(&self, range: &Range<usize>, noun: &str) -> bool {
        let is_small = range.len() <= 2;
        if !is_small || !self.has_arguments {
            return false;
        }
        let mut behind = self.lower[range.end..].split_whitespace();
        let given = behind.clone().next().unwrap_or_default();
        behind
            .by_ref()
            .take(NOUN_WORDS_MAX)
            .any(|word| ARGUMENT_NOUNS.iter().any(|noun| word.starts_with(noun)))
            || matches!(noun, "got" | "but" | "given" | "received" | "found")
            || matches!(given, "was" | "were" | "given")
    }

    /// Returns true for a version: `1.2.3`, `>=3.8`, `requires Python 3.8`.
    fn is_version(&self, number: &str, noun: &str, between: &str, at: usize) -> bool {
        let dots = number.bytes().filter(|byte| *byte == b'.').count();
        if dots != 1 {
            return dots > 1;
        }
        let before = &self.text[..at - between.len()];
        let (before, name) = before.split_at(before.len() - noun.len());
        let is_name = name.starts_with(char::is_uppercase)
            && before.ends_with(' ')
            && before.trim_end().ends_with(char::is_lowercase);
        let is_compared = ["==", ">=", "<=", "~=", "^", "~>"];
        is_compared
            .iter()
            .any(|mark| between.trim_end().ends_with(mark))
            || self.text[..at].ends_with('@')
            || is_name && !between.contains(':')
    }

    /// Returns true for the number in `ORA-00942` and the second one in `CVE-2021-44228`.
    fn continues_name(&self, at: usize, noun: &str, between: &str) -> bool {
        if between != "-" {
            return false;
        }
        let name_end = at - 1;
        let name = self
            .text
            .get(name_end - noun.len()..name_end)
            .unwrap_or_default();
        self.named_end == Some(name_end)
            || name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_uppercase())
    }
}

fn is_naming_noun(noun: &str) -> bool {
    NAMING_NOUNS.contains(&noun) || NAMING_ENDS.iter().any(|end| noun.ends_with(end))
}

/// Returns true for four numbers with dots between them.
fn is_ip(number: &str) -> bool {
    number.split('.').count() == 4 && number.split('.').all(|part| part.parse::<u8>().is_ok())
}

/// Returns true for a port that is the same in each run.
fn is_fixed_port(number: &str) -> bool {
    number
        .parse::<u32>()
        .is_ok_and(|port| port < EPHEMERAL_PORT_MIN)
}
