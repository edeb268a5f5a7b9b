"""Prints the page of the site that lists the public names of the Python package."""

import inspect
import re

import halfspaces
import halfspaces.datasets
import halfspaces.plots


def text_of(item: object) -> str:
    """Return the docstring as Markdown: sections are bold, examples are code."""
    lines = []
    doc = re.sub(r"\n(\w[\w ]*)\n-{3,}\n", r"\n\n**\1**\n\n", "\n" + (inspect.getdoc(item) or ""))
    fenced = False
    for line in doc.split("\n"):
        if re.match(r"\s*>>> ", line) and not fenced:
            lines += ["", "```pycon"]
            fenced = True
        elif fenced and not line.strip():
            lines.append("```")
            fenced = False
        entry = re.fullmatch(r"(\w[\w, *]*?) : (.+)", line)
        if entry and not fenced:
            lines += ["", f"`{entry[1]}` : {entry[2]}  "]
        else:
            lines.append(line if fenced else line.strip())
    return "\n".join([*lines, "```"] if fenced else lines)


def show(name: str, item: object, level: str) -> None:
    """Print a function, or a class with its own public methods."""
    try:
        signature = str(inspect.signature(item))
    except (TypeError, ValueError):
        signature = ""
    signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", signature)
    print(f"{level} {name}\n\n```python\n{name}{signature}\n```\n\n{text_of(item)}\n")
    if inspect.isclass(item):
        for method, value in vars(item).items():
            if not method.startswith("_") and (inspect.isfunction(value) or isinstance(value, classmethod)):
                show(f"{name}.{method}", getattr(item, method), level + "#")


print("# Python classes\n\nEvery public name of the package `halfspaces`, with its parameters.\n")
for name in halfspaces.__all__:
    item = getattr(halfspaces, name)
    if inspect.isclass(item) or inspect.isfunction(item):
        show(name, item, "##")
for module in (halfspaces.datasets, halfspaces.plots):
    for name, item in vars(module).items():
        if inspect.isfunction(item) and item.__module__ == module.__name__ and not name.startswith("_"):
            show(f"{module.__name__}.{name}", item, "##")
