//! Comparison of the bounded scan of the competition with a complete one.

use super::super::SectionFrame;
use super::*;
use heirloom_model::similarity::ComparableText;
use proptest::collection::vec;
use proptest::prelude::*;

fn steps(mut order: StepOrder<'_>) -> Vec<Step> {
    let mut taken = Vec::new();
    while let Some(step) = order.next_step() {
        order.take(&step);
        taken.push(step);
    }
    taken
}

proptest! {
    #[test]
    fn bounds_change_no_step(
        drawn in vec((0_usize..5, 1_usize..300, 0_usize..3, 0_u8..6, 0_usize..6, any::<bool>()), 0..40),
        frames in vec((0_usize..60, 0_u32..60, 0_usize..200, any::<bool>()), 4),
    ) {
        const TEXTS: [&str; 6] = [
            "port staging moved", "staging port moved today", "firewall blocks uplink",
            "the firewall blocks", "nothing common", "",
        ];
        let words = TEXTS.map(ComparableText::from_text);
        let candidates: Vec<Candidate<'_>> = drawn
            .iter()
            .enumerate()
            .map(|(place, &(section, chars, more, worth, text, is_exempt))| Candidate {
                section,
                tier: if is_exempt { Tier::Exempt } else { Tier::Competing },
                forms: (0..=more).map(|form| chars * (form + 1)).collect(),
                relevance: None,
                worth: f64::from(worth) / 5.0,
                words: words.get(text),
                record: None,
                requires: (place % 7 == 3).then(|| place - 1),
            })
            .collect();
        let sections: Vec<SectionFrame> = frames
            .iter()
            .map(|&(chars, share_percent, min_chars, has_best)| SectionFrame {
                chars,
                share_percent,
                min_chars,
                has_best,
            })
            .collect();
        let input = SelectionInput {
            sections: &sections,
            candidates: &candidates,
            best_floor: 0.0,
            floor: 0.0,
            reserved_chars: 0,
        };
        let mut all = StepOrder::new(&input);
        for one in &mut all.competitors {
            one.bound = f64::INFINITY;
        }
        prop_assert_eq!(steps(StepOrder::new(&input)), steps(all));
    }
}
