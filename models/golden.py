"""What the reference tokenizer does: with each character, and with whole lines."""

import json
import random

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

PLAIN, DROP, SPACE, ALONE, MAPPED, HANGUL = range(6)

# Lines that were chosen because something about them is special.
CHOSEN = [
    "", " ", "\t\n\r", "a", "The quick brown fox jumps over the lazy dog.",
    "Preserve --diff change markers and snip separators when --plain is set",
    "fn pieces(text: &str, most: usize) -> Vec<u16> { todo!() }",
    "crates/index/src/pieces.rs:42:7: error[E0308]: mismatched types",
    "C:\\Users\\me\\AppData\\Local\\Temp\\x.txt", "https://example.org/a/b?c=d&e=%20f#g",
    "snake_case kebab-case camelCase PascalCase SCREAMING_SNAKE dot.ted colon::ed",
    "don't can't it's we're o'clock 'quoted' \"double\" `tick` ``two``",
    "1 12 123 1234 12345 3.14 1e-9 0xDEADBEEF 1_000_000 v1.2.3-rc.4+build.5 50%",
    "e2fsck --yes; rm -rf ./target && cargo build || exit 1", "$HOME/.config ${XDG:-~} $(ls) <(cat)",
    "[CLS] [SEP] [MASK] [UNK] [PAD] [unused7] [CLS][SEP]", "##ing ## ##x # #", "@user #tag ^caret ~tilde |pipe|",
    "caf\u00e9 cafe\u0301 na\u00efve fa\u00e7ade \u00c5ngstr\u00f6m Z\u00fcrich stra\u00dfe STRASSE \u1e9e",
    "\u0130stanbul I\u0307 \u0131 K \u212a \u212b \u2126 \u017f", "ﬁ ﬂ ﬃ ﬅ \u01c4 \u01c5 \u01c6 \u0132",
    "\u0391\u03b8\u03ae\u03bd\u03b1 \u039f\u0394\u039f\u03a3 \u1f08\u03c1\u03c7\u03b9\u03bc\u03ae\u03b4\u03b7\u03c2 \u03c3\u03c2 \u037e \u0387",
    "\u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440 \u0401\u0436 \u0439 \u0457 \u040b\u0440",
    "\u05e9\u05c1\u05dc\u05d5\u05b9\u05dd \u05e2\u05d5\u05dc\u05dd \u0645\u0631\u062d\u0628\u0627\u064b \u0628\u0627\u0644\u0639\u0627\u0644\u0645 \u06f1\u06f2\u06f3 \u060c \u061f",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e \u0964 \u0958 \u09cb \u0bca \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u1019\u103c",
    "\u4f60\u597d\u4e16\u754c hello\u4e16\u754c \u4f60a\u597db", "\u3053\u3093\u306b\u3061\u306f \u30ab\u30bf\u30ab\u30ca \u30ac \u30d1 \u304c \uff76\uff9e \u65e5\u672c\u8a9e",
    "\uc548\ub155\ud558\uc138\uc694 \uac00 \uac01 \ud7a3 \u1112\u1161\u11ab \ud55c\uad6d\uc5b4abc", "\uf900 \uf901x \ufa0e \U0002f800 \U00020000 \U0002a6df \U00030000",
    "\U0001f600 \U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f \U0001f1e9\U0001f1ea ok\U0001f680go",
    "\u2192 \u21d2 \u2260 \u2264 \u2265 \u226e \u226f \u00b1 \u00d7 \u00f7 \u221e \u2211 \u222b \u2202 \u2713 \u2717 \u2026 \u2014 \u2013",
    "\u201ccurly\u201d \u2018single\u2019 \u00abguillemets\u00bb \u3010\u9ed1\u3011 \u3001\u3002 \uff01\uff1f \uff08\uff09",
    "\uff21\uff22\uff23 \uff41\uff42\uff43 \uff11\uff12\uff13 \u24b6 \u2460 \u00bd \u00b2 \u2082 \u2122 \u00a9 \u00ae \u20ac \u00a3 \u00a5 \u00a7 \u00b6 \u00b5",
    "zero\u200bwidth joined\u200dup soft\u00adhyphen bom\ufeff word\u2060joiner \u202eright\u202c to\u2066left\u2069",
    "no\u00a0break thin\u2009space em\u2003space ideographic\u3000space line\u2028sep par\u2029sep \u1680ogham \u0085next",
    "nul\x00byte bell\x07 esc\x1b[31mred\x1b[0m back\x08space del\x7f vt\x0bff\x0c c1\x9b \ufffd",
    "a\u0300\u0301\u0302\u0303\u0304 z\u0351\u036b\u0343 \u0300alone \u20dd\u20e3 1\ufe0f\u20e3 \u0903 \u302e \U0001d165\U0001d16d",
    "\ue000 \uf8ff \U000f0000 \U0010fffd \uffff \U0001fffe \u0378 \U000e0041",
    "\U00010400\U00010428 \U0001d400 \U0001e900\U0001e922 \u10a0 \u2c00 \u1c90 \u13a0 \uab70 \ua64a",
    "x" * 99, "x" * 100, "x" * 101, "X" * 100 + "." + "y" * 101 + ".z", "\u00e9" * 100, "\u00e9" * 101,
    "e\u0301" * 100, "\uac00" * 33, "\uac00" * 34, "\uac00" * 50, "\uac00" * 51, "\u03b1" * 100, "ab" * 51 + " ok",
    "supercalifragilisticexpialidocious antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "qzxjkvw zzzzzz qqqqq xkcd jj fzf sqlite httpx libgit2 kubectl nginx postgresql tokio serde rustc clippy",
    "internationalization localization tokenization deserialization parameterization misconfiguration",
    "a-b-c--d---e _a_ __init__ *args **kwargs @property -> => == != <= >= << >> && || ++ -- // /* */",
    "2024-05-11T13:56:07.123Z 11/05/2024 12:30pm 1st 2nd 3rd 4th 5,000.00", "me@example.org +1 (555) 123-4567 127.0.0.1:8080 ::1",
    "{\"key\": [1, 2.5, null, true], \"nested\": {\"a\": \"b\\n\"}}", "<div class=\"a\" id='b'>text</div><!-- c -->",
    "SELECT * FROM t WHERE a = 'b' AND c <> 1; -- d", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "dGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZw==", "550e8400-e29b-41d4-a716-446655440000",
    "Vi\u1ec7t Nam ti\u1ebfng Vi\u1ec7t \u0110\u00e0 N\u1eb5ng \u0142\u00f3d\u017a \u0159eka \u015fi\u015f \u0219\u021b \u00f8re \u00e6ther \u00fe\u00f0",
    "\u0e01\u0e33 \u0ead\u0eb3 \u17c1 \u1780\u17d2 \u0f40\u0f71\u0f74 \u0f73 \u1b06 \u0344 \u0340 \u0341 \u0374 \u1fef \u2000 \u2001 \u2329 \u232a",
    "first line\nsecond line\r\nthird\tline\n\n\nlast", "   leading and trailing   ", "...---... ?!?!?! ((( ))) [[[ ]]]",
]

WORDS = """the of commit parse error index vector panic thread mutex async await socket buffer cache migration retry
token schema null pointer reference borrow lifetime closure iterator tests passed failed warning deprecated unwrap
config path file folder rename delete update insert query rank score HTTP JSON UTF8 ASCII TODO FIXME WIP README
getUserById parse_header max-size FooBarBaz x86_64 i686 aarch64 0x1F 3.11.7 naïve Ünïcödé résumé 東京 データ 서울 Москва
Ελλάδα café 🙂 🚀 → … — “a” ‘b’ unbelievable preprocessing hyperparameters misspeling teh recieve""".split()

MARKS = [" ", " ", " ", " ", "", ".", ", ", ": ", "; ", "-", "_", "/", "::", "(", ") ", "\n", "\t", "'", "\"", "\u00a0", "\u200b", "\u0301"]

BLOCKS = [
    (0x20, 0x7F), (0x20, 0x7F), (0x80, 0x250), (0x250, 0x400), (0x400, 0x530), (0x530, 0x700), (0x900, 0xE00),
    (0xE00, 0x1100), (0x1100, 0x1200), (0x1E00, 0x2000), (0x2000, 0x2070), (0x2070, 0x2400), (0x2500, 0x2800),
    (0x2E80, 0x3130), (0x4E00, 0x4F00), (0xA640, 0xA700), (0xAC00, 0xD7A4), (0xF900, 0xFB00), (0xFB00, 0x10000),
    (0x10000, 0x10400), (0x1D100, 0x1D200), (0x1F300, 0x1F700), (0x2F800, 0x2FA20),
]


def tokenizer(lines):
    """BERT's uncased tokenizer over these pieces; special tokens in a text are text like any other."""
    pieces = {piece: number for number, piece in enumerate(lines)}
    made = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made


def characters(made):
    """What becomes of each character beyond ASCII's reach of rules: ranges of a kind, and the mapped ones' letters.

    A mapping's letters hold a space wherever a word ends.
    """
    ranges, mapped, letters = [], [], bytearray()
    for code in range(0x110000):
        if 0xD800 <= code < 0xE000:
            continue
        char = chr(code)
        words = [word for word, _ in made.pre_tokenizer.pre_tokenize_str(made.normalizer.normalize_str(f"a{char}b"))]
        kind = {f"a{char}b": PLAIN, "ab": DROP, "a b": SPACE, f"a {char} b": ALONE}.get(" ".join(words), MAPPED)
        if 0xAC00 <= code < 0xD7A4:
            kind = HANGUL
        if kind == MAPPED:
            data = " ".join(words)[1:-1].encode()
            mapped.append((code, len(letters) | len(data) << 24))
            letters += data
        if not ranges or ranges[-1] >> 24 != kind:
            ranges.append(code | kind << 24)
    return ranges, mapped, bytes(letters)


def tricky():
    """The chosen lines and made ones, the same at each call."""
    yield from CHOSEN
    chance = random.Random(256)
    for _ in range(120):
        yield "".join(chance.choice(WORDS) + chance.choice(MARKS) for _ in range(chance.randint(3, 25)))
    for number in range(120):
        start, end = BLOCKS[number % len(BLOCKS)]
        letters = [chr(chance.randrange(start, end)) for _ in range(chance.randint(5, 40))]
        yield "".join(letter + (" " if chance.random() < 0.2 else "") for letter in letters)


def write(made, path):
    """One line of JSON for each text: the text and its pieces."""
    with open(path, "w", encoding="ascii") as file:
        for text in tricky():
            pieces = made.encode(text, add_special_tokens=False).ids
            file.write(json.dumps({"text": text, "pieces": pieces}) + "\n")
