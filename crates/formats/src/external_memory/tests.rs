use super::*;
use heirloom_model::foreign_table::{ForeignTable, ForeignValue};
use heirloom_model::limits::{PICKLE_DEPTH_MAX, PICKLE_VALUES_MAX};
use proptest::prelude::*;
use serde_json::json;

#[test]
fn pickle_reads_objects_without_calling_them() {
    // pickle.dumps({"a": [1, -2, 1.5, None, True], "b": os.system("x")}) by hand: the call is only its arguments.
    let bytes = b"\x80\x04}(\x8c\x01a](K\x01J\xfe\xff\xff\xffG\x3f\xf8\0\0\0\0\0\0N\x88e\x8c\x01bcos\nsystem\n\x8c\x01x\x85Ru.";
    assert_eq!(
        pickle::read(bytes),
        Ok(json!({"a": [1, -2, 1.5, null, true], "b": ["x"]}))
    );
    for bad in [
        b"".as_slice(),
        b"(",
        b"R.",
        b".",
        b"\x8c\xffab.",
        b"h\x07.",
        b"\x80\x04",
    ] {
        assert_eq!(
            pickle::read(bad),
            Err(pickle::PickleError::Damaged),
            "{bad:?}"
        );
    }
    let unknown = pickle::read(b"\xfe.");
    assert_eq!(unknown, Err(pickle::PickleError::UnknownOperation(0xfe)));
}

#[test]
fn pickle_of_shared_and_cyclic_values_ends_at_the_limits() {
    let nested = |depth: usize| [vec![b']'; depth + 1], vec![b'a'; depth], vec![b'.']].concat();
    assert!(pickle::read(&nested(PICKLE_DEPTH_MAX)).is_ok());
    let deeper = pickle::read(&nested(PICKLE_DEPTH_MAX + 1));
    assert_eq!(deeper, Err(pickle::PickleError::TooLarge));
    // A list that contains itself.
    assert_eq!(
        pickle::read(b"]q\x00h\x00a."),
        Err(pickle::PickleError::TooLarge)
    );
    // Each list has the one before twice: 2^40 values.
    let mut doubled = b"]q\x00".to_vec();
    for number in 1..40_u8 {
        doubled.extend([
            b']',
            b'q',
            number,
            b'h',
            number - 1,
            b'a',
            b'h',
            number - 1,
            b'a',
        ]);
    }
    doubled.push(b'.');
    assert_eq!(pickle::read(&doubled), Err(pickle::PickleError::TooLarge));
    let wide = |count: usize| [b"](".to_vec(), vec![b'N'; count], b"e.".to_vec()].concat();
    assert!(pickle::read(&wide(PICKLE_VALUES_MAX - 1)).is_ok());
    let wider = pickle::read(&wide(PICKLE_VALUES_MAX));
    assert_eq!(wider, Err(pickle::PickleError::TooLarge));
}

#[test]
fn memories_without_id_are_entries_of_their_own() {
    let mut memories = Mem0Memories::default();
    // Two exports: their memories have the same positions.
    for export in [
        r#"[{"memory":"tabs"},{"id":null,"memory":"tea"},{"id":" ","memory":"rust"}]"#,
        r#"[{"memory":"the port is 8080"}]"#,
    ] {
        memories.add_json(export.as_bytes()).unwrap();
    }
    // A pickled point without the field `id`.
    let point = b"\x80\x04}(\x8c\x07payload}(\x8c\x04data\x8c\x07nextest\x8c\x01xNuu.";
    let points = ForeignTable {
        columns: vec!["point".to_owned()],
        rows: vec![vec![ForeignValue::Blob(point.to_vec())]; 2],
    };
    memories.add_points("memories", &points);
    let memory = memories.finish();
    let texts: Vec<&str> = memory.entries.iter().map(|one| one.text.as_str()).collect();
    let expected = [
        "tabs",
        "tea",
        "rust",
        "the port is 8080",
        "nextest",
        "nextest",
    ];
    assert_eq!(texts, expected, "{memory:?}");
}

#[test]
fn note_is_split_into_observations_relations_and_text() {
    let note = "---\ntitle: Tea\npermalink: t/tea\ntags: ['#a', b]\n---\n# Tea\n\nGreen. See [[Water|water]].\n\n\
        ## Observations\n- [method] 80 degrees #heat (in spring)\n- [ ] buy more\n- [x] done\n- plain\n\n\
        ## Relations\n- needs [[Water]]\n- [[Cup]]\n- see the page about [[Pots]]. It is long. And [[More]]\n\n\
        ```\n- [code] no\n[[No]]\n```\n";
    let memory = parse_note("t/Tea.md", note);
    let line = |entry: &ImportedEntry| format!("{}|{}", entry.category, entry.text);
    let lines: Vec<_> = memory.entries.iter().map(line).collect();
    assert_eq!(
        lines[..lines.len() - 1],
        [
            "relation|Tea links_to Water",
            "method|Tea: 80 degrees #heat",
            "relation|Tea needs Water",
            "relation|Tea relates_to Cup",
            "relation|Tea links_to Pots",
            "relation|Tea links_to More",
        ]
    );
    assert_eq!(memory.entries[1].origin["tags"], json!(["heat"]));
    assert_eq!(memory.entries[1].origin["context"], json!("in spring"));
    let rest = memory.entries.last().unwrap();
    assert_eq!(rest.origin["tags"], json!(["a", "b"]));
    assert!(
        rest.text.contains("Green.") && rest.text.contains("- [ ] buy more"),
        "{}",
        rest.text
    );
    assert!(
        parse_note("empty.md", "---\ntitle: x\n---\n# x\n")
            .entries
            .is_empty()
    );
}

#[test]
fn parts_without_text_are_no_entries() {
    let page = |text| {
        parse_page(MemoryPage {
            path: "a.md",
            text,
            category: "memory",
        })
    };
    assert_eq!(page("---\nname: a\n---\n"), PageRules::Empty);
    assert_eq!(page("---\ndescription: a\n---\n\n"), PageRules::Empty);
    let described = page("---\nname: a\ndescription: b\n---\n");
    assert!(matches!(described, PageRules::Entry(entry) if entry.text == "b"));
    let memories = br#"[{"conversations_memory":" ","project_memories":{"p":"","q":"uses Rust"}}]"#;
    let memory = parse_memories(memories).unwrap();
    let texts: Vec<&str> = memory.entries.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(texts, ["uses Rust"]);
}

#[test]
fn imported_paths_ignore_code_and_addresses() {
    let text = "See @README and @docs/a_b.md, (@c.md).\n- @~/.claude/own.md\n\n```\n@code.md\n```\n`@span.md` \
        me@example.org @decorator @types/node.";
    assert_eq!(
        imported_paths(text),
        [
            "README",
            "docs/a_b.md",
            "c.md",
            "~/.claude/own.md",
            "types/node"
        ]
    );
}

// Results and errors are both right here: what is tested is that no input makes a parser panic.
proptest! {
    #[test]
    fn parsers_accept_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        drop(pickle::read(&bytes));
        drop(parse_chat_gpt(&bytes));
        drop(parse_claude_ai(&bytes));
        drop(parse_memories(&bytes));
        drop(parse_projects(&bytes));
        drop(Mem0Memories::default().add_json(&bytes));
        let text = String::from_utf8_lossy(&bytes);
        drop(parse_note("a.md", &text));
        drop(parse_page(MemoryPage { path: "a.md", text: &text, category: "fact" }));
        drop(imported_paths(&text));
    }

    #[test]
    fn note_parser_accepts_any_markup(text in "[\\[\\]()#@`~\\- a\n:.|x]{0,200}") {
        drop(parse_note("a.md", &text));
        drop(front_matter::split(&format!("---\n{text}\n---\n{text}")));
        drop(imported_paths(&text));
    }
}
