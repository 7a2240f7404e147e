//! Standing text: instructions and memory files that people wrote to be read every time, within their own allowance.

use super::super::budget_allocation::SourceAllocation;
use super::StandingAllowance;
use heirloom_model::section::{Origin, StandingRank};
use heirloom_model::text;
use std::collections::{HashMap, HashSet};

/// Standing texts that fit their allowance.
#[derive(Debug, Default)]
pub(super) struct StandingText {
    /// Included text of each standing offer by source and offer; `None` if nothing of it fits.
    included: HashMap<(usize, usize), Option<String>>,
    /// Offers that are rendered apart.
    apart: HashSet<(usize, usize)>,
    /// Instructions that are rendered apart.
    pub(super) rules: String,
    /// Characters in the text of the context, with the frames of the sections.
    pub(super) chars_inside: usize,
    /// Notes about what is missing.
    pub(super) notes: Vec<String>,
}

impl StandingText {
    /// Selects standing texts by importance; the least important one is cut at its end.
    pub(super) fn choose(sources: &[SourceAllocation<'_>], allowance: StandingAllowance) -> Self {
        let mut ranked: Vec<(StandingRank, usize, usize)> = Vec::new();
        for (source, allocation) in sources.iter().enumerate() {
            for (at, entry) in allocation.entries.iter().enumerate() {
                if let (Some(rank), None) = (entry.offer.standing, entry.exclusion) {
                    ranked.push((rank, source, at));
                }
            }
        }
        ranked.sort_unstable();
        let mut standing = Self::default();
        let mut left = allowance.chars;
        let mut left_apart = allowance.separate_chars.unwrap_or(0);
        let mut opened: Vec<usize> = Vec::new();
        for (rank, source, at) in ranked {
            let Some(allocation) = sources.get(source) else {
                continue;
            };
            let Some(entry) = allocation.entries.get(at) else {
                continue;
            };
            let is_apart = allowance.separate_chars.is_some() && rank.is_rule();
            let frame = match is_apart || opened.contains(&source) {
                true => 0,
                false => allocation.frame_chars(),
            };
            let name = match &entry.offer.origin {
                Origin::File { path, .. } => path.as_str(),
                Origin::Unspecified | Origin::Record(_) => "the standing text",
            };
            let space = match is_apart {
                true => left_apart,
                false => left.saturating_sub(frame),
            };
            let (kept, missing) = entry.first_lines(space, name);
            if missing > 0 {
                let lines = if missing == 1 { "line" } else { "lines" };
                let why = "the allowance of standing text is used up (`context.standing_chars`)";
                standing
                    .notes
                    .push(format!("{name}: {missing} {lines} did not fit: {why}"));
            }
            if let Some(kept) = &kept {
                let rest = space.saturating_sub(text::chars(kept));
                if is_apart {
                    left_apart = rest;
                    standing.apart.insert((source, at));
                    standing.rules.push_str(kept.trim_start_matches('\n'));
                } else {
                    left = rest;
                    standing.chars_inside += frame + text::chars(kept);
                    opened.push(source);
                }
            }
            let inside = if is_apart { None } else { kept };
            standing.included.insert((source, at), inside);
        }
        standing
    }

    /// Returns true if an offer is a standing text.
    pub(super) fn is_standing(&self, source: usize, at: usize) -> bool {
        self.included.contains_key(&(source, at))
    }

    /// Returns true if a standing offer is rendered apart from the text.
    pub(super) fn is_apart(&self, source: usize, at: usize) -> bool {
        self.apart.contains(&(source, at))
    }

    /// Returns the included text of a standing offer.
    pub(super) fn text_of(&self, source: usize, at: usize) -> Option<&str> {
        self.included.get(&(source, at)).and_then(Option::as_deref)
    }

    /// Returns true if the frame of a source is paid for.
    pub(super) fn has_opened(&self, source: usize) -> bool {
        self.included
            .iter()
            .any(|((of, _), kept)| *of == source && kept.is_some())
    }
}
