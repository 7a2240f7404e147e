//! Seeded random numbers.

use std::hash::{BuildHasher, RandomState};

/// SplitMix64 generator: a seed gives the same numbers on every machine.
#[derive(Debug, Clone)]
pub(super) struct Rng(u64);

impl Rng {
    /// The generator of a seed.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; zero for a bound of zero.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        // Scaled, not the remainder, which would favour small numbers.
        let wide = u128::from(self.next()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// Returns a number in [0, 1).
    pub(super) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Returns a random seed, short enough to be typed.
pub(super) fn any_seed() -> u64 {
    RandomState::new().hash_one("seed") >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seed_gives_published_numbers() {
        // The first numbers of the published generator for the seed 1234567.
        let mut rng = Rng::new(1_234_567);
        let numbers = [rng.next(), rng.next(), rng.next()];
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(numbers, published);
    }

    #[test]
    fn numbers_cover_range_below_bound() {
        let mut rng = Rng::new(7);
        let mut seen = [0; 10];
        for _ in 0..10_000 {
            seen[usize::try_from(rng.below(10)).unwrap()] += 1;
            assert!((0.0..1.0).contains(&rng.share()));
        }
        assert!(seen.iter().all(|n| (800..1_200).contains(n)), "{seen:?}");
        assert_eq!(rng.below(0), 0);
    }
}
