//! One hop of recall: records that share a rare identifier with a strong hit.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use heirloom_engine::{Engine, NewRecord, RecallRequest};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::limits::{HOP_CANDIDATES, HOP_TEXTS_MAX};
use heirloom_model::{FixedClock, ProjectName, Settings};
use heirloom_search::recall::Ranked;
use heirloom_search::relevance::{FLOOR, TELL_MIN};
use heirloom_store::{FaultyStore, SqliteStore, Store};
use std::sync::Arc;

/// A question, the record that its words find, and the record that answers it.
struct Row {
    question: &'static str,
    strong: &'static str,
    /// Key of the strong record; empty for none.
    strong_key: &'static str,
    target: &'static str,
    /// Key of the target; empty for none.
    target_key: &'static str,
}

const fn row(question: &'static str, strong: &'static str, target: &'static str) -> Row {
    Row {
        question,
        strong,
        strong_key: "",
        target,
        target_key: "",
    }
}

/// Pairs whose strong record has a key that the target names.
const fn from_key(
    question: &'static str,
    strong_key: &'static str,
    strong: &'static str,
    target: &'static str,
) -> Row {
    Row {
        strong_key,
        ..row(question, strong, target)
    }
}

/// Pairs whose target has a key that the strong record names.
const fn to_key(
    question: &'static str,
    strong: &'static str,
    target_key: &'static str,
    target: &'static str,
) -> Row {
    Row {
        target_key,
        ..row(question, strong, target)
    }
}

/// Pairs by paths, symbols, tickets, error codes, URLs and keys.
const ROWS: [Row; 40] = [
    row(
        "which port does the invoice rendering service listen on?",
        "The invoice rendering service is started by src/billing/render.rs",
        "src/billing/render.rs binds 7443 and refuses plain connections",
    ),
    row(
        "who maintains the nightly warehouse export?",
        "The nightly warehouse export is scripted in jobs/export_wh.py",
        "Ask Marta before touching jobs/export_wh.py",
    ),
    row(
        "why does the login throttle reset after a deploy?",
        "The login throttle is implemented in auth/throttle.go and resets on deploy",
        "auth/throttle.go holds its counters in process memory, so a restart loses them",
    ),
    row(
        "how do I regenerate the thumbnail fixtures?",
        "Thumbnail fixtures live in tests/fixtures/thumbs.json",
        "Run make pics after deleting tests/fixtures/thumbs.json by hand",
    ),
    row(
        "what must I check when I change the tax rounding rules?",
        "Tax rounding rules are in lib/money/rounding.ts",
        "lib/money/rounding.ts is copied verbatim into the mobile app; sync both",
    ),
    row(
        "where are the proxy timeouts for the upload gateway configured?",
        "The upload gateway proxy reads deploy/gateway.yaml",
        "Staging overrides deploy/gateway.yaml with 90 seconds",
    ),
    row(
        "what limits the size of the audit trail archive?",
        "The audit trail archive is rotated by /etc/logrotate.d/audit",
        "/etc/logrotate.d/audit caps each file at 200 MB",
    ),
    row(
        "which compiler flags does the firmware bootloader need?",
        "The firmware bootloader is built from boot/stage2.c",
        "boot/stage2.c miscompiles under -O3 with clang 15",
    ),
    row(
        "how does the session cleanup job select stale sessions?",
        "The session cleanup job calls purge_stale_rows for stale sessions",
        "purge_stale_rows compares last_seen with seven days",
    ),
    row(
        "what happens when the shopping cart merge fails?",
        "Shopping cart merge is done by mergeGuestCart",
        "mergeGuestCart swallows exceptions and returns an empty list",
    ),
    row(
        "is the search ranking cache safe for threads?",
        "The search ranking cache is a RankMemo",
        "RankMemo takes a mutex only on writes; readers may see torn values",
    ),
    row(
        "how is the password reset email localised?",
        "The password reset email is composed by ResetMailer::compose",
        "ResetMailer::compose falls back to English when a translation is absent",
    ),
    row(
        "which setting controls how often the feed importer polls?",
        "The feed importer polls as often as FEED_POLL_SECS",
        "FEED_POLL_SECS below 30 gets our address banned by the publisher",
    ),
    row(
        "how do we retry failed webhook deliveries?",
        "Failed webhook deliveries go through `hookspool`",
        "`hookspool` gives up after eleven attempts",
    ),
    row(
        "why is the geocoding batch so slow on Mondays?",
        "The geocoding batch on Mondays runs geo_backfill",
        "geo_backfill lacks an index on postcode",
    ),
    row(
        "can I call the currency converter from a transaction?",
        "The currency converter entry point is convert_amount",
        "convert_amount performs a network request and blocks for up to 4 s",
    ),
    row(
        "what is the status of the dark mode contrast bug?",
        "The dark mode contrast bug is tracked as UI-482",
        "UI-482 was postponed to the autumn milestone by Priya",
    ),
    row(
        "why did the customer import skip accented names?",
        "The customer import skipped accented names, see DATA-77",
        "DATA-77: root cause was latin1 decoding in the reader",
    ),
    row(
        "who approved the schema change for the orders table?",
        "The orders table schema change is ticket PLAT-1309",
        "PLAT-1309 signed off by Jonas on condition of a dry run",
    ),
    row(
        "when will the flaky browser suite be quarantined?",
        "The flaky browser suite is issue #2914",
        "#2914 is blocked until the runner upgrade",
    ),
    row(
        "what did we decide about the legacy SOAP endpoint?",
        "The legacy SOAP endpoint discussion is in #3307",
        "Outcome of #3307: keep it until March, then answer 410",
    ),
    row(
        "which pull request broke the calendar sync?",
        "Calendar sync broke with INT-558",
        "INT-558 came from the dependency bump of ical4j",
    ),
    row(
        "how do we get around the borrow checker error in the scheduler queue?",
        "The scheduler queue hits the borrow checker error E0502",
        "For E0502 split the struct into two halves first",
    ),
    row(
        "what helps if the typings of the chart component do not compile?",
        "The typings of the chart component do not compile: TS2589",
        "TS2589 disappears after an explicit generic argument",
    ),
    row(
        "why does the metrics uploader lose its connection at night?",
        "The metrics uploader loses its connection at night with ECONNRESET",
        "ECONNRESET comes from the firewall closing idle sockets after an hour",
    ),
    row(
        "why can the stock reservation transaction not commit?",
        "The stock reservation transaction cannot commit: ORA-08177",
        "ORA-08177 means serializable isolation; replay the statement",
    ),
    row(
        "how do I fix the installer crash on Windows laptops?",
        "The installer crash on Windows laptops reports 0x80070643 and MSI1603",
        "MSI1603 goes away when the antivirus is paused",
    ),
    row(
        "what causes the printer spooler to hang in the warehouse?",
        "The printer spooler in the warehouse hangs with EPIPE",
        "EPIPE: the label driver closes stdin early, upgrade it",
    ),
    row(
        "where is the dashboard of the ingestion pipeline?",
        "The ingestion pipeline dashboard is https://grafana.acme.test/d/ing7",
        "https://grafana.acme.test/d/ing7 needs the VPN and the viewer role",
    ),
    row(
        "how do I get access to the partner sandbox?",
        "The partner sandbox is at https://sandbox.partner.test/v3",
        "Credentials for https://sandbox.partner.test/v3 are in the team vault",
    ),
    row(
        "which document describes the incident escalation steps?",
        "Incident escalation steps: https://wiki.acme.test/oncall",
        "https://wiki.acme.test/oncall is outdated since the reorganisation",
    ),
    row(
        "where do the nightly builds of the desktop client go?",
        "Nightly builds of the desktop client go to https://dl.acme.test/nightly",
        "Anything under https://dl.acme.test/nightly vanishes in two weeks",
    ),
    row(
        "which mirror does the package resolver use?",
        "The package resolver uses the mirror https://pypi.acme.test/simple",
        "https://pypi.acme.test/simple lags upstream by six hours",
    ),
    from_key(
        "which database does the loyalty points service write to?",
        "loyalty-points",
        "The loyalty points service writes to its own Postgres database",
        "Failover of loyalty-points takes about three minutes",
    ),
    from_key(
        "how is the recommendation model trained?",
        "reco_trainer",
        "The recommendation model is trained weekly on purchases",
        "reco_trainer runs out of memory beyond 40 GB of clicks",
    ),
    from_key(
        "what is the retention of the support chat transcripts?",
        "chat.retention",
        "Support chat transcripts have a retention of two years",
        "Legal wants chat.retention halved before the next review",
    ),
    from_key(
        "how many workers render the video previews?",
        "preview-workers",
        "Six workers render the video previews",
        "Raising preview-workers above eight starves the encoder",
    ),
    to_key(
        "how are the shipping labels signed?",
        "Shipping labels are signed with label_signing_key",
        "label_signing_key",
        "Rotate every ninety days, held by Ops in the HSM",
    ),
    to_key(
        "what throttles the newsletter campaign sender?",
        "The newsletter campaign sender is throttled by mail.rate-cap",
        "mail.rate-cap",
        "Fourteen per second, agreed with Amazon",
    ),
    to_key(
        "which feature toggle hides the beta checkout page?",
        "The beta checkout page is hidden by the toggle checkout_v2",
        "checkout_v2",
        "Enabled for staff and five percent of Canada",
    ),
];

/// Records of the same project that answer none of the questions. Some have identifiers of their own.
const DISTRACTORS: [&str; 60] = [
    "Use tabs in Makefiles and four spaces elsewhere",
    "The team meets on Tuesdays at ten",
    "Prefer small commits with one subject each",
    "src/parser/lexer.rs tokenises numbers before names",
    "Never log access tokens or cookies",
    "The staging cluster has three nodes in Frankfurt",
    "Docker images are tagged with the commit hash",
    "The release branch is cut on the first of the month",
    "parse_header accepts folded lines",
    "OPS-101 replaced the load balancer",
    "Feature flags are read once at startup",
    "Integration tests need a running Redis",
    "The API returns problem documents for errors",
    "web/assets/main.css is generated, do not edit",
    "The queue consumer acknowledges after the write",
    "Backups are restored in a drill each quarter",
    "The mobile app supports two previous versions",
    "Rate limiting is done at the edge",
    "https://status.acme.test shows the uptime",
    "The analytics events have a schema registry",
    "Error E0433 means a missing import",
    "The design system uses eight pixel steps",
    "db/migrations/0042_add_index.sql takes ten minutes",
    "The scheduler uses UTC everywhere",
    "Secrets come from the vault agent, not from files",
    "The build cache is shared between branches",
    "TokenBucket refills lazily",
    "The customer success team owns the help centre",
    "Search suggestions are computed offline",
    "OPS-117 moved the logs to object storage",
    "Images are resized on upload to three widths",
    "The GraphQL gateway batches requests",
    "Timeouts are two seconds unless stated otherwise",
    "Contributors sign the agreement once",
    "compute_score must stay pure",
    "The documentation is built with mdBook",
    "Code owners review every change of the billing folder",
    "The load test runs with five hundred users",
    "The websocket server pings every twenty seconds",
    "Dependencies are updated on Fridays",
    "config/default.toml lists all settings",
    "The cron expressions are in the helm chart",
    "Health checks must not touch the database",
    "The invoice numbers have no gaps",
    "Warehouse scanners run Android 11",
    "Passwords are hashed with argon2",
    "The importer of contacts ignores blank lines",
    "OPS-140 raised the disk quota",
    "The chart library was replaced last year",
    "ENOSPC on the runners: prune the images",
    "The calendar widget starts weeks on Monday",
    "Video uploads are limited to two gigabytes",
    "The recommendation carousel shows twelve items",
    "Printers are found over mDNS",
    "Currency rates are refreshed at noon",
    "The beta programme has forty participants",
    "Partner contracts are renewed in January",
    "The login page has a captcha after five failures",
    "Newsletter templates are in MJML",
    "Shipping costs depend on the weight class",
];

fn engine_over(store: Arc<dyn Store>) -> Engine {
    let root = std::path::PathBuf::from("/nonexistent-project");
    let place = ProjectPaths {
        folder: root.join(".heirloom"),
        config: root.join(".heirloom/config.toml"),
        root,
    };
    let clock = Arc::new(FixedClock("2026-05-01T10:00:00Z".parse().unwrap()));
    let name = ProjectName::new("p").unwrap();
    Engine::new(store, name, place, Settings::default(), clock).unwrap()
}

fn engine() -> Engine {
    engine_over(Arc::new(SqliteStore::memory().unwrap()))
}

fn remember<'a>(engine: &Engine, records: impl IntoIterator<Item = (&'a str, &'a str)>) {
    let record = |(key, text): (&str, &str)| NewRecord {
        text: text.to_owned(),
        key: (!key.is_empty()).then(|| key.to_owned()),
        source: Some("user".to_owned()),
        ..NewRecord::default()
    };
    let records = records.into_iter().map(record).collect();
    engine.records().remember_all(records).unwrap();
}

fn remember_distractors(engine: &Engine) {
    remember(engine, DISTRACTORS.map(|text| ("", text)));
}

fn request(question: &str) -> RecallRequest {
    RecallRequest {
        question: question.to_owned(),
        min_relevance: Some(0.0),
        ..RecallRequest::default()
    }
}

/// Returns the hits with the hop.
fn recall(engine: &Engine, question: &str) -> Vec<Ranked> {
    engine.recall().search(&request(question)).unwrap().hits
}

/// Returns the hits without the hop.
fn direct(engine: &Engine, question: &str) -> Vec<Ranked> {
    let recall = engine.recall();
    recall.search_with_question(&request(question)).unwrap().0
}

fn rank_of(hits: &[Ranked], text: &str) -> Option<usize> {
    hits.iter().position(|hit| hit.item.text() == text)
}

fn is_in_first_five(hits: &[Ranked], text: &str) -> bool {
    rank_of(hits, text).is_some_and(|rank| rank < 5)
}

#[test]
fn target_with_shared_identifier_is_in_first_five_only_with_hop() {
    let engine = engine();
    remember_distractors(&engine);
    remember(&engine, ROWS.iter().map(|row| (row.strong_key, row.strong)));
    remember(&engine, ROWS.iter().map(|row| (row.target_key, row.target)));
    let (mut with, mut without) = (0, 0);
    let mut misses = String::new();
    for row in &ROWS {
        let hits = recall(&engine, row.question);
        let before = direct(&engine, row.question);
        without += usize::from(is_in_first_five(&before, row.target));
        if is_in_first_five(&hits, row.target) {
            with += 1;
        } else {
            let strong = rank_of(&hits, row.strong);
            let relevance = strong.and_then(|rank| hits[rank].relevance);
            let ranks = (rank_of(&hits, row.target), rank_of(&before, row.target));
            misses += &format!(
                "{}: strong {strong:?} {relevance:?}, target {ranks:?}\n",
                row.question
            );
        }
    }
    println!("{with} of 40 with the hop, {without} without\n{misses}");
    assert!(with >= 32, "{with} of 40, missing:\n{misses}");
    assert!(without <= 20, "{without} of 40 without the hop");
}

/// The question, the strong record and the target of the smaller tests.
const QUESTION: &str = "which port does the invoice rendering service listen on?";
const STRONG: &str = "The invoice rendering service is started by src/billing/render.rs";
const TARGET: &str = "src/billing/render.rs binds 7443 and refuses plain connections";

#[test]
fn direct_hits_keep_their_order() {
    let engine = engine();
    remember_distractors(&engine);
    remember(&engine, ROWS.iter().map(|row| (row.strong_key, row.strong)));
    remember(&engine, ROWS.iter().map(|row| (row.target_key, row.target)));
    for row in &ROWS {
        let before = direct(&engine, row.question);
        let after = recall(&engine, row.question);
        assert!(after.len() <= before.len().max(10));
        assert_eq!(after[0].item.id(), before[0].item.id());
        let is_unmoved = |hit: &&Ranked| hit.breakdown.hop == 0.0;
        let unmoved: Vec<_> = after
            .iter()
            .filter(is_unmoved)
            .map(|hit| hit.item.id())
            .collect();
        let mut expected: Vec<_> = before.iter().map(|hit| hit.item.id()).collect();
        expected.retain(|id| unmoved.contains(id));
        assert_eq!(unmoved, expected, "{}", row.question);
        let totals: Vec<f64> = after.iter().map(|hit| hit.breakdown.total).collect();
        assert!(totals.is_sorted_by(|a, b| a >= b), "{totals:?}");
        assert_eq!(after, recall(&engine, row.question));
    }
}

#[test]
fn hop_has_discounted_relevance_and_part_of_score() {
    let engine = engine();
    remember_distractors(&engine);
    remember(&engine, [("", STRONG), ("", TARGET)]);
    let hits = recall(&engine, QUESTION);
    assert_eq!(
        (rank_of(&hits, STRONG), rank_of(&hits, TARGET)),
        (Some(0), Some(1))
    );
    let (strong, hop) = (&hits[0], &hits[1]);
    assert!(strong.relevance.unwrap() >= TELL_MIN);
    let relevance = hop.relevance.unwrap();
    let share = relevance / strong.relevance.unwrap();
    assert!(share <= 0.6, "{share}");
    // It is found, but not told unasked.
    assert!((FLOOR..TELL_MIN).contains(&relevance), "{relevance}");
    assert!(hop.breakdown.hop != 0.0);
    // One hit leaves no place for a hop.
    let one = RecallRequest {
        k: Some(1),
        ..request(QUESTION)
    };
    let hits = engine.recall().search(&one).unwrap().hits;
    assert_eq!(rank_of(&hits, STRONG), Some(0));
    assert_eq!(hits.len(), 1);
}

/// Returns the rank of the target, if `count` texts have the identifier.
fn rank_among(count: u64) -> Option<usize> {
    let engine = engine();
    remember_distractors(&engine);
    remember(&engine, [("", STRONG), ("", TARGET)]);
    let others: Vec<String> = (2..count)
        .map(|n| {
            format!("Row {n}{n}{n} of the changelog, src/billing/render.rs gained {n}{n} lines")
        })
        .collect();
    remember(&engine, others.iter().map(|text| ("", text.as_str())));
    let hits = recall(&engine, QUESTION);
    assert_eq!(rank_of(&hits, STRONG), Some(0));
    hits.iter().position(|hit| hit.breakdown.hop != 0.0)
}

#[test]
fn common_identifier_is_not_followed() {
    assert!(HOP_CANDIDATES as u64 > HOP_TEXTS_MAX);
    assert_eq!(rank_among(HOP_TEXTS_MAX), Some(1));
    assert_eq!(rank_among(HOP_TEXTS_MAX + 1), None);
}

#[test]
fn weak_hit_is_not_followed() {
    let engine = engine();
    remember_distractors(&engine);
    remember(&engine, [("", STRONG), ("", TARGET)]);
    let question = "how long is the warranty of a service contract for coffee machines?";
    let hits = recall(&engine, question);
    let rank = rank_of(&hits, STRONG).unwrap();
    assert!(hits[rank].relevance.unwrap() < TELL_MIN);
    assert!(hits.iter().all(|hit| hit.breakdown.hop == 0.0));
}

#[test]
fn search_without_strong_hit_or_identifier_costs_nothing() {
    let store = Arc::new(FaultyStore::new(Arc::new(SqliteStore::memory().unwrap())));
    let engine = engine_over(store.clone());
    remember_distractors(&engine);
    remember(
        &engine,
        [(
            "",
            "Deploys of the invoice rendering service take nine minutes",
        )],
    );
    let calls = |ask: &dyn Fn()| {
        let before = store.calls().len();
        ask();
        store.calls().len() - before
    };
    for question in [
        "how long do deploys of the invoice rendering service take?",
        "coffee machines",
    ] {
        let with = calls(&|| drop(recall(&engine, question)));
        assert_eq!(
            with,
            calls(&|| drop(direct(&engine, question))),
            "{question}"
        );
    }
    remember(&engine, [("", STRONG)]);
    let question = "what is the invoice rendering service started by?";
    let with = calls(&|| drop(recall(&engine, question)));
    assert!(with > calls(&|| drop(direct(&engine, question))));
}
