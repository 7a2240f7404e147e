//! The meter: never over, by days, in whole numbers.

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

fn estimate(input_tokens: u64, output_tokens: u64) -> Estimate {
    Estimate {
        input_tokens,
        output_tokens,
    }
}

fn written(input_tokens: u64, cached_tokens: u64, output_tokens: u64) -> Written {
    Written {
        text: "t".to_owned(),
        model: "m".to_owned(),
        input_tokens,
        cached_tokens,
        output_tokens,
        is_cut: false,
        lost_tries: 0,
    }
}

fn meter(tokens: u64, cents: u64, price: Option<Price>) -> Meter {
    Meter::new(DailyLimits { tokens, cents }, price, Spent::default())
}

#[test]
fn costs_are_whole_numbers_rounded_up() {
    assert_eq!(PRICE.cost_micros(0, 0, 0), 0);
    assert_eq!(PRICE.cost_micros(1_000_000, 0, 0), 3_000_000);
    assert_eq!(PRICE.cost_micros(1_000, 400, 100), 1_800 + 120 + 1_500);
    assert_eq!(PRICE.cost_micros(1, 1, 0), 1);
    // A service that says more came out of the cache than was asked.
    assert_eq!(PRICE.cost_micros(10, 99, 0), 3);
    assert_eq!(PRICE.cost_micros(u64::MAX, 0, u64::MAX), u64::MAX);
}

#[test]
fn rows_of_a_price_list() {
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
        assert!(row.is_of(model), "{model}");
    }
    for model in [
        "claude-x-4",
        "claude-x-4-5-mini",
        "claude-x-4-50",
        "",
        "claude-x-4-5-6",
    ] {
        assert!(!row.is_of(model), "{model}");
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
fn a_full_day_says_when_the_next_begins() {
    let now = at("2026-11-21T23:59:59Z");
    let mut meter = meter(1_000, 0, None);
    meter.charge(&written(700, 0, 100), estimate(0, 0), now);
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
    meter.fail(1, estimate(5, 6), resets_at);
    assert_eq!(meter.spent().tokens(), 11);
    assert_eq!((meter.spent().calls, meter.spent().failures), (0, 1));
}

#[test]
fn money_counts_where_the_price_is_known() {
    let now = at("2026-11-21T08:00:00Z");
    let mut known = meter(0, 1, Some(PRICE));
    let mut unknown = meter(0, 1, None);
    for meter in [&mut known, &mut unknown] {
        meter.check(estimate(3_000, 0), now).unwrap();
        meter.charge(&written(3_000, 0, 0), estimate(0, 0), now);
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
fn a_clock_that_is_set_back_brings_no_second_budget_and_no_long_wait() {
    let mut meter = meter(100, 0, None);
    let noon = at("2026-11-21T12:00:00Z");
    meter.charge(&written(100, 0, 0), estimate(0, 0), noon);
    let before = at("2026-11-20T23:00:00Z");
    let error = meter.check(estimate(1, 0), before).unwrap_err();
    let resets_at = at("2026-11-22T00:00:00Z");
    assert_eq!(error.problem, WriteProblem::OverBudget { resets_at });
    // A day that was never: the clock had been wrong by years.
    meter
        .check(estimate(1, 0), at("2020-01-01T00:00:00Z"))
        .unwrap();
}

#[test]
fn what_is_kept_is_plain_data() {
    let mut first = meter(0, 0, Some(PRICE));
    let now = at("2026-11-21T12:00:00Z");
    first.charge(&written(10, 4, 2), estimate(0, 0), now);
    let kept = serde_json::to_string(first.spent()).unwrap();
    assert_eq!(
        kept,
        r#"{"day":"2026-11-21","calls":1,"failures":0,"input_tokens":10,"cached_tokens":4,"output_tokens":2,"cost_micros":50}"#
    );
    let again: Spent = serde_json::from_str(&kept).unwrap();
    assert_eq!(&again, first.spent());
    let less: Spent = serde_json::from_str(r#"{"calls": 3, "later": true}"#).unwrap();
    assert_eq!((less.calls, less.day), (3, None));
}

#[derive(Debug, Clone)]
struct Call {
    after_s: i64,
    estimate: Estimate,
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
            estimate: Estimate {
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
    /// By an own account of each day: never over by more than the last call took beyond its estimate.
    #[test]
    fn no_day_is_over_by_more_than_one_error(
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
                meter.fail(call.lost_tries, call.estimate, now);
            } else {
                let (input, cached, output) = call.actual;
                let written = Written { lost_tries: call.lost_tries, ..written(input, cached, output) };
                meter.charge(&written, call.estimate, now);
                took += input + output;
                paid += PRICE.cost_micros(input, cached, output);
            }
            used += took;
            cost += paid;
            prop_assert_eq!(meter.spent().tokens(), used);
            prop_assert_eq!(meter.spent().cost_micros, cost);
            prop_assert!(used <= tokens + took.saturating_sub(needed));
            prop_assert!(cost <= cents * 10_000 + paid.saturating_sub(price));
            // A restart in between changes nothing.
            let kept = serde_json::to_string(meter.spent()).unwrap();
            let kept = serde_json::from_str(&kept).unwrap();
            meter = Meter::new(DailyLimits { tokens, cents }, Some(PRICE), kept);
        }
    }
}
