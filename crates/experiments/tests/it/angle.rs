//! A test of equation (2) of DKTZ23 on the mistakes of Algorithm 1 as the library runs it.

use halfspaces_data::{Marginal, UnitSphere, random_target};
use halfspaces_linalg::{Classifier, PointSet, RowView, kernels, norm};
use halfspaces_online::{ChainLength, SelfDirectedSession, TwoChains};

/// The squared tangent of the angle between `w` and the unit vector `target`; `None` if the angle is a right angle or
/// larger.
fn squared_tangent(w: &[f64], target: &[f64]) -> Option<f64> {
    let along = kernels::dot(w, target);
    let mut across = w.to_vec();
    kernels::axpy(-along, target, &mut across);
    (along > 0.0).then(|| (norm(&across) / along).powi(2))
}

/// A mistake x of a chain w takes θ to θ' with tan²θ' <= (1 - r²) tan²θ, r = |w · x|/(‖w‖ sin θ), and exactly to
/// tan²θ' = (‖w‖² - |w · x|²)/(w · w* + |w · x| |w* · x|)² - 1.
#[test]
fn a_mistake_lowers_the_tangent_by_the_margin() {
    let (dim, points) = (6, 4000);
    let target = random_target(dim, 1).unwrap();
    let pool = UnitSphere::new(dim).unwrap().sample(points, 2).unwrap();
    let labels = target.label_all(&pool).unwrap();
    let learner = TwoChains::new(dim, ChainLength::Practical { factor: 2.0 }, 3).unwrap();
    let mut session = SelfDirectedSession::new(learner, &pool).unwrap();
    let (mut updates, mut largest) = (0, 0.0f64);
    while let Some(question) = session.next().unwrap() {
        let in_buckets = session.learner().chain_mistakes();
        let before = session.learner().weights().map(<[f64]>::to_vec);
        let truth = labels[question.index];
        session.answer(truth).unwrap();
        if session.learner().chain_mistakes() == in_buckets {
            continue;
        }
        let after = session.learner().weights();
        let chain = (0..2).find(|chain| after[*chain] != before[*chain]).unwrap();
        let w = &before[chain];
        let x = pool.row(question.index).unwrap();
        let (value, margin) = (x.dot(w).abs(), x.dot(target.normal()).abs());
        let theta = squared_tangent(w, target.normal()).unwrap();
        let found = squared_tangent(after[chain], target.normal()).unwrap();
        // sin²θ = tan²θ/(1 + tan²θ).
        let r_sq = value * value / (norm(w) * norm(w) * theta / (1.0 + theta));
        assert!(found <= (1.0 - r_sq) * theta + 1e-12, "{found} {theta} {r_sq}");
        let along = kernels::dot(w, target.normal()) + value * margin;
        let exact = (norm(w) * norm(w) - value * value) / (along * along) - 1.0;
        assert!((found - exact).abs() < 1e-9, "{found} {exact}");
        updates += 1;
        largest = largest.max(r_sq);
    }
    // The bound is tested far from r = 0.
    assert!(updates > 10 && largest > 0.2, "{updates} {largest}");
}
