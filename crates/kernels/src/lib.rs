//! Inner loops over dense rows that lie one behind the other in memory.
//!
//! | loop | what |
//! |---|---|
//! | [`dot`] | one inner product, plain: the oracle of the others |
//! | [`products`] | w · x of many rows |
//! | [`products_while`] | w · x row by row, until one does not please |
//! | [`add_rows`] | sum += c x row by row, with c known beforehand |
//! | [`add_outer`] | sum += c x x' row by row, its lower half |
//! | [`combine`] | sum += c x row by row, with c from w · x for a fixed w |
//! | [`descend`] | w += c x row by row, with c from w · x and x · x |
//! | [`fetch`], [`fetch_behind`] | none: ask for what comes later |
//! | [`run_blocks`] | one over rows that fill whole blocks |
//! | [`run_wide`] | any other loop, as it is written |
//! | [`run_fused`] | one over vectors of any length that fuse multiplication and addition |
//!
//! [`zeros`] and [`reserve`] give large tables room in large pages, [`Aligned`] numbers that begin with a line of the cache.
//!
//! *Rounding.* Every product is that of [`dot`] to the bit: [`LANES`] running sums, coordinate j into sum j mod
//! [`LANES`], added in one fixed order, without fused multiplication and addition. A wider register holds more of
//! the same sums, so the result does not depend on the processor.
//!
//! *Speed.* The rows that come next are asked from memory some kilobytes ahead, which no safe code can; the rest
//! of a row beyond whole blocks is read under a mask instead of coordinate by coordinate; and w stays in
//! registers where it fits, so that a step does not wait for the store of the last. AVX-512, AVX2 or neither,
//! whatever the processor turns out to have, found out once.
//!
//! *Safety.* This is the one crate of the workspace with `unsafe` code, all of it in the
//! files `x86.rs` and `pages.rs`.

mod aligned;
mod blocks;
#[cfg(target_arch = "x86_64")]
mod cache_level;
mod combine;
mod descend;
mod dispatch;
mod fetch;
mod fused;
mod outer;
mod pages;
mod plain;
mod products;
mod sum;
mod vectors;
mod wide;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use aligned::Aligned;
pub use blocks::{BlockLoop, BlockOps, run_blocks};
pub use combine::combine;
pub use descend::descend;
pub use dispatch::{run_fused, vectors};
pub use fetch::{fetch, fetch_behind};
pub use fused::{Fused, FusedLoop, Pair};
pub use outer::add_outer;
pub use pages::{ask_for_large_pages, reserve, zeros};
pub use plain::{LANES, SINGLE_LANES, add_lanes, dot};
pub use products::{products, products_while};
pub use sum::add_rows;
pub use wide::{Wide, run_wide};
