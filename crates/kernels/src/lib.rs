//! Inner loops over consecutive dense rows in memory.

#![doc = include_str!("../README.md")]

mod aligned;
mod blocks;
#[cfg(target_arch = "x86_64")]
mod cache_level;
mod combine;
mod descend;
mod dispatch;
mod fused;
mod outer;
mod pages;
mod plain;
mod prefetch;
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
pub use fused::{Fused, FusedLoop, Pair};
pub use outer::add_outer;
pub use pages::{request_large_pages, reserve, zeros};
pub use plain::{LANES, SINGLE_LANES, add_lanes, dot};
pub use prefetch::{prefetch, prefetch_ahead};
pub use products::{products, products_while};
pub use sum::add_rows;
pub use wide::{Wide, run_wide};
