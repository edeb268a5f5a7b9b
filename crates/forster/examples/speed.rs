//! scratch
use faer::{Accum, Mat, Par, linalg::matmul::matmul};
use halfspaces_data::*;
use halfspaces_forster::*;
use halfspaces_linalg::*;
use std::time::Instant;
fn main() {
    let only: Option<String> = std::env::args().nth(1);
    for (n, d) in [(100_000, 50)] {
        if only.as_ref().is_some_and(|o| *o != format!("{n}x{d}")) {
            continue;
        }
        for kind in ["gauss", "t", "clu"] {
            let x = match kind {
                "gauss" => Gaussian::new(d, 1.0).unwrap().sample(n, 1),
                "t" => StudentT::new(d, 1.0, 1e6).unwrap().sample(n, 1),
                _ => Clusters::random(d, 10, 0.1, 1).unwrap().sample(n, 2),
            }
            .unwrap();
            let mut m = Mat::<f64>::zeros(d, d);
            let xm = x.as_mat();
            let mut g = f64::INFINITY;
            for _ in 0..5 {
                let t = Instant::now();
                matmul(m.as_mut(), Accum::Replace, xm.transpose(), xm, 1.0, Par::Seq);
                g = g.min(t.elapsed().as_secs_f64());
            }
            let time = |p: ForsterParams| {
                let s = p.check().unwrap();
                let mut b = f64::INFINITY;
                let mut f = None;
                for _ in 0..3 {
                    let t = Instant::now();
                    f = Some(s.fit(&x).unwrap());
                    b = b.min(t.elapsed().as_secs_f64());
                }
                (b, f.unwrap())
            };
            for acc in [Accuracy::OneSided(0.5), Accuracy::TwoSided(1e-6)] {
                for step in [Step::FixedPoint, Step::Newton, Step::Automatic] {
                    let (t, f) = time(
                        ForsterTransform::params().accuracy(acc).step(step).max_iterations(300),
                    );
                    let l = &f.levels()[0];
                    println!(
                        "{n}x{d} {kind} {acc:?} {step:?}: {:.1}ms  = {:.1} XtX; fp {} newton {} passes {} products {} resid {:.1e} {:?}",
                        t * 1e3,
                        t / g,
                        l.fixed_point_steps,
                        l.newton_steps,
                        l.passes,
                        l.products,
                        f.position().certificate.residual(),
                        l.end
                    );
                }
            }
            let p = |k| {
                ForsterTransform::params()
                    .accuracy(Accuracy::TwoSided(1e-11))
                    .step(Step::FixedPoint)
                    .max_iterations(k)
            };
            let a = time(p(2));
            let b = time(p(6));
            let k = b.1.levels()[0].passes - a.1.levels()[0].passes;
            if k > 0 {
                println!(
                    "   XtX {:.2}ms pass {:.2}ms ratio {:.2}",
                    g * 1e3,
                    (b.0 - a.0) / k as f64 * 1e3,
                    (b.0 - a.0) / k as f64 / g
                );
            }
        }
    }
}
