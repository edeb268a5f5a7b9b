//! A model represented as sums of halfspaces, from which exports to other formats are generated.

use super::linear::Fitted;
use super::{Core, Model};
use halfspaces_features::KernelValues;
use halfspaces_linalg::AffineHalfspace;
use halfspaces_pac::{Calibration, LogOdds};
use halfspaces_tables::TableScale;

/// The decision values of a model, written as a sum of parts. There is one value for two classes, and one value per
/// class otherwise.
pub(crate) struct Sums<'m> {
    pub(crate) parts: Vec<Part<'m>>,
    /// The map from decision values to probabilities, or `None` if the model has no probabilities.
    pub(crate) calibration: Option<Calibration>,
}

/// A summand of the decision values. The coordinates are scaled, then mapped to kernel values, and then multiplied by
/// the weights of each decision value.
pub(crate) struct Part<'m> {
    /// The scaling of the coordinates, or `None` if the coordinates are used unchanged.
    pub(crate) scale: Option<TableScale<'m>>,
    /// The map to kernel values, or `None` if the scaled coordinates are used directly.
    pub(crate) kernel: Option<&'m KernelValues>,
    /// One affine function for each decision value.
    pub(crate) affine: Vec<Affine>,
}

/// The affine function w · x + b.
pub(crate) struct Affine {
    pub(crate) weights: Vec<f64>,
    pub(crate) bias: f64,
}

impl Affine {
    /// The affine function whose value is the decision value of a halfspace.
    fn new(halfspace: &AffineHalfspace) -> Affine {
        Affine { weights: halfspace.weights().to_vec(), bias: halfspace.bias() }
    }

    /// The affine function that maps a halfspace's decision value to log odds.
    fn log_odds(halfspace: &AffineHalfspace, odds: LogOdds) -> Affine {
        let weights = halfspace.weights().iter().map(|w| odds.slope() * w).collect();
        Affine { weights, bias: odds.of(halfspace.bias()) }
    }
}

impl Sums<'_> {
    /// The number of decision values.
    pub(crate) fn outputs(&self) -> usize {
        self.parts.first().map_or(0, |part| part.affine.len())
    }
}

impl Model {
    /// The model as sums of halfspaces, or `None` if the model contains a decision list.
    pub(crate) fn sums(&self) -> Option<Sums<'_>> {
        let (parts, own) = match &self.core {
            Core::Table(model) => {
                let part = |part: halfspaces_tables::TablePart<'_>| -> Vec<Affine> {
                    part.halfspaces.iter().map(Affine::new).collect()
                };
                let parts = model.parts().map(|of| Part {
                    scale: Some(of.scale),
                    kernel: of.kernel,
                    affine: part(of),
                });
                (parts.collect(), Some(model.calibration()))
            }
            Core::Linear { scale, fitted } => {
                let affine = match fitted {
                    Fitted::Two(model) => vec![Affine::new(model.halfspace()?)],
                    Fitted::Several(models) => (0..models.classes())
                        .map(|class| {
                            let halfspace = models.model(class)?.halfspace()?;
                            Some(Affine::log_odds(halfspace, models.log_odds(class)?))
                        })
                        .collect::<Option<_>>()?,
                };
                let scale = scale.as_ref().map(TableScale::Standard);
                (vec![Part { scale, kernel: None, affine }], None)
            }
        };
        Some(Sums { parts, calibration: self.calibration.or(own) })
    }
}
