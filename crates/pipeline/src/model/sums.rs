//! A model as sums of halfspaces, for programs that write it in another form.

use super::linear::Fitted;
use super::{Core, Model};
use halfspaces_features::KernelValues;
use halfspaces_linalg::AffineHalfspace;
use halfspaces_pac::{Calibration, LogOdds};
use halfspaces_tables::TableScale;

/// The decision values of a model: one for two classes, otherwise one for each class.
pub(crate) struct Sums<'m> {
    pub(crate) parts: Vec<Part<'m>>,
    /// `None` if the model has no probabilities.
    pub(crate) calibration: Option<Calibration>,
}

/// A summand: coordinates are scaled, mapped to kernel values, and multiplied by the weights of each value.
pub(crate) struct Part<'m> {
    /// `None` for coordinates as they are.
    pub(crate) scale: Option<TableScale<'m>>,
    /// `None` for the scaled coordinates themselves.
    pub(crate) kernel: Option<&'m KernelValues>,
    /// One for each decision value.
    pub(crate) affine: Vec<Affine>,
}

/// w · x + b.
pub(crate) struct Affine {
    pub(crate) weights: Vec<f64>,
    pub(crate) bias: f64,
}

impl Affine {
    /// The value of a halfspace.
    fn new(halfspace: &AffineHalfspace) -> Affine {
        Affine { weights: halfspace.weights().to_vec(), bias: halfspace.bias() }
    }

    /// The log odds of a halfspace's value.
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
    /// The model as sums of halfspaces; `None` for decision lists.
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
