//! scratch
use halfspaces_data::*;
use halfspaces_forster::*;
use halfspaces_linalg::*;
use std::time::Instant;
fn main() {
    let deltas: [f64; 3] = [0.5, 1e-3, 1e-7];
    let seeds: u64 = std::env::args().nth(1).map_or(1, |s| s.parse().unwrap());
    let verbose = std::env::args().nth(2).is_some();
    let mut count = 0;
    let mut bad = 0;
    let mut maxit = 0;
    let (mut iso, mut heavy, mut unres) = (0, 0, 0);
    let t0 = Instant::now();
    for seed in 0..seeds {
        for kind in HeavyKind::ALL {
            for d in [5usize, 8, 20, 40, 60] {
                if seed > 0 && d > 20 {
                    continue;
                }
                let mut ks = vec![1, 2, d / 2, d - 1];
                ks.dedup();
                for k in ks {
                    for (ei, ex) in [
                        Excess::Boundary,
                        Excess::OnePoint,
                        Excess::Share(0.01),
                        Excess::Share(0.05),
                        Excess::Share(0.1),
                        Excess::Share(0.6),
                    ]
                    .into_iter()
                    .enumerate()
                    {
                        let case = HeavyCase::new(kind, d, k, 10 * d, ex, seed * 1000 + ei as u64)
                            .unwrap();
                        for delta in deltas {
                            let acc = if delta == 0.5 {
                                Accuracy::OneSided(delta)
                            } else {
                                Accuracy::TwoSided(delta)
                            };
                            let solver = ForsterTransform::params().accuracy(acc).check().unwrap();
                            let t = Instant::now();
                            let fit = solver.fit(case.points()).unwrap();
                            let ms = t.elapsed().as_secs_f64() * 1e3;
                            count += 1;
                            let its = fit
                                .levels()
                                .iter()
                                .map(|l| l.fixed_point_steps + l.newton_steps)
                                .max()
                                .unwrap();
                            maxit = maxit.max(its);
                            let pos = fit.position();
                            let what = match fit.outcome() {
                                Outcome::RadiallyIsotropic(_) => {
                                    iso += 1;
                                    "iso"
                                }
                                Outcome::HeavySubspace(_) => {
                                    heavy += 1;
                                    "heavy"
                                }
                                Outcome::Unresolved { .. } => {
                                    unres += 1;
                                    "unres"
                                }
                            };
                            let strict = case.noise() == 0.0;
                            let must = strict && case.obstruction() > delta;
                            let matches_planted = case.planted().iter().any(|p| {
                                p.dim == pos.subspace.dim() && p.members == pos.subspace.members()
                            });
                            let ok = match fit.outcome() {
                                Outcome::RadiallyIsotropic(p) => {
                                    !must
                                        && acc.is_reached_by(
                                            Isotropy::of(
                                                &p.transform.apply(case.points()).unwrap(),
                                            )
                                            .unwrap(),
                                        )
                                }
                                Outcome::HeavySubspace(_) => strict && matches_planted,
                                Outcome::Unresolved { .. } => false,
                            };
                            if !ok {
                                bad += 1
                            }
                            if !ok || verbose || ms > 500.0 {
                                println!(
                                    "{} {kind:?} d={d} k={k} {ex:?} δ={delta} seed {seed}: {what} dim {} N {} obstr {:.2e} its {its} {ms:.1}ms cert {:.2e} levels {:?}",
                                    if ok { "ok " } else { "BAD" },
                                    pos.subspace.dim(),
                                    pos.subspace.members().len(),
                                    case.obstruction(),
                                    pos.certificate.residual(),
                                    fit.levels()
                                        .iter()
                                        .map(|l| (
                                            l.dim,
                                            l.fixed_point_steps,
                                            l.newton_steps,
                                            l.passes,
                                            l.products,
                                            format!("{:.1e}", l.condition),
                                            l.end,
                                            format!("{:.1e}", l.residuals.last().unwrap())
                                        ))
                                        .collect::<Vec<_>>()
                                );
                            }
                        }
                    }
                }
            }
        }
    }
    println!(
        "{count} cases, {bad} bad, iso {iso} heavy {heavy} unres {unres}, most iterations {maxit}, {:.1}s",
        t0.elapsed().as_secs_f64()
    );
}
