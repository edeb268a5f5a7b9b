//! The model of wide pools: texts and their embeddings. Part of `LabellingSession`. Claims: none.

mod cosine;
mod explore;
mod factor;
mod kernel;
mod model;
mod posterior;
mod rows;
mod spectrum;
mod text;

pub(super) use model::WideModel;

#[cfg(test)]
pub(super) mod tests;
