//! Where values lie on an axis, and its ticks.

use super::model::AxisScale;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// An axis laid out, as plotters wants it: data values in, pixels out.
#[derive(Clone)]
pub(super) struct AxisLayout {
    log: bool,
    /// Ends of the axis, as powers of ten when `log`.
    low: f64,
    high: f64,
    /// (value, label)
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
        // Halved first: the width of an axis may exceed f64.
        let pad = if most > least {
            (most / 2.0 - least / 2.0) * 0.1
        } else {
            0.5 * least.abs().max(0.5)
        };
        let high = (most + pad).min(f64::MAX);
        let mut low = (least - pad).max(f64::MIN);
        // A linear axis of counts or ratios starts at 0 when that is near.
        if !log && least >= 0.0 && low < 0.3 * high {
            low = 0.0;
        }
        let ticks = if log { log_ticks(low, high) } else { linear_ticks(low, high) };
        AxisLayout { log, low, high, ticks }
    }

    /// Where along the axis a value lies, from 0 to 1.
    fn place(&self, v: f64) -> f64 {
        let at = match (self.log, v > 0.0) {
            (false, _) => v,
            (true, true) => v.log10(),
            (true, false) => self.low,
        };
        // Halved for the same reason as above; NaN ends at the lower edge.
        let share = (at / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }
}

impl Ranged for AxisLayout {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        from + (f64::from(to - from) * self.place(*value)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|(at, _)| *at).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for AxisLayout {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|(at, _)| at.total_cmp(value).is_eq());
        let Some((_, label)) = tick else { unreachable!("only ticks have labels: {value}") };
        label.clone()
    }
}

/// Multiples of 1, 2 or 5 times a power of ten, about six of them.
fn linear_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let rough = high / 6.0 - low / 6.0;
    // Too narrow a span for numbers to tell its ticks apart.
    if rough <= 1e-12 * high.abs().max(low.abs()).max(1e-280) {
        return vec![(low, format!("{low:e}"))];
    }
    let power = 10f64.powf(rough.log10().floor());
    // The last is large enough but for the rounding of the logarithm.
    let step = [1.0, 2.0, 5.0].map(|m| m * power).into_iter().find(|s| *s >= rough);
    let step = step.unwrap_or(10.0 * power);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let shown = |v: f64| match decimals {
        0..=9 => format!("{v:.decimals$}"),
        _ => format!("{v:.1e}"),
    };
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last.min(first + 20)).map(|i| (i as f64 * step, shown(i as f64 * step))).collect()
}

/// Powers of ten, every second or fourth if there are many, with 2 and 5 between if there are few.
fn log_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let decades = high - low;
    let every = ((decades / 7.0).ceil() as i64).max(1);
    let within = |p: i64, m: f64| (m * 10f64.powi(p as i32), power_label(p, m));
    let between: &[f64] = if decades <= 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let powers = low.floor() as i64..=high.ceil() as i64;
    powers
        .filter(|p| p % every == 0)
        .flat_map(|p| between.iter().map(move |m| within(p, *m)))
        .filter(|(at, _)| (low..=high).contains(&at.log10()))
        .collect()
}

fn power_label(power: i64, times: f64) -> String {
    if (-3..=4).contains(&power) {
        let decimals = (-power).max(0) as usize;
        return format!("{:.decimals$}", times * 10f64.powi(power as i32));
    }
    let raised = |c: char| match c {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    };
    let exponent: String = power.to_string().chars().map(raised).collect();
    if times > 1.0 { format!("{times}·10{exponent}") } else { format!("10{exponent}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: Vec<(f64, String)>) -> Vec<String> {
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(labels(linear_ticks(0.0, 1.0)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(linear_ticks(-3.0, 47.0)), ["0", "10", "20", "30", "40"]);
        assert_eq!(labels(log_ticks(-1.1, 2.1)), ["0.1", "1", "10", "100"]);
        assert_eq!(labels(log_ticks(0.9, 2.1)), ["10", "20", "50", "100"]);
        assert_eq!(labels(log_ticks(4.5, 6.9)), ["10⁵", "10⁶"]);
        assert!(log_ticks(-20.0, 20.0).len() <= 8);
    }
}
