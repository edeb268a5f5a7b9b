//! The targets that remain after some labels, for d = 2 and 3: an arc, or a convex polygon on the sphere. The process
//! is simulated from its exact distribution; only the points that cut the set of remaining targets matter
//! (docs/theory/random-order.md).

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use std::f64::consts::{PI, TAU};

/// A polygon that lies within this angle of its centre is treated as flat.
const PLANE: f64 = 5e-5;

type Vector = [f64; 3];

/// The targets that remain.
#[derive(Debug, Clone)]
pub(super) enum Cell {
    /// d = 2: the length of the arc.
    Arc(f64),
    /// d = 3: the vertices, unit vectors in cyclic order.
    Sphere(Vec<Vector>),
    /// d = 3: the vertices, in cyclic order, of a polygon so small that it is treated as flat.
    Plane(Vec<[f64; 2]>),
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: Vector) -> Vector {
    let length = dot(a, a).sqrt();
    assert!(length > 0.0, "random vectors are not parallel");
    a.map(|v| v / length)
}

fn angle_between(a: Vector, b: Vector) -> f64 {
    let c = cross(a, b);
    dot(c, c).sqrt().atan2(dot(a, b))
}

/// a + s (b - a).
fn between<const N: usize>(a: [f64; N], b: [f64; N], s: f64) -> [f64; N] {
    std::array::from_fn(|i| a[i] + s * (b[i] - a[i]))
}

/// A uniform unit vector.
fn uniform(rng: &mut ChaCha8Rng) -> Vector {
    around([0.0, 0.0, 1.0], 1.0, rng)
}

/// A uniform unit vector x with |x · c| <= `height`. The height of a uniform point is uniform (Archimedes).
fn around(c: Vector, height: f64, rng: &mut ChaCha8Rng) -> Vector {
    let along = height * (2.0 * rng.random::<f64>() - 1.0);
    let turn = TAU * rng.random::<f64>();
    // Two unit vectors orthogonal to c.
    let axis = if c[0].abs() < 0.5 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let u = unit(cross(c, axis));
    let v = cross(c, u);
    let across = (1.0 - along * along).max(0.0).sqrt();
    std::array::from_fn(|i| along * c[i] + across * (turn.cos() * u[i] + turn.sin() * v[i]))
}

/// The solid angle of a convex polygon, summed over a fan of triangles by the formula of Van Oosterom and Strackee.
pub(super) fn solid_angle(vertices: &[Vector]) -> f64 {
    let Some((&a, rest)) = vertices.split_first() else { return 0.0 };
    rest.windows(2)
        .map(|pair| {
            let (b, c) = (pair[0], pair[1]);
            let sides = 1.0 + dot(a, b) + dot(b, c) + dot(c, a);
            // Differences of vertices preserve the accuracy for small triangles.
            let edge = |to: Vector| -> Vector { std::array::from_fn(|i| to[i] - a[i]) };
            let volume = dot(a, cross(edge(b), edge(c))).abs();
            2.0 * volume.atan2(sides)
        })
        .sum()
}

/// The area of a polygon in the plane.
fn area(vertices: &[[f64; 2]]) -> f64 {
    let Some((a, rest)) = vertices.split_first() else { return 0.0 };
    let twice = |pair: &[[f64; 2]]| {
        let [b, c] = [pair[0], pair[1]].map(|p| [p[0] - a[0], p[1] - a[1]]);
        b[0] * c[1] - b[1] * c[0]
    };
    0.5 * rest.windows(2).map(twice).sum::<f64>().abs()
}

/// Splits a polygon along the zeros of a linear function, whose values at the vertices are given. Returns the vertices
/// of the part where the function is at least 0 and of the part where it is at most 0; `None` if the function does not
/// change sign.
fn split<const N: usize>(vertices: &[[f64; N]], values: &[f64]) -> Option<[Vec<[f64; N]>; 2]> {
    if values.iter().all(|v| *v >= 0.0) || values.iter().all(|v| *v <= 0.0) {
        return None;
    }
    let (mut plus, mut minus) = (Vec::new(), Vec::new());
    for (i, (&a, &f)) in vertices.iter().zip(values).enumerate() {
        let next = (i + 1) % vertices.len();
        let (b, g) = (vertices[next], values[next]);
        if f >= 0.0 {
            plus.push(a);
        }
        if f <= 0.0 {
            minus.push(a);
        }
        if f * g < 0.0 {
            let edge = between(a, b, f / (f - g));
            plus.push(edge);
            minus.push(edge);
        }
    }
    Some([plus, minus])
}

fn closed<T: Copy>(vertices: &[T]) -> impl Iterator<Item = (T, T)> + '_ {
    vertices.iter().copied().zip(vertices.iter().copied().cycle().skip(1))
}

impl Cell {
    /// The targets that remain after three points on the sphere. Also returns, for each point, a fraction p: the share
    /// of the targets remaining before this point that lie on the true target's side.
    pub(super) fn after_three_points(rng: &mut ChaCha8Rng) -> (Cell, [f64; 3]) {
        let target = uniform(rng);
        // The points, each multiplied by ±1 so that it lies on the target's positive side.
        let sides: [Vector; 3] = std::array::from_fn(|_| {
            let x = uniform(rng);
            if dot(x, target) >= 0.0 { x } else { x.map(|v| -v) }
        });
        // An edge of the cone lies on two of the planes and on the positive side of the third.
        let vertices: Vec<Vector> = (0..3)
            .map(|i| {
                let edge = unit(cross(sides[i], sides[(i + 1) % 3]));
                if dot(edge, sides[(i + 2) % 3]) >= 0.0 { edge } else { edge.map(|v| -v) }
            })
            .collect();
        // A lune of angle α has area 2α.
        let lune = 2.0 * (PI - angle_between(sides[0], sides[1]));
        let shares = [0.5, lune / TAU, solid_angle(&vertices) / lune];
        (Cell::Sphere(vertices), shares)
    }

    /// The probability that a uniform point cuts the remaining targets: by Crofton's formula, the length of the
    /// boundary divided by 2π; for an arc, its length divided by π.
    pub(super) fn cut_probability(&self) -> f64 {
        match self {
            Cell::Arc(length) => length / PI,
            Cell::Sphere(vertices) => {
                closed(vertices).map(|(a, b)| angle_between(a, b)).sum::<f64>() / TAU
            }
            Cell::Plane(vertices) => {
                let length = |(a, b): ([f64; 2], [f64; 2])| (a[0] - b[0]).hypot(a[1] - b[1]);
                closed(vertices).map(length).sum::<f64>() / TAU
            }
        }
    }

    /// Draws a uniform point among those that cut the remaining targets, keeps the part that contains a uniformly
    /// random target, and returns the fraction of the targets in that part.
    pub(super) fn cut(&mut self, rng: &mut ChaCha8Rng) -> f64 {
        let target: f64 = rng.random();
        match self {
            Cell::Arc(length) => {
                let p: f64 = rng.random();
                let share = if target < p { p } else { 1.0 - p };
                *length *= share;
                share
            }
            Cell::Sphere(vertices) => {
                let centre = centre(vertices);
                let radius = reach(centre, vertices);
                let height = if radius < 0.5 * PI { radius.sin() } else { 1.0 };
                let parts = loop {
                    let x = around(centre, height, rng);
                    let values: Vec<f64> = vertices.iter().map(|v| dot(*v, x)).collect();
                    if let Some(parts) = split(vertices, &values) {
                        break parts.map(|part| part.into_iter().map(unit).collect::<Vec<_>>());
                    }
                };
                let share = keep(vertices, parts, solid_angle, target);
                self.flatten();
                share
            }
            Cell::Plane(vertices) => {
                let n = vertices.len() as f64;
                let middle = [0, 1].map(|i| vertices.iter().map(|v| v[i]).sum::<f64>() / n);
                // Coordinates relative to the middle preserve the accuracy as the polygon shrinks.
                vertices.iter_mut().for_each(|v| *v = [v[0] - middle[0], v[1] - middle[1]]);
                let radius = vertices.iter().map(|v| v[0].hypot(v[1])).fold(0.0, f64::max);
                let parts = loop {
                    let (sin, cos) = (TAU * rng.random::<f64>()).sin_cos();
                    let offset = radius * (2.0 * rng.random::<f64>() - 1.0);
                    let values: Vec<f64> =
                        vertices.iter().map(|v| cos * v[0] + sin * v[1] - offset).collect();
                    if let Some(parts) = split(vertices, &values) {
                        break parts;
                    }
                };
                keep(vertices, parts, area, target)
            }
        }
    }

    /// Turns a small polygon on the sphere into a polygon in the plane.
    fn flatten(&mut self) {
        let Cell::Sphere(vertices) = self else { return };
        let c = centre(vertices);
        if reach(c, vertices) > PLANE {
            return;
        }
        let axis = if c[0].abs() < 0.5 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        let u = unit(cross(c, axis));
        let v = cross(c, u);
        *self = Cell::Plane(vertices.iter().map(|w| [dot(*w, u), dot(*w, v)]).collect());
    }
}

/// The direction of the sum of the vertices.
fn centre(vertices: &[Vector]) -> Vector {
    unit(std::array::from_fn(|i| vertices.iter().map(|v| v[i]).sum()))
}

/// The largest angle between a vertex and `centre`.
fn reach(centre: Vector, vertices: &[Vector]) -> f64 {
    vertices.iter().map(|v| angle_between(centre, *v)).fold(0.0, f64::max)
}

/// Keeps the first part with probability equal to its fraction of the measure, and otherwise keeps the second part.
/// Returns the fraction kept.
fn keep<const N: usize>(
    vertices: &mut Vec<[f64; N]>,
    parts: [Vec<[f64; N]>; 2],
    measure: impl Fn(&[[f64; N]]) -> f64,
    target: f64,
) -> f64 {
    let [plus, minus] = parts;
    let [a, b] = [measure(&plus), measure(&minus)];
    let share = a / (a + b);
    let (kept, share) = if target < share { (plus, share) } else { (minus, 1.0 - share) };
    *vertices = kept;
    share
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_eval::stats;
    use rand::SeedableRng;

    #[test]
    fn areas_by_hand() {
        let octant = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        assert!((solid_angle(&octant) - PI / 2.0).abs() < 1e-12);
        let small = [[0.0, 0.0], [2e-7, 0.0], [2e-7, 3e-7], [0.0, 3e-7]];
        assert!((area(&small) / 6e-14 - 1.0).abs() < 1e-12);
        let lifted = small.map(|[x, y]| unit([x, y, 1.0]));
        assert!((solid_angle(&lifted) / 6e-14 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_cut_has_two_parts() {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let values: Vec<f64> = square.iter().map(|v: &[f64; 2]| v[0] - 0.25).collect();
        let [right, left] = split(&square, &values).unwrap();
        assert_eq!((area(&right), area(&left)), (0.75, 0.25));
        assert!(split(&square, &[1.0, 0.0, 1.0, 2.0]).is_none());
    }

    /// The plain process draws a target and points with their labels, and estimates the area of the remaining targets
    /// by counting random vectors. The simulated process has the same mean of -ln σ(V) after n points.
    #[test]
    fn the_drawn_process_is_that_of_points() {
        let points = 12.0;
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let drawn: Vec<f64> = (0..3000)
            .map(|_| {
                let (mut cell, shares) = Cell::after_three_points(&mut rng);
                let mut log: f64 = shares.iter().map(|p| -p.ln()).sum();
                for _ in 3..points as usize {
                    if rng.random::<f64>() < cell.cut_probability() {
                        log -= cell.cut(&mut rng).ln();
                    }
                }
                log
            })
            .collect();
        let plain: Vec<f64> = (0..1500)
            .map(|_| {
                let target = uniform(&mut rng);
                let xs: Vec<Vector> = (0..points as usize).map(|_| uniform(&mut rng)).collect();
                let agrees = |w: Vector| xs.iter().all(|x| dot(w, *x) * dot(target, *x) > 0.0);
                let tries = 4000;
                let hits = (0..tries).filter(|_| agrees(uniform(&mut rng))).count();
                -((hits as f64 + 0.5) / f64::from(tries)).ln()
            })
            .collect();
        let [a, b] = [&drawn, &plain].map(|v| stats::mean_interval(v, 0.9999).unwrap());
        assert!(a.low < b.high && b.low < a.high, "{a:?} {b:?}");
        assert!(a.high - a.low < 0.2);
    }

    /// Step (i) of the proof of Theorem 1: 2p(1-p) is the probability that a uniform point separates two draws.
    #[test]
    fn two_draws_differ_as_often_as_their_angle_says() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let (mut differ, mut angles) = (Vec::new(), Vec::new());
        for _ in 0..3000 {
            let (mut cell, _) = Cell::after_three_points(&mut rng);
            // One more point separates two draws with the probability that it cuts, times 2p(1-p).
            let cuts = cell.cut_probability();
            let Cell::Sphere(vertices) = cell.clone() else { unreachable!("three points") };
            let p = cell.cut(&mut rng);
            differ.push(cuts * 2.0 * p * (1.0 - p));
            let inside = |w: Vector| {
                closed(&vertices)
                    .all(|(a, b)| dot(cross(a, b), w) * dot(cross(a, b), centre(&vertices)) >= 0.0)
            };
            let mut draw = || loop {
                let w = uniform(&mut rng);
                if inside(w) {
                    break w;
                }
            };
            angles.push(angle_between(draw(), draw()) / PI);
        }
        let [a, b] = [&differ, &angles].map(|v| stats::mean_interval(v, 0.9999).unwrap());
        assert!(a.low < b.high && b.low < a.high, "{a:?} {b:?}");
        // The test would notice draws at twice the angle.
        assert!(2.0 * b.low > a.high);
    }

    /// Step (ii): P[θ(w*, w) < r] is at most the number of cells times the measure of the cap, and nearly equal to it
    /// for a small r.
    #[test]
    fn a_second_target_is_near_as_often_as_the_number_of_cells_says() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let points = 20;
        let near = |share: f64, rng: &mut ChaCha8Rng| {
            // In the plane, there are C(t) = 2t cells, and a cap has measure r/π.
            let r = share * PI / (2.0 * f64::from(points));
            let of: Vec<f64> = (0..20_000)
                .map(|_| {
                    let [mut left, mut right] = [PI; 2];
                    for _ in 0..points {
                        let border = PI * (2.0 * rng.random::<f64>() - 1.0);
                        // A line through the origin has two borders, half a turn apart.
                        for border in [border, if border > 0.0 { border - PI } else { border + PI }]
                        {
                            if border >= 0.0 {
                                right = right.min(border)
                            } else {
                                left = left.min(-border)
                            }
                        }
                    }
                    (left.min(r) + right.min(r)) / (left + right)
                })
                .collect();
            stats::mean_interval(&of, 0.9999).unwrap()
        };
        for share in [0.05, 0.2, 0.5, 1.0] {
            let found = near(share, &mut rng);
            assert!(found.low <= share, "{share}: {found:?}");
            if share < 0.1 {
                assert!(found.high > 0.9 * share, "{share}: {found:?}");
            }
        }
    }

    /// Lemma 3: the ratio of the mean minority share to the mean entropy lies in its range for small polygons. For two
    /// separate sets of targets, which do not form a convex body, it does not.
    #[test]
    fn minority_and_entropy_keep_their_ratio() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let entropy = |p: f64| -p * p.ln() - (1.0 - p) * (1.0 - p).ln();
        let ratio = |vertices: &[[f64; 2]], far: f64, rng: &mut ChaCha8Rng| {
            let (mut minority, mut information) = (0.0, 0.0);
            for _ in 0..4000 {
                let mut cell = Cell::Plane(vertices.to_vec());
                let p = cell.cut(rng);
                // The fraction `far` of the targets lies elsewhere. Of the points that cut, nine in ten separate
                // exactly this fraction from the other targets.
                let p = if far > 0.0 && rng.random::<f64>() < 0.9 { far } else { p * (1.0 - far) };
                minority += p.min(1.0 - p);
                information += entropy(p);
            }
            minority / information
        };
        let [least, most] = halfspaces_online::bounds::random_order_rate(2);
        for _ in 0..40 {
            let mut cell = Cell::Plane(vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]);
            for _ in 0..30 {
                cell.cut(&mut rng);
            }
            let Cell::Plane(vertices) = cell else { unreachable!("a plane polygon stays plane") };
            let found = ratio(&vertices, 0.0, &mut rng);
            assert!((least - 0.01..=most + 0.01).contains(&found), "{found}");
            assert!(ratio(&vertices, 0.01, &mut rng) < least - 0.01);
        }
    }
}
