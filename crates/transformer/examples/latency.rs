//! Measures the encoder on one core.
//!
//! `cargo run --release --example latency` prints medians; `-- first` computes one vector and prints the time since the
//! start of `main`, for a fresh process: the first touch of the weights included. `-- level NAME` picks a SIMD level.

#![expect(clippy::print_stdout, reason = "prints figures")]

use fearless_simd::Level;
use heirloom_transformer::{Encoder, PassageLimits, Transformer};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// 22 word pieces, with the two marks 24 tokens.
const QUESTION: &str = "why does the nightly export of invoices fail when the disk of the build server is full? any idea";

fn main() {
    let start = Instant::now();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Ok(mut transformer) = Transformer::builtin() else {
        println!("built-in weights are damaged");
        return;
    };
    if let [_, name] = &arguments[..] {
        transformer = transformer.with_level(level(name));
    }
    let mut encoder = Encoder::new(transformer);
    if arguments.first().is_some_and(|word| word == "first") {
        black_box(encoder.encode(QUESTION));
        println!("first question: {:?}", start.elapsed());
        return;
    }
    let tokens = count_tokens(&mut encoder, QUESTION);
    let question = median(200, || _ = black_box(encoder.encode(QUESTION)));
    println!("question of {tokens} tokens, warm: {question:?}");

    let record = "the writer streams rows of the table in order and ".repeat(4);
    let texts = vec![record.trim_end(); 30];
    let tokens = count_tokens(&mut encoder, &record);
    let batch = median(20, || _ = black_box(encoder.encode_batch(&texts)));
    println!(
        "texts of {tokens} tokens, in batches: {:.0}/s",
        texts.len() as f64 / batch.as_secs_f64()
    );

    let long = "the writer streams rows of the table in order and ".repeat(26);
    let limits = PassageLimits {
        passages: 1,
        ..PassageLimits::default()
    };
    let passage = median(20, || {
        _ = black_box(encoder.encode_passages(&long, limits, &|| false))
    });
    println!("passage of 256 tokens: {passage:?}");
}

/// Returns the level with this name, or else the baseline of the target.
fn level(name: &str) -> Level {
    #[cfg(target_arch = "x86_64")]
    match name {
        "avx512" => return Level::new(),
        "avx2" => {
            return Level::new()
                .as_avx2()
                .map_or(Level::baseline(), Level::Avx2);
        }
        "sse4.2" => {
            return Level::new()
                .as_sse4_2()
                .map_or(Level::baseline(), Level::Sse4_2);
        }
        _ => {}
    }
    let _ = name;
    Level::baseline()
}

/// Returns the number of tokens of a text, with the two marks.
fn count_tokens(encoder: &mut Encoder, text: &str) -> usize {
    let vectors = encoder.encode_tokens(text, &|| false).ok().flatten();
    vectors.map_or(0, |vectors| vectors.pieces().len() + 2)
}

/// Returns the median time of many runs.
fn median(runs: usize, mut run: impl FnMut()) -> Duration {
    run();
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times.get(runs / 2).copied().unwrap_or_default()
}
