//! What the numbers of vectors are like: reads texts, one a line, and prints the tables of `vector/spread.rs`.
//!
//! cargo run --release -p heirloom-index --example spread < texts > crates/index/src/vector/spread.rs

use heirloom_index::vector::{DIMS, Vector};
use std::io::{self, Read, Write};

/// What the tables' numbers are multiples of.
const UNIT: f64 = 1.0 / 32_768.0;

fn main() -> io::Result<()> {
    let mut texts = String::new();
    io::stdin().read_to_string(&mut texts)?;
    let (mut sums, mut squares, mut count) = ([0.0_f64; DIMS], [0.0_f64; DIMS], 0.0);
    for vector in texts.lines().filter_map(Vector::of_document) {
        let sums = sums.iter_mut().zip(&mut squares);
        for ((sum, square), value) in sums.zip(&vector.values) {
            let value = f64::from(*value) * f64::from(vector.scale);
            *sum += value;
            *square += value * value;
        }
        count += 1.0;
    }
    let means = sums.map(|sum| sum / count);
    let mut deviations = [0.0; DIMS];
    for ((to, mean), square) in deviations.iter_mut().zip(&means).zip(&squares) {
        *to = (square / count - mean * mean).max(0.0).sqrt();
    }
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "//! What each number of a vector is like over many texts, in units of 1/32768: made by the example `spread`\n\
         //! from {count} messages of commits. Sketches are cut at these places; another table wants others.\n\n\
         use super::DIMS;\n"
    )?;
    for (what, name, numbers) in [
        ("The mean of each number.", "MEANS", means),
        ("Its standard deviation.", "DEVIATIONS", deviations),
    ] {
        writeln!(
            out,
            "/// {what}\n#[rustfmt::skip]\npub(super) const {name}: [i16; DIMS] = ["
        )?;
        for line in numbers.chunks(16) {
            let line: Vec<String> = line
                .iter()
                .map(|number| format!("{:.0}", number / UNIT))
                .collect();
            writeln!(out, "    {},", line.join(", "))?;
        }
        writeln!(out, "];\n")?;
    }
    Ok(())
}
