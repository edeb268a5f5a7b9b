//! A model as sums of halfspaces, for programs that write it in another form.

use super::linear::Fitted;
use super::{Core, Model};
use halfspaces_features::KernelValues;
use halfspaces_linalg::AffineHalfspace;
use halfspaces_pac::Calibration;
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
    /// The value of a halfspace, divided by `scale`.
    fn new(halfspace: &AffineHalfspace, scale: f64) -> Affine {
        let weights = halfspace.weights().iter().map(|w| w / scale).collect();
        Affine { weights, bias: halfspace.bias() / scale }
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
                    part.halfspaces.iter().map(|halfspace| Affine::new(halfspace, 1.0)).collect()
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
                    Fitted::Two(model) => vec![Affine::new(model.halfspace()?, 1.0)],
                    Fitted::Several(models) => (0..models.classes())
                        .map(|class| {
                            let halfspace = models.model(class)?.halfspace()?;
                            Some(Affine::new(halfspace, models.scale(class)?))
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
