//! Shannon entropy, by which generated keys differ from words. The thresholds are in `value_shape`.

/// Returns the Shannon entropy in bits per byte.
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
