//! Stored form of a receipt's body, compared with a golden file.

use super::{ContextRequest, body, included_items};
use heirloom_model::context::{Context, InclusionReason, ReceiptItem, ReceiptSection};
use heirloom_model::record::Attrs;
use heirloom_model::{Budget, RecordId, limits};

const GOLDEN: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/stored_forms/receipt.json"
));

fn context() -> Context {
    let item = |reason: InclusionReason, id: Option<u8>| ReceiptItem {
        id: id.map(|byte| RecordId::from_bytes([byte; 16])),
        file: id.is_none().then(|| "docs/a.md:3".to_owned()),
        score: id.is_none().then_some(0.5),
        relevance: None,
        worth: None,
        excerpt: "The port is 8080".to_owned(),
        chars: 18,
        reason,
    };
    let mut items = vec![
        item(InclusionReason::Included, Some(1)),
        item(InclusionReason::Cut { of_chars: 900 }, None),
    ];
    let left_out = [
        InclusionReason::OverBudget,
        InclusionReason::TooLarge,
        InclusionReason::OverShare,
        InclusionReason::Empty,
    ];
    let many = left_out.into_iter().cycle();
    items.extend(
        many.take(limits::RECEIPT_LEFT_OUT_MAX + 2)
            .map(|reason| item(reason, None)),
    );
    Context {
        text: "## Key Facts\n- The port is 8080\n".to_owned(),
        rules: "Answer in English.\n".to_owned(),
        budget: Budget::Tokens(1_000),
        sections: vec![ReceiptSection {
            name: "Key Facts".to_owned(),
            chars: 32,
            items,
        }],
        notes: vec!["group: no such file".to_owned()],
    }
}

fn request() -> ContextRequest {
    let word = |text: &str| Some(text.to_owned());
    ContextRequest {
        task: word("42"),
        phase: word("TESTING"),
        budget: None,
        agent: word("coder"),
        plan: word("main/plan"),
        group: word("team"),
        session: word("s1"),
        query: word("port"),
        prompt: None,
        invocation: word("coder"),
        separate_rules: false,
    }
}

/// Returns the body with all but the first six items of each section removed, so that the golden file stays short.
fn shortened(mut body: Attrs) -> Attrs {
    let items = body["sections"][0]["items"].as_array_mut().unwrap();
    assert_eq!(items.len(), 2 + limits::RECEIPT_LEFT_OUT_MAX);
    items.truncate(6);
    body
}

#[test]
fn receipt_body_matches_golden_file() {
    let written = body(&request(), &context(), Some(3), true);
    let written = serde_json::to_string_pretty(&shortened(written)).unwrap() + "\n";
    assert_eq!(written, GOLDEN);
    let read: Attrs = serde_json::from_str(GOLDEN).unwrap();
    let names: Vec<_> = included_items(&read)
        .into_iter()
        .map(|part| part.name)
        .collect();
    assert_eq!(
        names,
        ["01010101-0101-0101-0101-010101010101", "docs/a.md:3"]
    );
}
