//! What of the parts is said: strict priority inside one budget.

use super::parts::{PINNED, Part, Shape, Shown};
use heirloom_model::context::Reason;

/// What is left while parts are chosen in the order of their rank.
struct Room {
    /// Characters that are free.
    chars: usize,
    /// Something stands in the context already.
    opened: bool,
    /// Something was cut: what ranks lower may only say that it is missing.
    closed: bool,
}

/// Chooses what is said of each part, so that all of it fits `chars_max`.
pub(super) fn choose(parts: &mut [Part], chars_max: usize) {
    let mut room = Room {
        chars: chars_max,
        opened: false,
        closed: false,
    };
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&at| rank(&parts[at]));
    for &at in &order {
        let part = &mut parts[at];
        room.fill(part);
        // Without its heading nothing of the task can stand, and nothing ranks before the task.
        let is_title = matches!(part.shape, Shape::Title);
        if is_title && part.shown.count < part.entries.len() {
            return;
        }
    }
    for &at in &order {
        if matches!(parts[at].shape, Shape::Past(_)) {
            room.extend(&mut parts[at]);
        }
    }
}

/// The order of priority; parts of one rank keep the order in which they are written.
fn rank(part: &Part) -> u8 {
    match part.shape {
        Shape::Title => 0,
        Shape::Line(_) => 1,
        Shape::Bullets(_) if part.section == PINNED => 2,
        Shape::Steps(_) => 3,
        Shape::Past(_) => 4,
        Shape::Bullets(_) | Shape::Ranked(_) => 5,
    }
}

impl Room {
    /// Gives the part what it may take at its own rank.
    fn fill(&mut self, part: &mut Part) {
        let limit = if self.closed { 0 } else { part.recent };
        let (shown, whole) = self.fit(part, limit);
        self.take(part, shown);
        self.closed |= !whole;
    }

    /// Gives the part's older entries what nothing else wanted.
    fn extend(&mut self, part: &mut Part) {
        if self.closed {
            return;
        }
        self.chars += part.cost(part.shown, true);
        let (shown, whole) = self.fit(part, usize::MAX);
        self.take(part, shown);
        self.closed = !whole;
    }

    fn take(&mut self, part: &mut Part, shown: Shown) {
        let cost = part.cost(shown, self.opened);
        self.chars -= cost;
        self.opened |= cost > 0;
        part.shown = shown;
    }

    /// The most of the part that fits, up to `limit` entries, and whether that is all up to there.
    ///
    /// What is out is told, and room for the notice counts before a further entry, but not before the
    /// first one. More room never gives less.
    fn fit(&self, part: &Part, limit: usize) -> (Shown, bool) {
        let fits = |shown| part.cost(shown, self.opened) <= self.chars;
        let known = part
            .entries
            .iter()
            .filter(|e| e.unfit != Some(Reason::Empty));
        let total = known.clone().count() + usize::from(part.goes_on);
        let mut best = Shown {
            omitted: total,
            ..Shown::default()
        };
        let (mut next, mut whole, mut passed_over) = (best, true, false);
        for entry in known {
            if entry.unfit.is_some() {
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
            let bare = Shown { omitted: 0, ..next };
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
