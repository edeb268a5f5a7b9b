//! The mistake and update bounds, one named function each.
//!
//! `radius` is R = max ‖x‖, `margin` is γ = min y (w* · x) for the stated target, `target_norm` is
//! ‖w*‖. A margin of 0 gives an infinite bound: nothing is promised.

/// Perceptron, every order: mistakes <= (R‖w*‖/γ)² (001 Theorem 4.1; 004's last line lacks the
/// squares).
///
/// ```
/// assert_eq!(halfspaces_online::bounds::perceptron_mistakes(2.0, 1.0, 0.5), 16.0);
/// ```
#[must_use]
pub fn perceptron_mistakes(radius: f64, target_norm: f64, margin: f64) -> f64 {
    (radius * target_norm / margin).powi(2)
}

/// Perceptron, labels that no halfspace need explain, one pass in any order: for every unit `u` and
/// every γ > 0, mistakes <= ((R + D)/γ)² with D² = Σ max(0, γ - y (u · x))²
/// (Freund and Schapire 1999, Theorem 2; not one of the five source documents).
#[must_use]
pub fn perceptron_mistakes_with_deviation(radius: f64, deviation: f64, margin: f64) -> f64 {
    ((radius + deviation) / margin).powi(2)
}

/// Batch perceptron: updates <= (R/γ)² for a unit target (002 Theorem 1.1, which has R = 1).
#[must_use]
pub fn batch_perceptron_updates(radius: f64, margin: f64) -> f64 {
    (radius / margin).powi(2)
}

/// Margin perceptron: updates <= 3 (R/γ)² for a unit target (002 Theorem 2.1, which has R = 1).
#[must_use]
pub fn margin_perceptron_updates(radius: f64, margin: f64) -> f64 {
    3.0 * (radius / margin).powi(2)
}

/// Margin perceptron: the margin of what it returns is >= γ/3 (002 Theorem 2.1).
#[must_use]
pub fn margin_perceptron_margin(margin: f64) -> f64 {
    margin / 3.0
}
