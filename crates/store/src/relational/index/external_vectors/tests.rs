use super::*;
use proptest::prelude::*;

#[test]
fn keys_are_in_range_of_their_lane_only() {
    let lanes: Vec<LaneKey> = (1..5).chain([1 << 20]).flat_map(LaneKey::both).collect();
    for lane in &lanes {
        for block in [0, 1, HEAD - 1, HEAD] {
            let id = key(*lane, block);
            assert!(id < 0);
            for other in &lanes {
                assert_eq!(
                    keys(*other).contains(&id),
                    lane == other,
                    "{lane:?} {block}"
                );
            }
        }
    }
}

proptest! {
    #[test]
    fn header_round_trips(
        model in "\\PC{0,40}",
        numbers: (i64, u64, u16),
        bits: Vec<u8>,
    ) {
        let head = ExternalHeader {
            generation: numbers.0,
            serial: numbers.1,
            dims: numbers.2.into(),
            model,
            bits,
        };
        prop_assert_eq!(ExternalHeader::from_bytes(&head.to_bytes()), Some(head));
    }

    #[test]
    fn header_from_any_bytes_does_not_panic(bytes: Vec<u8>) {
        ExternalHeader::from_bytes(&bytes);
    }
}
