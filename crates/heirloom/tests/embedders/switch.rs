//! From one model to the next, killed in between: ranks never mix.

use super::{configure, filled, recall, service, vectors_check};
use heirloom_testkit::Trouble;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[test]
fn a_killed_reembed_goes_on_where_it_was() {
    let texts = 300;
    let project = filled(texts);
    let service = service();
    configure(&project, &service, "m1", "");
    project.ok(&["reembed"]);
    let asked = service.requests().len();

    configure(&project, &service, "m2", "");
    // The third batch of the next model never comes.
    let late = Trouble::Late(Duration::ZERO);
    service.next(&[late.clone(), late, Trouble::Hang]);
    let mut child = project.command(&["reembed"]).spawn().unwrap();
    let began = Instant::now();
    while service.requests().len() < asked + 3 {
        assert!(began.elapsed() < Duration::from_secs(60), "it does not ask");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();

    // Half of the new, nothing of the old: neither ranks, and nobody is asked.
    let asked = service.requests().len();
    let check = vectors_check(&project)["message"].to_string();
    assert!(
        check.contains("172 of 300 texts have none of `m2`"),
        "{check}"
    );
    for model in ["m1", "m2"] {
        configure(&project, &service, model, "");
        let (found, notes) = recall(&project, "florp");
        assert!(!found.contains("zibble"), "{found}");
        assert!(notes.contains("the built-in vectors rank"), "{notes}");
    }
    assert_eq!(service.requests().len(), asked);

    let done = project.json(&["reembed"]);
    assert_eq!(
        (&done["embedded"], &done["missing"]),
        (&172.into(), &0.into())
    );
    let (found, notes) = recall(&project, "florp");
    assert!(
        found.contains("zibble") && notes == "null",
        "{found} {notes}"
    );
    // No text was sent more often than once, but for the batch that was under way.
    let mut sent: BTreeMap<String, usize> = BTreeMap::new();
    for request in service
        .requests()
        .into_iter()
        .filter(|one| one.model == "m2")
    {
        for text in request.texts {
            *sent.entry(text).or_default() += 1;
        }
    }
    let twice = sent.values().filter(|count| **count == 2).count();
    assert_eq!(
        (sent.len(), twice),
        (texts + 1, 64),
        "the question is the one more"
    );
    project.ok(&["doctor"]);
}

#[test]
fn two_at_once_do_the_work_once_more_and_no_harm() {
    let project = filled(200);
    let service = service();
    configure(&project, &service, "m1", "");
    let both = [(); 2].map(|()| project.command(&["reembed", "--json"]).spawn().unwrap());
    for child in both {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let check = vectors_check(&project);
    assert_eq!(check["message"], "all 200 texts have one of `m1`");
    assert!(recall(&project, "florp").0.contains("zibble"));
}

#[test]
fn back_to_the_built_in_vectors() {
    let project = filled(30);
    let service = service();
    configure(&project, &service, "m1", "");
    project.ok(&["reembed"]);
    project
        .home
        .write(".config/heirloom/config.toml", "")
        .unwrap();
    let check = vectors_check(&project);
    assert_eq!(check["message"], "30 are of `m1`, which is not configured");
    let (found, notes) = recall(&project, "florp");
    assert!(
        !found.contains("zibble") && notes == "null",
        "{found} {notes}"
    );
    let done = project.json(&["reembed"]);
    assert_eq!(done["replaced"]["vectors"], 30);
    assert_eq!(vectors_check(&project), serde_json::Value::Null);
    let again = project.json(&["reembed"]);
    assert!(again["replaced"].is_null());
}

#[test]
fn what_is_forgotten_is_not_sent_and_what_comes_back_is() {
    let project = filled(30);
    let service = service();
    configure(&project, &service, "m1", "");
    let id = project.remember("a secret of the house", &[]);
    project.ok(&["forget", &id]);
    project.ok(&["reembed"]);
    let sent = |text: &str| format!("{:?}", service.requests()).contains(text);
    assert!(!sent("a secret of the house"));
    project.ok(&["undo", &id]);
    let done = project.json(&["reembed"]);
    assert_eq!(done["embedded"], 1);
    assert!(sent("a secret of the house"));
}
