//! Tests of the spend meter.

use super::*;
use proptest::prelude::*;

const PRICE: Price = Price {
    input_micros: 3_000_000,
    output_micros: 15_000_000,
    cached_micros: 300_000,
};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn estimate(input_tokens: u64, output_tokens: u64) -> TokenEstimate {
    TokenEstimate {
        input_tokens,
        output_tokens,
    }
}

fn written(input_tokens: u64, cached_tokens: u64, output_tokens: u64) -> WriteResponse {
    WriteResponse {
        text: "t".to_owned(),
        model: "m".to_owned(),
        input_tokens,
        cached_tokens,
        output_tokens,
        is_cut: false,
        lost_tries: 0,
    }
}

fn meter(tokens: u64, cents: u64, price: Option<Price>) -> SpendMeter {
    SpendMeter::new(DailyLimits { tokens, cents }, price, DailySpend::default())
}

#[test]
fn cost_rounds_up_to_whole_micros() {
    assert_eq!(PRICE.cost_micros(0, 0, 0), 0);
    assert_eq!(PRICE.cost_micros(1_000_000, 0, 0), 3_000_000);
    assert_eq!(PRICE.cost_micros(1_000, 400, 100), 1_800 + 120 + 1_500);
    assert_eq!(PRICE.cost_micros(1, 1, 0), 1);
    // A service may report more cached tokens than input tokens.
    assert_eq!(PRICE.cost_micros(10, 99, 0), 3);
    assert_eq!(PRICE.cost_micros(u64::MAX, 0, u64::MAX), u64::MAX);
}

#[test]
fn price_row_parses_and_matches_models() {
    let row = PriceRow::parse(" claude-x-4-5  3 15.5 0.30 ").unwrap();
    assert_eq!(row.model, "claude-x-4-5");
    let price = row.price;
    assert_eq!(
        (price.input_micros, price.output_micros, price.cached_micros),
        (3_000_000, 15_500_000, 300_000)
    );
    for model in [
        "claude-x-4-5",
        "claude-x-4-5-20251001",
        "claude-x-4-5@20251001",
        "claude-x-4-5-latest",
        "claude-x-4-5-2025-10-01",
    ] {
        assert!(row.matches_model(model), "{model}");
    }
    for model in [
        "claude-x-4",
        "claude-x-4-5-mini",
        "claude-x-4-50",
        "",
        "claude-x-4-5-6",
    ] {
        assert!(!row.matches_model(model), "{model}");
    }
    for line in [
        "",
        "m",
        "m 1 2",
        "m 1 2 3 4",
        "m -1 2 3",
        "m 1e3 2 3",
        "m NaN 2 3",
        "m 1. 2 3",
        "m .5 2 3",
        "m 1.0000001 2 3",
        "m 9999999 2 3",
        "m 1 2 drei",
    ] {
        assert!(PriceRow::parse(line).is_err(), "{line}");
    }
}

#[test]
fn exhausted_day_reports_next_day() {
    let now = at("2026-11-21T23:59:59Z");
    let mut meter = meter(1_000, 0, None);
    meter.record_success(&written(700, 0, 100), estimate(0, 0), now);
    meter.check(estimate(100, 100), now).unwrap();
    let error = meter.check(estimate(101, 100), now).unwrap_err();
    let resets_at = at("2026-11-22T00:00:00Z");
    assert_eq!(error.problem, WriteProblem::OverBudget { resets_at });
    assert_eq!(
        error.fault.message,
        "800 of the day's 1000 tokens for summaries are used, and this one may need 201; \
         the next day begins at 2026-11-22T00:00:00Z"
    );
    meter.check(estimate(101, 100), resets_at).unwrap();
    assert_eq!(meter.spent().tokens(), 800, "a check changes nothing");
    meter.record_failure(1, estimate(5, 6), resets_at);
    assert_eq!(meter.spent().tokens(), 11);
    assert_eq!((meter.spent().calls, meter.spent().failures), (0, 1));
}

#[test]
fn cost_limit_applies_only_with_price() {
    let now = at("2026-11-21T08:00:00Z");
    let mut known = meter(0, 1, Some(PRICE));
    let mut unknown = meter(0, 1, None);
    for meter in [&mut known, &mut unknown] {
        meter.check(estimate(3_000, 0), now).unwrap();
        meter.record_success(&written(3_000, 0, 0), estimate(0, 0), now);
    }
    assert_eq!(known.spent().cost_micros, 9_000);
    let error = known.check(estimate(0, 100), now).unwrap_err();
    assert!(
        error
            .fault
            .message
            .starts_with("$0.0090 of the day's $0.0100"),
        "{error}"
    );
    assert_eq!(unknown.spent().cost_micros, 0);
    unknown.check(estimate(1_000_000, 0), now).unwrap();
}

#[test]
fn clock_set_back_gives_no_second_budget() {
    let mut meter = meter(100, 0, None);
    let noon = at("2026-11-21T12:00:00Z");
    meter.record_success(&written(100, 0, 0), estimate(0, 0), noon);
    let before = at("2026-11-20T23:00:00Z");
    let error = meter.check(estimate(1, 0), before).unwrap_err();
    let resets_at = at("2026-11-22T00:00:00Z");
    assert_eq!(error.problem, WriteProblem::OverBudget { resets_at });
    // A stored day far in the future: the clock had been wrong by years.
    meter
        .check(estimate(1, 0), at("2020-01-01T00:00:00Z"))
        .unwrap();
}

#[test]
fn daily_spend_json_is_stable() {
    let mut first = meter(0, 0, Some(PRICE));
    let now = at("2026-11-21T12:00:00Z");
    first.record_success(&written(10, 4, 2), estimate(0, 0), now);
    let stored = serde_json::to_string(first.spent()).unwrap();
    assert_eq!(
        stored,
        r#"{"day":"2026-11-21","calls":1,"failures":0,"input_tokens":10,"cached_tokens":4,"output_tokens":2,"cost_micros":50}"#
    );
    let restored: DailySpend = serde_json::from_str(&stored).unwrap();
    assert_eq!(&restored, first.spent());
    let less: DailySpend = serde_json::from_str(r#"{"calls": 3, "later": true}"#).unwrap();
    assert_eq!((less.calls, less.day), (3, None));
}

#[derive(Debug, Clone)]
struct Call {
    after_s: i64,
    estimate: TokenEstimate,
    actual: (u64, u64, u64),
    lost_tries: u32,
    is_failure: bool,
}

fn call() -> impl Strategy<Value = Call> {
    let estimate = (0..5_000u64, 0..5_000u64);
    let actual = (0..9_000u64, 0..9_000u64, 0..9_000u64);
    (0..40_000i64, estimate, actual, 0..3u32, any::<bool>()).prop_map(
        |(after_s, (input_tokens, output_tokens), actual, lost_tries, is_failure)| Call {
            after_s,
            estimate: TokenEstimate {
                input_tokens,
                output_tokens,
            },
            actual,
            lost_tries,
            is_failure,
        },
    )
}

proptest! {
    /// Compares with a separate ledger per day: a day exceeds its limits at most by the last call's excess over its
    /// estimate.
    #[test]
    fn daily_excess_is_bounded_by_last_call(
        calls in prop::collection::vec(call(), 1..60),
        tokens in 1..60_000u64,
        cents in 1..60u64,
    ) {
        let mut meter = meter(tokens, cents, Some(PRICE));
        let mut now_s = 1_795_000_000;
        let (mut day, mut used, mut cost) = (0, 0, 0);
        for call in calls {
            now_s += call.after_s;
            let now = Timestamp::from_second(now_s).unwrap();
            if now_s / 86_400 != day {
                (day, used, cost) = (now_s / 86_400, 0, 0);
            }
            let needed = call.estimate.input_tokens + call.estimate.output_tokens;
            let price = PRICE.cost_micros(call.estimate.input_tokens, 0, call.estimate.output_tokens);
            let fits = used + needed <= tokens && cost + price <= cents * 10_000;
            prop_assert_eq!(meter.check(call.estimate, now).is_ok(), fits);
            if !fits {
                continue;
            }
            let lost = u64::from(call.lost_tries);
            let (mut took, mut paid) = (lost * needed, lost * price);
            if call.is_failure {
                meter.record_failure(call.lost_tries, call.estimate, now);
            } else {
                let (input, cached, output) = call.actual;
                let written = WriteResponse { lost_tries: call.lost_tries, ..written(input, cached, output) };
                meter.record_success(&written, call.estimate, now);
                took += input + output;
                paid += PRICE.cost_micros(input, cached, output);
            }
            used += took;
            cost += paid;
            prop_assert_eq!(meter.spent().tokens(), used);
            prop_assert_eq!(meter.spent().cost_micros, cost);
            prop_assert!(used <= tokens + took.saturating_sub(needed));
            prop_assert!(cost <= cents * 10_000 + paid.saturating_sub(price));
            // A restart between calls changes nothing.
            let stored = serde_json::to_string(meter.spent()).unwrap();
            let stored = serde_json::from_str(&stored).unwrap();
            meter = SpendMeter::new(DailyLimits { tokens, cents }, Some(PRICE), stored);
        }
    }
}
