def _main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: python3 {sys.argv[0]} DATA.csv")
    name = sys.argv[1]
    file = sys.stdin if name == "-" else open(name, newline="", encoding="utf-8-sig")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["label", "value", *(f"probability={name}" for name in CLASSES)])
    for number, row in enumerate(csv.DictReader(file), 1):
        try:
            values = decision_values(row)
        except ValueError as error:
            sys.exit(f"error: {name}, row {number}, {error}")
        best = _class(values)
        others = [value for at, value in enumerate(values) if at != best]
        value = values[best] - max(others) if len(values) > 1 else values[0]
        probabilities = [""] * len(CLASSES) if CALIBRATION is None else _probabilities(values)
        out.writerow([CLASSES[best], value, *probabilities])
