//! Random texts and prompts whose word frequencies follow Zipf's law: of made-up words, and of English ones.

use std::sync::OnceLock;

/// Number of words in the vocabulary; the n-th is 1/n times as frequent as the first.
const VOCABULARY: usize = 30_000;

/// English words, the most frequent one first: the first 8,000 of the transformer's vocabulary.
const ENGLISH: &str = include_str!("../data/words.txt");

/// Deterministic pseudo-random generator (splitmix64) of Zipf-distributed words.
pub(crate) struct ZipfGenerator(pub(crate) u64);

impl ZipfGenerator {
    /// Returns the next pseudo-random number.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a random index into a list of `length`, which is not 0.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        (self.next_number() % length.max(1) as u64) as usize
    }

    /// Returns this number of words of the vocabulary, by Zipf's law.
    pub(crate) fn text(&mut self, words: usize) -> String {
        let words: Vec<String> = (0..words).map(|_| self.word()).collect();
        words.join(" ")
    }

    /// Returns prompts of 20 to 60 words.
    pub(crate) fn prompts(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|n| self.text(20 + n % 41)).collect()
    }

    /// Returns this number of English words, by Zipf's law.
    pub(crate) fn english_text(&mut self, words: usize) -> String {
        static WORDS: OnceLock<Vec<&str>> = OnceLock::new();
        let vocabulary = WORDS.get_or_init(|| ENGLISH.lines().collect());
        let mut word = || {
            let rank = self.rank(vocabulary.len());
            vocabulary.get(rank - 1).copied().unwrap_or_default()
        };
        let words: Vec<&str> = (0..words).map(|_| word()).collect();
        words.join(" ")
    }

    /// Returns prompts of 10 to 30 English words, about as many tokens.
    pub(crate) fn english_prompts(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|n| self.english_text(10 + n % 21)).collect()
    }

    fn word(&mut self) -> String {
        word_of_rank(self.rank(VOCABULARY))
    }

    /// Returns the rank of a word, from 1 to `words`.
    fn rank(&mut self, words: usize) -> usize {
        let uniform = (self.next_number() >> 11) as f64 / (1_u64 << 53) as f64;
        ((words as f64).powf(uniform) as usize).clamp(1, words.max(1))
    }
}

/// Returns the word of a rank; the stemmer leaves it unchanged.
fn word_of_rank(mut number: usize) -> String {
    const PARTS: [&str; 16] = [
        "ba", "ko", "du", "fi", "gra", "hu", "jo", "lak", "mo", "nu", "pi", "ro", "tam", "vo",
        "wu", "zo",
    ];
    let mut word = String::new();
    loop {
        word.push_str(PARTS.get(number % 16).copied().unwrap_or("x"));
        number /= 16;
        if number == 0 {
            return word;
        }
    }
}
