"""Classifiers for labels you cannot trust, labelling with few corrections, and label audits."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from halfspaces._core import __version__

if TYPE_CHECKING:
    from halfspaces import datasets, plots
    from halfspaces._audit import AuditResult, audit
    from halfspaces._base import DataWarning
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
    from halfspaces._frames import Reading
    from halfspaces._labeler import Doubt, Labeler, Outlook, Progress, Question
    from halfspaces._online import (
        AROWClassifier,
        AveragedPerceptron,
        KernelPerceptron,
        OnlineMassart,
        PassiveAggressiveClassifier,
        Perceptron,
        SecondOrderPerceptron,
    )
    from halfspaces._page import LabelPage, label_page
    from halfspaces._pipeline import Pipeline
    from halfspaces._progress import show_progress
    from halfspaces._text import TextVectorizer
    from halfspaces._transforms import ForsterTransform, NystroemFeatures, RankScaler, TylerScatter
    from halfspaces._widget import LabelWidget

__all__ = [
    "AROWClassifier",
    "AuditResult",
    "AveragedPerceptron",
    "CKMYClassifier",
    "DDKClassifier",
    "DGTClassifier",
    "DataWarning",
    "Doubt",
    "ForsterTransform",
    "HalfspaceClassifier",
    "KernelPerceptron",
    "LabelPage",
    "LabelWidget",
    "Labeler",
    "LinearSVM",
    "LogisticRegression",
    "MarginPerceptron",
    "MassartClassifier",
    "NystroemFeatures",
    "OnlineMassart",
    "Outlook",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "PerspectronClassifier",
    "Pipeline",
    "Progress",
    "Question",
    "RankScaler",
    "Reading",
    "SecondOrderPerceptron",
    "TextVectorizer",
    "TylerScatter",
    "__version__",
    "audit",
    "datasets",
    "label_page",
    "plots",
    "show_progress",
]

# The modules are imported when a name is first used, so that the command starts without scikit-learn.
_MODULES = (
    "_base",
    "_classifiers",
    "_online",
    "_transforms",
    "_pipeline",
    "_progress",
    "_audit",
    "_frames",
    "_text",
    "_labeler",
    "_page",
    "_widget",
)


def __getattr__(name: str) -> Any:
    if name in ("datasets", "plots"):
        return import_module(f"halfspaces.{name}")
    if name in __all__:
        for module in map(import_module, (f"halfspaces.{module}" for module in _MODULES)):
            if name in module.__all__:
                value = getattr(module, name)
                globals()[name] = value
                return value
    raise AttributeError(f"module 'halfspaces' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
