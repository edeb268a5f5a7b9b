//! Single runs, recorded iterate by iterate.

use super::workload::{Configuration, Model, Outcome, Padding, Rule, Source, in_plane, params};
use crate::experiments::common::*;
use crate::experiments::noise::planar::Planar;
use halfspaces_data::Link;
use halfspaces_linalg::{ExampleStream, Params, RowView, kernels};
use halfspaces_pac::Direction;

/// Takes `steps` steps from w = 0 and projects w onto the unit ball after each step. Calls `see` with t and w^{t+1},
/// starting with t = 0.
pub(super) fn walk<L: Link, S: ExampleStream>(
    direction: &Direction<L>,
    step: f64,
    steps: u64,
    stream: &mut S,
    mut see: impl FnMut(u64, &[f64]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut w = vec![0.0; stream.dim()];
    see(0, &w)?;
    for t in 1..=steps {
        let next = stream.next_row().map_err(|_| "the stream failed")?;
        let (x, y) = next.ok_or("the stream ended")?;
        x.add_scaled_to(-step * direction.coefficient(x.dot(&w), y), &mut w);
        let norm = kernels::norm_sq(&w).sqrt();
        if norm > 1.0 {
            w.iter_mut().for_each(|v| *v /= norm);
        }
        see(t, &w)?;
    }
    Ok(())
}

pub(super) fn curve(
    setting: &Configuration,
    rule: Rule,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let Model::Plane(planar) = Model::draw(Source::Searched, setting.margin, rng)? else {
        return Err("a model found by search must be in the plane".into());
    };
    let plan = params(setting, rule, planar.link).check()?.plan();
    let direction = Direction { link: planar.link, denominator: plan.denominator };
    let (mut curve, mut sum) = (Vec::new(), 0.0);
    walk(&direction, plan.step, plan.run_length, &mut planar.stream(rng), |t, w| {
        if t > 0 && (t.is_power_of_two() || t == plan.run_length) {
            curve.push((t, sum / t as f64));
        }
        sum += planar.excess(in_plane(w));
        Ok(())
    })?;
    let excess = curve.last().ok_or("the run is too short for a point of the curve")?.1;
    let (examples, level) = (plan.run_length, planar.level());
    Ok(Outcome { excess, examples, curve, level, zero: None })
}

pub(super) fn trap(
    padding: Padding,
    longest: u64,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let planar = Planar::trap();
    let denominator = padding.denominator(planar.margin);
    let direction = Direction { link: planar.link, denominator };
    let (mut curve, mut steps) = (Vec::new(), 1000);
    while steps <= longest {
        let step = denominator.least() / (2.0 * (steps as f64).sqrt());
        let mut sum = 0.0;
        walk(&direction, step, steps, &mut planar.stream(rng), |t, w| {
            if t < steps {
                sum += planar.excess(in_plane(w));
            }
            Ok(())
        })?;
        curve.push((steps, sum / steps as f64));
        steps *= 10;
    }
    let excess = curve.last().ok_or("the run is too short for a point of the curve")?.1;
    Ok(Outcome { excess, examples: longest, curve, level: planar.level(), zero: None })
}
