//! Daily budget of language models. Pure: the caller stores the spend and passes the time.

use crate::language_model::{TokenEstimate, WriteError, WriteProblem, WriteResponse};
use crate::{Fault, Timestamp, civil, tz};
use serde::{Deserialize, Serialize};

/// Price of a model, in millionths of a dollar per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Price of input tokens.
    pub input_micros: u64,
    /// Price of output tokens.
    pub output_micros: u64,
    /// Price of input tokens from the service's prompt cache.
    pub cached_micros: u64,
}

impl Price {
    /// Computes the cost of these tokens in millionths of a dollar, rounded up.
    pub fn cost_micros(self, input_tokens: u64, cached_tokens: u64, output_tokens: u64) -> u64 {
        let cached_tokens = cached_tokens.min(input_tokens);
        let parts = [
            (input_tokens - cached_tokens, self.input_micros),
            (cached_tokens, self.cached_micros),
            (output_tokens, self.output_micros),
        ];
        let of_a_million = |(tokens, price): (u64, u64)| u128::from(tokens) * u128::from(price);
        let sum = parts
            .into_iter()
            .map(of_a_million)
            .fold(0, u128::saturating_add);
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// One row of a price list: `MODEL INPUT OUTPUT CACHED`, dollars per million tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceRow {
    /// The model's name without a date.
    pub model: String,
    /// Price of the model.
    pub price: Price,
}

impl PriceRow {
    /// Parses a row; errors describe the problem.
    pub fn parse(line: &str) -> Result<Self, String> {
        let invalid_row = || format!("`{line}` does not have the form `MODEL INPUT OUTPUT CACHED`");
        let mut words = line.split_whitespace();
        let model = words.next().ok_or_else(invalid_row)?.to_owned();
        let mut next = || {
            let word = words.next().ok_or_else(invalid_row)?;
            parse_dollars(word).ok_or_else(|| format!("`{word}` in `{line}` is not a price"))
        };
        let price = Price {
            input_micros: next()?,
            output_micros: next()?,
            cached_micros: next()?,
        };
        match words.next() {
            Some(_) => Err(invalid_row()),
            None => Ok(Self { model, price }),
        }
    }

    /// Returns true if the row applies to `model`: the same name, or the name followed by a date or `latest`.
    pub fn matches_model(&self, model: &str) -> bool {
        let Some(rest) = model.trim().strip_prefix(self.model.as_str()) else {
            return false;
        };
        let date = rest.strip_prefix(['-', '@']);
        rest.is_empty()
            || date.is_some_and(|date| {
                let digits = date.bytes().take_while(u8::is_ascii_digit).count();
                date == "latest" || digits >= 4
            })
    }
}

/// Parses a decimal such as `0.125` to millionths; `None` for anything else or more than six decimal places.
fn parse_dollars(word: &str) -> Option<u64> {
    let (whole, part) = word.split_once('.').unwrap_or((word, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || whole.len() > 6 || part.len() > 6 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    Some(whole * 1_000_000 + part)
}

/// Daily limits; zero means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DailyLimits {
    /// Input and output tokens.
    pub tokens: u64,
    /// Hundredths of a dollar. Applies only if the model's price is known.
    pub cents: u64,
}

/// Spend of one day: the state that the caller stores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DailySpend {
    /// Day in UTC; `None` before the first call.
    #[serde(rename = "day")]
    pub day: Option<civil::Date>,
    /// Successful calls.
    #[serde(rename = "calls")]
    pub calls: u64,
    /// Failed calls.
    #[serde(rename = "failures")]
    pub failures: u64,
    /// Input tokens; for lost attempts the estimate.
    #[serde(rename = "input_tokens")]
    pub input_tokens: u64,
    /// Input tokens that were read from a cache.
    #[serde(rename = "cached_tokens")]
    pub cached_tokens: u64,
    /// Output tokens.
    #[serde(rename = "output_tokens")]
    pub output_tokens: u64,
    /// Cost in millionths of a dollar.
    #[serde(rename = "cost_micros")]
    pub cost_micros: u64,
}

impl DailySpend {
    /// Returns the sum of input and output tokens.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// Daily spend meter: counts the cost of calls and rejects those over the budget.
///
/// A day exceeds its limits at most by the amount that the last call took beyond its estimate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendMeter {
    limits: DailyLimits,
    price: Option<Price>,
    spent: DailySpend,
}

impl SpendMeter {
    /// Creates a meter that continues from a stored spend. Without a price, money is not counted.
    pub fn new(limits: DailyLimits, price: Option<Price>, spent: DailySpend) -> Self {
        Self {
            limits,
            price,
            spent,
        }
    }

    /// Returns the spend, to be stored.
    pub fn spent(&self) -> &DailySpend {
        &self.spent
    }

    /// Returns the spend of the day of `now`: the stored one if it is of that day, else zero.
    pub fn spend_on_day(&self, now: Timestamp) -> DailySpend {
        let day = day_of(now);
        match self.spent.day {
            Some(stored_day) if is_same_day(stored_day, day) => self.spent.clone(),
            _ => DailySpend {
                day: Some(day),
                ..DailySpend::default()
            },
        }
    }

    /// Checks that a call of this size fits into the rest of the day's budget. Changes nothing.
    ///
    /// The error is [`WriteProblem::OverBudget`], with the spend and the start of the next day.
    pub fn check(&self, estimate: TokenEstimate, now: Timestamp) -> Result<(), WriteError> {
        let today = self.spend_on_day(now);
        let needed = estimate.input_tokens.saturating_add(estimate.output_tokens);
        let (limit, used) = (self.limits.tokens, today.tokens());
        if limit > 0 && used.saturating_add(needed) > limit {
            let reason = format!(
                "{used} of the day's {limit} tokens for summaries are used, and this one may need {needed}"
            );
            return Err(over_budget_error(&today, &reason, "writer.daily_tokens"));
        }
        let limit = self.limits.cents.saturating_mul(10_000);
        let cost = self.cost(estimate.input_tokens, 0, estimate.output_tokens);
        if limit > 0 && today.cost_micros.saturating_add(cost) > limit {
            let reason = format!(
                "{} of the day's {} for summaries are used, and this one may cost {}",
                format_dollars(today.cost_micros),
                format_dollars(limit),
                format_dollars(cost)
            );
            return Err(over_budget_error(&today, &reason, "writer.daily_cents"));
        }
        Ok(())
    }

    /// Reserves the estimate of a call before it is made, so that concurrent or crashed callers cannot spend it
    /// twice. [`SpendMeter::settle`] follows. Errors: those of [`SpendMeter::check`].
    pub fn reserve(&mut self, estimate: TokenEstimate, now: Timestamp) -> Result<(), WriteError> {
        self.check(estimate, now)?;
        self.spent = self.spend_on_day(now);
        self.add(estimate.input_tokens, 0, estimate.output_tokens);
        Ok(())
    }

    /// Replaces the reservation of a call by its actual cost.
    pub fn settle(
        &mut self,
        answered: &Result<WriteResponse, WriteError>,
        estimate: TokenEstimate,
        reserved_at: Timestamp,
        now: Timestamp,
    ) {
        if self
            .spent
            .day
            .is_some_and(|day| is_same_day(day, day_of(reserved_at)))
        {
            let cost = self.cost(estimate.input_tokens, 0, estimate.output_tokens);
            let spent = &mut self.spent;
            spent.input_tokens = spent.input_tokens.saturating_sub(estimate.input_tokens);
            spent.output_tokens = spent.output_tokens.saturating_sub(estimate.output_tokens);
            spent.cost_micros = spent.cost_micros.saturating_sub(cost);
        }
        match answered {
            Ok(written) => self.record_success(written, estimate, now),
            Err(error) => self.record_failure(error.lost_tries, estimate, now),
        }
    }

    /// Counts a successful call and its lost attempts.
    pub fn record_success(
        &mut self,
        written: &WriteResponse,
        estimate: TokenEstimate,
        now: Timestamp,
    ) {
        self.spent = self.spend_on_day(now);
        self.spent.calls = self.spent.calls.saturating_add(1);
        self.add_lost_tries(written.lost_tries, estimate);
        self.add(
            written.input_tokens,
            written.cached_tokens,
            written.output_tokens,
        );
    }

    /// Counts a failed call. Attempts of unknown cost count by the estimate.
    pub fn record_failure(&mut self, lost_tries: u32, estimate: TokenEstimate, now: Timestamp) {
        self.spent = self.spend_on_day(now);
        self.spent.failures = self.spent.failures.saturating_add(1);
        self.add_lost_tries(lost_tries, estimate);
    }

    fn add_lost_tries(&mut self, tries: u32, estimate: TokenEstimate) {
        for _ in 0..tries {
            self.add(estimate.input_tokens, 0, estimate.output_tokens);
        }
    }

    fn add(&mut self, input: u64, cached: u64, output: u64) {
        let cost = self.cost(input, cached, output);
        let spent = &mut self.spent;
        spent.input_tokens = spent.input_tokens.saturating_add(input);
        spent.cached_tokens = spent.cached_tokens.saturating_add(cached.min(input));
        spent.output_tokens = spent.output_tokens.saturating_add(output);
        spent.cost_micros = spent.cost_micros.saturating_add(cost);
    }

    fn cost(&self, input: u64, cached: u64, output: u64) -> u64 {
        let price = self.price;
        price.map_or(0, |price| price.cost_micros(input, cached, output))
    }
}

fn day_of(now: Timestamp) -> civil::Date {
    now.to_zoned(tz::TimeZone::UTC).date()
}

/// A clock set back over midnight must not give the day's budget a second time; a clock that was wrong by more must
/// not block all calls until its day.
fn is_same_day(stored_day: civil::Date, today: civil::Date) -> bool {
    stored_day == today || stored_day.yesterday().is_ok_and(|before| before == today)
}

fn over_budget_error(today: &DailySpend, reason: &str, key: &str) -> WriteError {
    let day = today.day.unwrap_or_default();
    let next = day
        .tomorrow()
        .and_then(|next| next.to_zoned(tz::TimeZone::UTC));
    let resets_at = next.map_or(Timestamp::MAX, |next| next.timestamp());
    WriteError {
        problem: WriteProblem::OverBudget { resets_at },
        fault: Fault::refused(format!("{reason}; the next day begins at {resets_at}"))
            .hint(format!("wait, or set `{key}` higher")),
        lost_tries: 0,
    }
}

/// Formats millionths of a dollar as `$0.0000`.
pub fn format_dollars(micros: u64) -> String {
    format!("${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
}

#[cfg(test)]
#[path = "spend_meter/tests.rs"]
mod tests;
