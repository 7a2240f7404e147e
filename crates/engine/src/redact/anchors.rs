//! Where a secret may be: three letters that every way of finding one begins with, looked up in a bitmap.
//!
//! Built by the compiler. An automaton over the same words would be built anew by every process, for longer
//! than the whole redaction of a line may take, and reads no faster.

use super::formats::FORMATS;

/// What to do where three letters were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Match a row of the table.
    Format(usize),
    /// A name around here may tell.
    Name,
    /// `Bearer`.
    Bearer,
    /// `://`.
    Url,
    /// `BEGIN`.
    Pem,
    /// The `-Li` of `Private-Lines`.
    PuttyLines,
    /// The beginning of a mark.
    Mark,
    /// `-u` or `-user`.
    UserOption,
    /// ` -p`.
    PasswordOption,
    /// The beginning of `curl`.
    Curl,
    /// The inside of `mysql`.
    Mysql,
    /// The inside of `identified by`.
    IdentifiedBy,
}

/// Letters that stand in each word, chosen to be rare elsewhere, and what they lead to.
const WORDS: &[(&[u8; 3], Look)] = &[
    (b"pas", Look::Name),
    (b"pwd", Look::Name),
    (b"ecr", Look::Name),
    (b"tok", Look::Name),
    (b"key", Look::Name),
    (b"uth", Look::Name),
    (b"ede", Look::Name),
    (b"eds", Look::Name),
    (b"kie", Look::Name),
    (b"bea", Look::Bearer),
    (b"://", Look::Url),
    (b"beg", Look::Pem),
    (b"-li", Look::PuttyLines),
    (b"[re", Look::Mark),
    (b"-u ", Look::UserOption),
    (b"-us", Look::UserOption),
    (b" -p", Look::PasswordOption),
    (b"cur", Look::Curl),
    (b"ysq", Look::Mysql),
    (b"ied", Look::IdentifiedBy),
];

const COUNT: usize = FORMATS.len() + WORDS.len();
const HEADS: usize = 1 << 10;
const NONE: u8 = u8::MAX;

struct Table {
    /// One bit for each hash.
    bits: [u64; (1 << 15) / 64],
    /// The first entry of each bucket.
    heads: [u8; HEADS],
    /// The next entry of the same bucket.
    next: [u8; COUNT],
    letters: [u32; COUNT],
}

static TABLE: Table = build();

const fn build() -> Table {
    assert!(COUNT < NONE as usize, "an entry's number must fit a byte");
    let mut table = Table {
        bits: [0; (1 << 15) / 64],
        heads: [NONE; HEADS],
        next: [NONE; COUNT],
        letters: [0; COUNT],
    };
    let mut at = 0;
    while at < COUNT {
        let letters = if at < FORMATS.len() {
            let front = FORMATS[at].front.as_bytes();
            assert!(
                front.len() > 3 && front[0] != b'[' && front[1] != b'[' && front[2] != b'[',
                "a format begins with three literal characters"
            );
            fold(front[0], front[1], front[2])
        } else {
            let word = WORDS[at - FORMATS.len()].0;
            fold(word[0], word[1], word[2])
        };
        let hash = hash(letters);
        table.bits[hash >> 6] |= 1 << (hash & 63);
        table.letters[at] = letters;
        table.next[at] = table.heads[hash >> 5];
        table.heads[hash >> 5] = at as u8;
        at += 1;
    }
    table
}

/// Three letters without their case.
const fn fold(a: u8, b: u8, c: u8) -> u32 {
    (a as u32 | (b as u32) << 8 | (c as u32) << 16) | 0x20_2020
}

const fn hash(letters: u32) -> usize {
    (letters.wrapping_mul(0x9e37_79b1) >> 17) as usize
}

fn may_be(letters: u64) -> u64 {
    let hash = hash((letters & 0xff_ffff) as u32 | 0x20_2020);
    (TABLE.bits[hash >> 6] >> (hash & 63)) & 1
}

/// The first place from `from` on where one of the anchors may be.
pub(super) fn next(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    let rest = bytes.get(from..)?;
    // Six places for each eight bytes, and one question for all six: a branch for each would cost more than
    // the look.
    while let Some(chunk) = rest.get(at - from..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk);
        let hits = may_be(word)
            | may_be(word >> 8) << 1
            | may_be(word >> 16) << 2
            | may_be(word >> 24) << 3
            | may_be(word >> 32) << 4
            | may_be(word >> 40) << 5;
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize);
        }
        at += 6;
    }
    while let Some(&[a, b, c]) = bytes.get(at..).and_then(<[u8]>::first_chunk::<3>) {
        if may_be(u64::from(fold(a, b, c))) != 0 {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Calls `each` with what the letters at `at` lead to.
pub(super) fn at(bytes: &[u8], at: usize, mut each: impl FnMut(Look)) {
    let Some(&[a, b, c]) = bytes.get(at..).and_then(<[u8]>::first_chunk::<3>) else {
        return;
    };
    let letters = fold(a, b, c);
    let mut entry = TABLE.heads[hash(letters) >> 5];
    while entry != NONE {
        let number = usize::from(entry);
        if TABLE.letters[number] == letters {
            each(match number.checked_sub(FORMATS.len()) {
                None => Look::Format(number),
                Some(word) => WORDS[word].1,
            });
        }
        entry = TABLE.next[number];
    }
}
