use super::*;
use proptest::prelude::*;

#[test]
fn keys_are_in_range_of_their_project_only() {
    let within = |id: i64, project: i64| keys(project).contains(&id);
    for project in [1, 2, 7, 1 << 20] {
        for block in [0, 1, HEAD - 1, HEAD] {
            let id = key(project, block);
            assert!(id < 0);
            assert!(within(id, project), "{project} {block}");
            assert!(!within(id, project + 1) && !within(id, project - 1));
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
