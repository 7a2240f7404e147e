//! Report of a fit: rates by project and by style, and reliability.

use super::held_out::HeldOutQuestion;
use super::thresholds::{Thresholds, rates};
use std::fmt::Write;

/// Bins of the reliability: mean chance, share of relevant records, number of records.
pub(crate) fn reliability(questions: &[HeldOutQuestion], bins: usize) -> Vec<(f64, f64, usize)> {
    let mut sums = vec![(0.0, 0.0, 0_usize); bins];
    for one in questions {
        for (record, chance) in one.question.records.iter().zip(&one.chances) {
            let at = ((chance * bins as f64) as usize).min(bins - 1);
            let Some(bin) = sums.get_mut(at) else {
                continue;
            };
            *bin = (bin.0 + chance, bin.1 + record.label, bin.2 + 1);
        }
    }
    let filled = sums.into_iter().filter(|(_, _, count)| *count > 0);
    filled
        .map(|(chance, label, count)| (chance / count as f64, label / count as f64, count))
        .collect()
}

/// Returns the report for the terminal.
pub(crate) fn render(questions: &[HeldOutQuestion], thresholds: &Thresholds) -> String {
    let mut text = String::new();
    add_rates(
        &mut text,
        "left-out project",
        questions,
        thresholds,
        &|one| &one.question.group,
    );
    add_rates(&mut text, "style", questions, thresholds, &|one| {
        &one.question.style
    });
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "strong from {:.3}, more from {:.3}, likely from {:.3}, in a context from {:.4}; smallest margin {:.2} standard errors\n\n| chance | relevant | records |\n|---|---|---|",
        thresholds.strong,
        thresholds.more,
        thresholds.likely,
        thresholds.context,
        thresholds.rates.margin()
    );
    for (chance, share, count) in reliability(questions, 10) {
        let _ = writeln!(text, "| {chance:.2} | {share:.2} | {count} |");
    }
    text
}

/// Adds a table of rates by a name of the questions, and of all.
fn add_rates(
    text: &mut String,
    title: &str,
    questions: &[HeldOutQuestion],
    thresholds: &Thresholds,
    name: &dyn Fn(&HeldOutQuestion) -> &str,
) {
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "| {title} | told a right record | useful of told | told without an answer |\n|---|---|---|---|"
    );
    let mut names: Vec<&str> = questions.iter().map(name).collect();
    names.sort_unstable();
    names.dedup();
    for group in names.into_iter().map(Some).chain([None]) {
        let of_group = questions
            .iter()
            .filter(|one| group.is_none_or(|group| name(one) == group));
        let found = rates(of_group, thresholds.strong, thresholds.more);
        let _ = writeln!(
            text,
            "| {} | {:.1} % | {:.1} % | {:.1} % |",
            group.unwrap_or("all"),
            100.0 * found.told,
            100.0 * found.useful,
            100.0 * found.falsely
        );
    }
    text.push('\n');
}
