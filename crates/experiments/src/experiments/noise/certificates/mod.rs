//! P1, P1f: the certificates E\[g\]·(w - w*) >= 2 (ℓ01(w) - target) of CKST24 and ours, tested against adversaries that
//! choose w, the noise and, in the plane, the whole distribution. With other denominators, the inequality fails.

mod certificate;
mod claims;
mod plots;
mod search;
mod workload;

pub(crate) use claims::CertificateExperiment;
