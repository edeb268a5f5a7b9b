"""Classifiers for labels you cannot trust, labelling with few corrections, and label audits."""

from halfspaces._classifiers import (
    CKMYClassifier,
    DDKClassifier,
    DGTClassifier,
    HalfspaceClassifier,
    LinearSVM,
    LogisticRegression,
    MarginPerceptron,
    MassartClassifier,
    PerspectronClassifier,
)
from halfspaces._core import __version__
from halfspaces._online import (
    AROWClassifier,
    AveragedPerceptron,
    KernelPerceptron,
    OnlineMassart,
    PassiveAggressiveClassifier,
    Perceptron,
    SecondOrderPerceptron,
)
from halfspaces._transforms import ForsterTransform, NystroemFeatures, RankScaler, TylerScatter

__all__ = [
    "AROWClassifier",
    "AveragedPerceptron",
    "CKMYClassifier",
    "DDKClassifier",
    "DGTClassifier",
    "ForsterTransform",
    "HalfspaceClassifier",
    "KernelPerceptron",
    "LinearSVM",
    "LogisticRegression",
    "MarginPerceptron",
    "MassartClassifier",
    "NystroemFeatures",
    "OnlineMassart",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "PerspectronClassifier",
    "RankScaler",
    "SecondOrderPerceptron",
    "TylerScatter",
    "__version__",
]
