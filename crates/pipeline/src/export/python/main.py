def _rows(text):
    """The line number and the dict of each row. The separator is the one with the most columns of the model in the first line."""
    needed = {column["name"].strip() for column in COLUMNS}

    def names(separator):
        first = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True), [])
        return [name.strip() for name in first]

    separator = max(",;\t|", key=lambda separator: len(needed.intersection(names(separator))))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    given = next(reader, [])
    trimmed = [name.strip() for name in given]
    blank = []
    for cells in reader:
        if not cells:
            blank.append(reader.line_num)
            continue
        if len(cells) != len(given):
            raise ValueError(f"line {reader.line_num}: {len(cells)} cells, but the header has {len(given)}")
        if len(given) == 1:
            # A blank line of a table with one column is a row with a missing value, if another row follows.
            yield from ((line, {given[0]: "", trimmed[0]: ""}) for line in blank)
        blank.clear()
        yield reader.line_num, {**dict(zip(trimmed, cells)), **dict(zip(given, cells))}


def _main():
    arguments = [argument for argument in sys.argv[1:] if argument != "unseen=zero"]
    unseen = "zero" if len(arguments) < len(sys.argv) - 1 else "error"
    if len(arguments) != 1:
        sys.exit(f"usage: python3 {sys.argv[0]} DATA.csv [unseen=zero]")
    name = arguments[0]
    try:
        file = sys.stdin if name == "-" else open(name, newline="", encoding="utf-8-sig")
        text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"error: {name}: {error}")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["label", "value", *(f"probability={name}" for name in CLASSES)])
    line = 1
    try:
        for line, row in _rows(text):
            values = decision_values(row, unseen)
            best = _class(values)
            others = [value for at, value in enumerate(values) if at != best]
            value = values[best] - max(others) if len(values) > 1 else values[0]
            probabilities = [""] * len(CLASSES) if CALIBRATION is None else _probabilities(values)
            out.writerow([CLASSES[best], value, *probabilities])
    except ValueError as error:
        place = "" if str(error).startswith("line ") else f"line {line}, "
        sys.exit(f"error: {name}, {place}{error}")
