//! Prefilter: trigrams that occur in every kind of secret, looked up in a bitmap.
//!
//! The table is built at compile time. An automaton over the same words would have to be built by every process,
//! which takes longer than the redaction of a line, and does not scan faster.

use super::nouns::NOUNS;
use super::secret_formats::FORMATS;

/// Check to run at an anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    /// Match a row of the format table.
    Format(usize),
    /// Classify the name around the anchor.
    Name,
    /// `Bearer`.
    Bearer,
    /// The inside of `facebook`.
    Facebook,
    /// Two digits and `|`, as between the number and the token of an application.
    NumberPair,
    /// `SK` and a hexadecimal digit.
    Twilio,
    /// `s.` at the beginning of a word.
    OldVault,
    /// `://`.
    Url,
    /// `BEGIN`.
    Pem,
    /// The `-EN` of `-----END`.
    PemEnd,
    /// The first bytes of a private key in base64.
    KeyBody,
    /// The `-Li` of `Private-Lines`.
    PuttyLines,
    /// The first bytes of a mark.
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
    /// The inside of a noun of another language.
    Noun(usize),
    /// ` / `, as between a name and a password.
    LoginPair,
    /// An option of a command that takes a secret.
    CommandOption,
    /// `/add` of `net user`.
    NetUser,
    /// The inside of a command with a secret at a position.
    Positional,
    /// The inside of a command or an address of Oracle.
    Oracle,
    /// The colon before a port of PostgreSQL.
    PgPass,
}

/// Trigrams of each word, chosen to be rare elsewhere, with their check.
const WORDS: &[(&[u8; 3], Anchor)] = &[
    (b"pas", Anchor::Name),
    (b"pwd", Anchor::Name),
    (b"ecr", Anchor::Name),
    (b"tok", Anchor::Name),
    (b"key", Anchor::Name),
    (b"uth", Anchor::Name),
    (b"ede", Anchor::Name),
    (b"eds", Anchor::Name),
    (b"kie", Anchor::Name),
    (b"_pw", Anchor::Name),
    (b"-pw", Anchor::Name),
    (b"pw=", Anchor::Name),
    (b"pw:", Anchor::Name),
    (b"pw\"", Anchor::Name),
    (b"pw'", Anchor::Name),
    (b"psk", Anchor::Name),
    (b"pin", Anchor::Name),
    (b"otp", Anchor::Name),
    (b"see", Anchor::Name),
    (b"mne", Anchor::Name),
    (b"hra", Anchor::Name),
    (b"bsy", Anchor::Name),
    (b"t_i", Anchor::Name),
    (b"t-i", Anchor::Name),
    (b"tid", Anchor::Name),
    (b"bea", Anchor::Bearer),
    (b"ceb", Anchor::Facebook),
    (b"sk0", Anchor::Twilio),
    (b"sk1", Anchor::Twilio),
    (b"sk2", Anchor::Twilio),
    (b"sk3", Anchor::Twilio),
    (b"sk4", Anchor::Twilio),
    (b"sk5", Anchor::Twilio),
    (b"sk6", Anchor::Twilio),
    (b"sk7", Anchor::Twilio),
    (b"sk8", Anchor::Twilio),
    (b"sk9", Anchor::Twilio),
    (b"ska", Anchor::Twilio),
    (b"skb", Anchor::Twilio),
    (b"skc", Anchor::Twilio),
    (b"skd", Anchor::Twilio),
    (b"ske", Anchor::Twilio),
    (b"skf", Anchor::Twilio),
    (b"\"s.", Anchor::OldVault),
    (b"'s.", Anchor::OldVault),
    (b"`s.", Anchor::OldVault),
    (b"=s.", Anchor::OldVault),
    (b":s.", Anchor::OldVault),
    (b" s.", Anchor::OldVault),
    (b"\ns.", Anchor::OldVault),
    (b">s.", Anchor::OldVault),
    (b"://", Anchor::Url),
    (b"beg", Anchor::Pem),
    (b"-en", Anchor::PemEnd),
    (b"mii", Anchor::KeyBody),
    (b"mhc", Anchor::KeyBody),
    (b"mhq", Anchor::KeyBody),
    (b"mig", Anchor::KeyBody),
    (b"mc4", Anchor::KeyBody),
    (b"b3b", Anchor::KeyBody),
    (b"-li", Anchor::PuttyLines),
    (b"[re", Anchor::Mark),
    (b"-u ", Anchor::UserOption),
    (b"-us", Anchor::UserOption),
    (b" -p", Anchor::PasswordOption),
    (b"cur", Anchor::Curl),
    (b"ysq", Anchor::Mysql),
    (b"ied", Anchor::IdentifiedBy),
    (b" / ", Anchor::LoginPair),
    (b" -p", Anchor::CommandOption),
    (b" -a", Anchor::CommandOption),
    (b" -w", Anchor::CommandOption),
    (b" -k", Anchor::CommandOption),
    (b" -t", Anchor::CommandOption),
    (b" -u", Anchor::CommandOption),
    (b" -s", Anchor::CommandOption),
    (b"/ad", Anchor::NetUser),
    (b"vau", Anchor::Positional),
    (b"d_u", Anchor::Positional),
    (b"tpa", Anchor::Positional),
    (b"scu", Anchor::Positional),
    (b"ysq", Anchor::Positional),
    (b"wpa", Anchor::Positional),
    (b"squ", Anchor::Positional),
    (b"p-b", Anchor::Positional),
    (b"lpl", Anchor::Oracle),
    (b"xpd", Anchor::Oracle),
    (b"mpd", Anchor::Oracle),
    (b"jdb", Anchor::Oracle),
    (b":54", Anchor::PgPass),
    (b":64", Anchor::PgPass),
    (b":*:", Anchor::PgPass),
];

/// Number of pairs of digits.
const PAIRS: usize = 100;
const FIRST_NOUN: usize = FORMATS.len() + WORDS.len();
const FIRST_PAIR: usize = FIRST_NOUN + NOUNS.len();
const COUNT: usize = FIRST_PAIR + PAIRS;
const HEADS: usize = 1 << 10;
const NONE: u16 = u16::MAX;

struct Table {
    /// One bit for each hash.
    bits: [u64; (1 << 16) / 64],
    /// The first entry of each bucket.
    heads: [u16; HEADS],
    /// The next entry of the same bucket.
    next: [u16; COUNT],
    letters: [u32; COUNT],
}

static TABLE: Table = build();

const fn build() -> Table {
    assert!(COUNT < NONE as usize, "an entry's number must fit 16 bits");
    let mut table = Table {
        bits: [0; (1 << 16) / 64],
        heads: [NONE; HEADS],
        next: [NONE; COUNT],
        letters: [0; COUNT],
    };
    let mut at = 0;
    while at < COUNT {
        let letters = if at < FORMATS.len() {
            let front = FORMATS[at].pattern.as_bytes();
            assert!(
                front.len() > 3 && front[0] != b'[' && front[1] != b'[' && front[2] != b'[',
                "a format begins with three literal characters"
            );
            fold(front[0], front[1], front[2])
        } else if at < FIRST_NOUN {
            let word = WORDS[at - FORMATS.len()].0;
            fold(word[0], word[1], word[2])
        } else if at < FIRST_PAIR {
            let noun = &NOUNS[at - FIRST_NOUN];
            let (text, from) = (noun.text, noun.anchor);
            fold(text[from], text[from + 1], text[from + 2])
        } else {
            let pair = at - FIRST_PAIR;
            fold(b'0' + (pair / 10) as u8, b'0' + (pair % 10) as u8, b'|')
        };
        let hash = hash(letters);
        table.bits[hash >> 6] |= 1 << (hash & 63);
        table.letters[at] = letters;
        table.next[at] = table.heads[hash >> 6];
        table.heads[hash >> 6] = at as u16;
        at += 1;
    }
    table
}

/// Packs three letters without their case.
const fn fold(a: u8, b: u8, c: u8) -> u32 {
    (a as u32 | (b as u32) << 8 | (c as u32) << 16) | 0x20_2020
}

const fn hash(letters: u32) -> usize {
    (letters.wrapping_mul(0x9e37_79b1) >> 16) as usize
}

fn is_candidate(letters: u64) -> u64 {
    let hash = hash((letters & 0xff_ffff) as u32 | 0x20_2020);
    (TABLE.bits[hash >> 6] >> (hash & 63)) & 1
}

/// Returns the first offset from `from` on that may be an anchor.
pub(super) fn next(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    let rest = bytes.get(from..)?;
    // Tests six offsets in each eight bytes with one branch: a branch for each offset would cost more than the
    // lookup.
    while let Some(chunk) = rest.get(at - from..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk);
        let hits = is_candidate(word)
            | is_candidate(word >> 8) << 1
            | is_candidate(word >> 16) << 2
            | is_candidate(word >> 24) << 3
            | is_candidate(word >> 32) << 4
            | is_candidate(word >> 40) << 5;
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize);
        }
        at += 6;
    }
    while let Some(&[a, b, c]) = bytes.get(at..).and_then(<[u8]>::first_chunk::<3>) {
        if is_candidate(u64::from(fold(a, b, c))) != 0 {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Calls `each` with the checks for the trigram at `at`.
pub(super) fn at(bytes: &[u8], at: usize, mut each: impl FnMut(Anchor)) {
    let Some(&[a, b, c]) = bytes.get(at..).and_then(<[u8]>::first_chunk::<3>) else {
        return;
    };
    let letters = fold(a, b, c);
    let mut entry = TABLE.heads[hash(letters) >> 6];
    while entry != NONE {
        let number = usize::from(entry);
        if TABLE.letters[number] == letters {
            each(match number {
                FIRST_PAIR.. => Anchor::NumberPair,
                FIRST_NOUN.. => Anchor::Noun(number - FIRST_NOUN),
                number if number < FORMATS.len() => Anchor::Format(number),
                number => WORDS[number - FORMATS.len()].1,
            });
        }
        entry = TABLE.next[number];
    }
}
