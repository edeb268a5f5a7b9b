//! The layout of an axis: positions of values, and ticks.

use super::model::AxisScale;
use crate::text::raised;

/// The layout of an axis, which maps data values to fractions of its length.
#[derive(Debug, Clone)]
pub(super) struct AxisLayout {
    log: bool,
    /// The lower end of the axis, or its logarithm to base 10 if `log` is true.
    low: f64,
    high: f64,
    /// Pairs (value, label).
    ticks: Vec<(f64, String)>,
}

impl AxisLayout {
    pub(super) fn new(scale: AxisScale, values: impl Iterator<Item = f64>) -> AxisLayout {
        let log = scale == AxisScale::Log;
        let usable = |v: &f64| v.is_finite() && (!log || *v > 0.0);
        let place = |v: f64| if log { v.log10() } else { v };
        let range = values.filter(usable).map(place).fold(None, |range, v| match range {
            None => Some((v, v)),
            Some((low, high)) => Some((v.min(low), v.max(high))),
        });
        let (least, most) = range.unwrap_or((0.0, 1.0));
        // Both ends are halved before the subtraction, because the width of an axis may overflow `f64`.
        let pad = if most > least {
            (most / 2.0 - least / 2.0) * 0.1
        } else {
            0.5 * least.abs().max(0.5)
        };
        let high = (most + pad).min(f64::MAX);
        let mut low = (least - pad).max(f64::MIN);
        // A linear axis of counts or ratios starts at 0 if 0 is close to the smallest value.
        if !log && least >= 0.0 && low < 0.3 * high {
            low = 0.0;
        }
        let ticks = if log { log_ticks(low, high) } else { linear_ticks(low, high) };
        AxisLayout { log, low, high, ticks }
    }

    /// The position of a value along the axis, from 0 to 1.
    pub(super) fn place(&self, v: f64) -> f64 {
        let at = match (self.log, v > 0.0) {
            (false, _) => v,
            (true, true) => v.log10(),
            (true, false) => self.low,
        };
        // The terms are halved for the same reason as above. NaN is placed at the lower edge.
        let share = (at / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// The ticks with their labels, all in one format.
    pub(super) fn ticks(&self) -> &[(f64, String)] {
        &self.ticks
    }
}

/// About six ticks at multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let rough = high / 6.0 - low / 6.0;
    // If the span is too narrow for labels to distinguish the ticks, there is a single tick.
    if rough <= 1e-12 * high.abs().max(low.abs()).max(1e-280) {
        return vec![(low, format!("{low:e}"))];
    }
    let power = 10f64.powf(rough.log10().floor());
    // If none of these steps is large enough, 10 · `power` is large enough, up to the rounding of the logarithm.
    let step = [1.0, 2.0, 5.0].map(|m| m * power).into_iter().find(|s| *s >= rough);
    let step = step.unwrap_or(10.0 * power);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let large = high.abs().max(low.abs()) >= 1e6;
    let grouped = is_grouped(high.abs().max(low.abs()));
    let shown = |v: f64| match decimals {
        0..=9 if !large => plain(v, decimals, grouped),
        _ => format!("{v:.1e}"),
    };
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last.min(first + 20)).map(|i| (i as f64 * step, shown(i as f64 * step))).collect()
}

/// Whether thousands are separated on an axis whose largest value is `most`. They are separated only if some number on
/// the axis has five digits.
fn is_grouped(most: f64) -> bool {
    most >= 1e4
}

/// Writes the number without an exponent, with thousands separators if `grouped`. The minus sign is U+2212, not a
/// hyphen.
fn plain(value: f64, decimals: usize, grouped: bool) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut digits = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && grouped && (whole.len() - at) % 3 == 0 {
            digits.push('\u{a0}');
        }
        digits.push(digit);
    }
    let minus = if value < 0.0 && text.contains(|c: char| c.is_ascii_digit() && c != '0') {
        "−"
    } else {
        ""
    };
    format!("{minus}{digits}{rest}")
}

/// Ticks at powers of ten. If there are many powers, only every second, third, fifth, ... of them has a tick. If there
/// are few powers, 2 and 5 times a power have ticks as well. If the axis would have at most one tick, it has the ticks
/// of a linear axis instead, unless its ends are extremely small or large.
fn log_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let decades = high - low;
    let rough = decades / 7.0;
    let steps = [1, 2, 3, 5, 10, 20, 30, 50, 100];
    let every: i64 = steps.into_iter().find(|s| *s as f64 >= rough).unwrap_or(200);
    let between: &[f64] = if decades <= 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let powers = low.floor() as i64..=high.ceil() as i64;
    let ticks: Vec<(i64, f64)> = powers
        .filter(|p| p % every == 0)
        .flat_map(|p| between.iter().map(move |m| (p, *m)))
        .filter(|(p, m)| (low..=high).contains(&(*p as f64 + m.log10())))
        .collect();
    if ticks.len() < 2 && low > -12.0 && high < 12.0 {
        return linear_ticks(10f64.powf(low), 10f64.powf(high));
    }
    let grouped = ticks.iter().any(|(p, times)| is_grouped(times * 10f64.powi(*p as i32)));
    let in_full = ticks.iter().all(|(p, _)| (-3..=4).contains(p));
    let label = |(power, times): &(i64, f64)| match in_full {
        true => plain(times * 10f64.powi(*power as i32), (-power).max(0) as usize, grouped),
        false => power_label(*power, *times),
    };
    ticks.iter().map(|t| (t.1 * 10f64.powi(t.0 as i32), label(t))).collect()
}

fn power_label(power: i64, times: f64) -> String {
    let exponent: String = power.to_string().chars().map(raised).collect();
    match (power, times > 1.0) {
        (0, _) => format!("{times}"),
        (_, true) => format!("{times}·10{exponent}"),
        (_, false) => format!("10{exponent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: Vec<(f64, String)>) -> Vec<String> {
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn values_lie_between_the_ends() {
        let axis = |log, low, high| AxisLayout { log, low, high, ticks: Vec::new() };
        let log = axis(true, -1.0, 3.0);
        let expected =
            [(0.1, 0.0), (1.0, 0.25), (1000.0, 1.0), (1e9, 1.0), (0.0, 0.0), (-1.0, 0.0)];
        assert!(expected.iter().all(|(value, place)| (log.place(*value) - place).abs() < 1e-12));
        let linear = axis(false, -1.0, 3.0);
        assert_eq!(
            [-2.0, -1.0, 0.0, 3.0, f64::NAN].map(|v| linear.place(v)),
            [0.0, 0.0, 0.25, 1.0, 0.0]
        );
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(labels(linear_ticks(0.0, 1.0)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(linear_ticks(-3.0, 47.0)), ["0", "10", "20", "30", "40"]);
        assert_eq!(labels(linear_ticks(-0.1, 0.1)), ["−0.10", "−0.05", "0.00", "0.05", "0.10"]);
        assert_eq!(labels(linear_ticks(0.0, 47_000.0))[1], "10\u{a0}000");
        // Thousands are separated on the whole axis or not at all.
        assert_eq!(labels(linear_ticks(0.0, 12_000.0))[1], "2\u{a0}000");
        assert_eq!(labels(linear_ticks(0.0, 9999.0))[1], "2000");
        assert_eq!(labels(log_ticks(-1.1, 2.1)), ["0.1", "1", "10", "100"]);
        assert_eq!(labels(log_ticks(0.9, 2.1)), ["10", "20", "50", "100"]);
        assert_eq!(labels(log_ticks(4.5, 6.9)), ["10⁵", "10⁶"]);
        assert_eq!(
            labels(log_ticks(10.0, 80.0)),
            ["10¹⁰", "10²⁰", "10³⁰", "10⁴⁰", "10⁵⁰", "10⁶⁰", "10⁷⁰", "10⁸⁰"]
        );
        assert!(log_ticks(-20.0, 20.0).len() <= 8);
        // The axis spans less than a decade and contains none of 1, 2 and 5 times a power of ten.
        assert_eq!(labels(log_ticks(1.05, 1.25)), ["12", "14", "16"]);
    }

    /// On one axis, either all labels are plain numbers or all labels are powers of ten.
    #[test]
    fn an_axis_has_one_style() {
        assert_eq!(labels(log_ticks(-0.1, 4.2)), ["1", "10", "100", "1\u{a0}000", "10\u{a0}000"]);
        assert_eq!(labels(log_ticks(0.9, 6.1)), ["10¹", "10²", "10³", "10⁴", "10⁵", "10⁶"]);
    }
}
