//! Distributions on two pairs of opposite points in the plane, constructed so that the final halfspace of a
//! noise-tolerant learner is known. The target is the first axis.

use super::planar::{Atom, Planar, StepLink};

/// A constant link of level 1 - 2η: Massart noise of rate η.
fn massart(noise: f64) -> StepLink {
    StepLink { near: [1.0 - 2.0 * noise; 2], far: [1.0 - 2.0 * noise; 2], jump: 1.0 }
}

/// Adds the opposite of every point, and splits the mass of the point equally between the two.
pub(super) fn with_opposites(margin: f64, noise: f64, atoms: &[Atom]) -> Planar {
    let both = |atom: &Atom| {
        let half = Atom { mass: atom.mass / 2.0, ..*atom };
        [half, Atom { x: half.x.map(|v| -v), ..half }]
    };
    Planar { margin, link: massart(noise), atoms: atoms.iter().flat_map(both).collect() }
}

/// Two pairs of opposite points at the margin, without wrong labels: (γ, r) with mass 1 - m, and (γ, -r) with mass m =
/// η(1 - 5γ), where r = √(1-γ²). See docs/theory/noise-rate-binds.md.
pub(super) fn clean_pairs(noise: f64, margin: f64) -> Planar {
    let across = (1.0 - margin * margin).sqrt();
    let few = wrong_share(noise, margin);
    let atoms = [
        Atom { x: [margin, across], flip: 0.0, mass: 1.0 - few },
        Atom { x: [margin, -across], flip: 0.0, mass: few },
    ];
    with_opposites(margin, noise, &atoms)
}

/// The points of [`clean_pairs`] with masses of 0.7 and 0.3. Every label is wrong with probability η.
pub(super) fn noisy_pairs(noise: f64, margin: f64) -> Planar {
    let across = (1.0 - margin * margin).sqrt();
    let atom = |across, mass| Atom { x: [margin, across], flip: noise, mass };
    with_opposites(margin, noise, &[atom(across, 0.7), atom(-across, 0.3)])
}

/// The mass of the lighter pair of [`clean_pairs`], η(1 - 5γ).
pub(super) fn wrong_share(noise: f64, margin: f64) -> f64 {
    noise * (1.0 - 5.0 * margin)
}

/// Two pairs of opposite points, without wrong labels, on which the Perspectron with η = 0.1 and a margin of 1 or 0.5
/// has error 0.31. This exceeds η + ε at ε = 0.2, so such a guess of the margin is rejected. The points of the heavier
/// pair are long, and w leans towards them. The points of the lighter pair are short, although they keep the margin of
/// 0.04. After division by a large denominator, they have too little weight to turn w.
pub(super) fn lever() -> Planar {
    let atoms = [
        Atom { x: [0.04, 0.99], flip: 0.0, mass: 0.69 },
        Atom { x: [0.04, -0.08], flip: 0.0, mass: 0.31 },
    ];
    with_opposites(0.04, 0.1, &atoms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::noise::planar::dot;

    /// Checks the proof of docs/theory/noise-rate-binds.md numerically: at the end of the arc, the mean step leads back
    /// into it, for every η and γ listed here.
    #[test]
    fn the_mean_step_leads_back_into_the_arc() {
        use halfspaces_pac::Denominator;
        for noise in [0.02, 0.1, 0.3, 0.45, 0.49] {
            for margin in [0.001, 0.02, 0.05, 0.1] {
                let planar = clean_pairs(noise, margin);
                let end = std::f64::consts::FRAC_1_SQRT_2;
                for w in [[end, end], [0.0, 1.0]] {
                    let mean = planar.mean_direction(Denominator::AtLeast(margin), w);
                    // The component along the circle, towards w*.
                    let turn = -dot(mean, [w[1], -w[0]]);
                    assert_eq!(turn > 0.0, w[0] < 0.1, "η = {noise}, γ = {margin}: {turn}");
                    assert!(dot(mean, w) < 0.0);
                    assert!((planar.error(w) - wrong_share(noise, margin)).abs() < 1e-12);
                }
            }
        }
    }

    /// The error of the noiseless learner stays above η + ε if it is given a margin of 0.5 or more, but not if it is
    /// given the true margin.
    #[test]
    fn the_lever_rejects_large_guesses_of_the_margin() {
        use halfspaces_pac::Denominator;
        let run = |margin: f64| lever().mean_run(Denominator::AtLeast(margin), 50_000);
        for guess in [1.0, 0.5] {
            assert!((run(guess) - 0.21).abs() < 1e-9, "{guess}: {}", run(guess));
        }
        assert!(run(0.04) < 0.0, "{}", run(0.04));
    }
}
