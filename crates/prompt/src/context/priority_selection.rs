//! Selection of entries by strict priority within one budget.

use super::blocks::{BlockLayout, ContextBlock, PINNED, ShownEntries};
use heirloom_model::context::InclusionReason;

/// Remaining budget while blocks are filled in the order of their rank.
struct RemainingSpace {
    /// Free characters.
    chars: usize,
    /// True if the context is not empty.
    opened: bool,
    /// True after an entry was omitted: blocks of a lower rank may only add an omission notice.
    closed: bool,
}

/// Selects the entries of each block, so that all blocks together fit `chars_max`.
pub(super) fn select_entries(blocks: &mut [ContextBlock], chars_max: usize) {
    let mut space = RemainingSpace {
        chars: chars_max,
        opened: false,
        closed: false,
    };
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|&at| rank(&blocks[at]));
    for &at in &order {
        let block = &mut blocks[at];
        space.fill(block);
        // The other blocks of the task need its heading, and the heading has the highest rank.
        let is_title = matches!(block.layout, BlockLayout::Title);
        if is_title && block.shown.count < block.entries.len() {
            return;
        }
    }
    for &at in &order {
        if matches!(blocks[at].layout, BlockLayout::Past(_)) {
            space.extend(&mut blocks[at]);
        }
    }
}

/// Result of selecting the guaranteed blocks.
pub(super) struct GuaranteedPart {
    /// Characters of their text.
    pub(super) chars: usize,
    /// True if nothing of them is omitted.
    pub(super) is_whole: bool,
}

/// Selects the entries of the guaranteed blocks: the task with its steps, and pins. Of completed steps and files the
/// newest are guaranteed; the others are counted in a notice.
pub(super) fn select_guaranteed(blocks: &mut [ContextBlock], chars_max: usize) -> GuaranteedPart {
    let mut space = RemainingSpace {
        chars: chars_max,
        opened: false,
        closed: false,
    };
    let mut order: Vec<usize> = (0..blocks.len())
        .filter(|&at| is_guaranteed(&blocks[at]))
        .collect();
    order.sort_by_key(|&at| rank(&blocks[at]));
    for at in order {
        let block = &mut blocks[at];
        space.fill(block);
        let is_title = matches!(block.layout, BlockLayout::Title);
        if is_title && block.shown.count < block.entries.len() {
            space.closed = true;
            break;
        }
    }
    GuaranteedPart {
        chars: chars_max - space.chars,
        is_whole: !space.closed,
    }
}

/// Returns true for the blocks that precede the competition.
pub(super) fn is_guaranteed(block: &ContextBlock) -> bool {
    rank(block) < COMPETING_RANK
}

/// Rank of the blocks that compete by worth.
const COMPETING_RANK: u8 = 5;

/// Returns the priority of a block, 0 first. Blocks of one rank keep their order.
fn rank(block: &ContextBlock) -> u8 {
    match block.layout {
        BlockLayout::Title => 0,
        BlockLayout::Line(_) => 1,
        BlockLayout::Bullets(_) if block.section == PINNED => 2,
        BlockLayout::Steps(_) => 3,
        BlockLayout::Past(_) => 4,
        BlockLayout::Bullets(_) | BlockLayout::Ranked(_) => COMPETING_RANK,
    }
}

impl RemainingSpace {
    /// Selects the entries that a block may have at its own rank.
    fn fill(&mut self, block: &mut ContextBlock) {
        let limit = if self.closed { 0 } else { block.recent };
        let (shown, whole) = self.best_fit(block, limit);
        self.record_selection(block, shown);
        self.closed |= !whole;
    }

    /// Selects older entries of a block with the budget that no other block used.
    fn extend(&mut self, block: &mut ContextBlock) {
        if self.closed {
            return;
        }
        self.chars += block.cost(block.shown, true);
        let (shown, whole) = self.best_fit(block, usize::MAX);
        self.record_selection(block, shown);
        self.closed = !whole;
    }

    fn record_selection(&mut self, block: &mut ContextBlock, shown: ShownEntries) {
        let cost = block.cost(shown, self.opened);
        self.chars -= cost;
        self.opened |= cost > 0;
        block.shown = shown;
    }

    /// Returns the largest selection of the block that fits, up to `limit` entries, and whether that is all of them
    /// up to the limit.
    ///
    /// The omission notice has priority over a further entry, but not over the first one. A larger budget never
    /// selects less.
    fn best_fit(&self, block: &ContextBlock, limit: usize) -> (ShownEntries, bool) {
        let fits = |shown| block.cost(shown, self.opened) <= self.chars;
        let known = block
            .entries
            .iter()
            .filter(|e| e.exclusion != Some(InclusionReason::Empty));
        let total = known.clone().count() + usize::from(block.has_older);
        let mut best = ShownEntries {
            omitted: total,
            ..ShownEntries::default()
        };
        let (mut next, mut whole, mut passed_over) = (best, true, false);
        for entry in known {
            if entry.exclusion.is_some() {
                passed_over = true;
                continue;
            }
            if next.count == limit {
                break;
            }
            next.count += 1;
            next.chars += entry.chars;
            next.omitted -= 1;
            next.scattered |= passed_over;
            let bare = ShownEntries { omitted: 0, ..next };
            whole = fits(next);
            if whole {
                best = next;
            } else if next.count == 1 && fits(bare) {
                best = bare;
            } else if !fits(bare) {
                break;
            }
        }
        if best.count == 0 && !fits(best) {
            best.omitted = 0;
        }
        (best, whole && limit > 0)
    }
}
