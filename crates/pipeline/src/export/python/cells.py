# Cells

# The characters that are white space in Unicode.
_BLANK = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_MINUS = "-\u2212\u2012\u2013\ufe63\uff0d"
_PLAIN = {"decimal": "point", "group": None, "affix": None}


def _refuse(column, cell, expected):
    raise ValueError(f'column `{column["name"]}`: {cell!r} is not {expected}, unlike the cells to which the model was fitted')


def _text(column, cell):
    """The text of a cell without blanks at its ends. Returns None if the value is missing."""
    text = cell.strip(_BLANK)
    return None if text in column["missing_cells"] else text


def _number(column, cell):
    """The number of a cell. Returns None if it is missing."""
    is_truth = column["reading"] == "boolean"
    expected = "true or false" if is_truth else "a number in the format of the column"
    if isinstance(cell, str):
        text = _text(column, cell)
        if text is None:
            return None
        if is_truth:
            number = {"true": 1.0, "false": 0.0}.get(text.lower())
            number = _parse_number(text, _PLAIN) if number is None else number
        else:
            number = _parse_number(text, column["reading"]["number"])
            number = _parse_grouped(text, column["reading"]["number"]) if number is None else number
    elif cell is None or cell != cell:
        return None
    else:
        try:
            number = float(cell)
        except (TypeError, ValueError, OverflowError):
            number = None
    if number is None or not math.isfinite(number):
        _refuse(column, cell, expected)
    if number in column["missing_numbers"]:
        return None
    if is_truth and number not in (0.0, 1.0):
        _refuse(column, cell, expected)
    return number


def _without_sign(text):
    if text[:1] == "+":
        return text[1:].lstrip(_BLANK), False
    if text[:1] and text[0] in _MINUS:
        return text[1:].lstrip(_BLANK), True
    return text, None


_ASCII = str.maketrans("０１２３４５６７８９．，٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹٫٬", "0123456789.,01234567890123456789.,", "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")


def _plain(cell):
    """The text of a number in ASCII digits, without invisible characters and without the signs of texts in spreadsheets."""
    cell = cell.translate(_ASCII).strip(_BLANK)
    if len(cell) > 2 and cell.startswith('="') and cell.endswith('"'):
        return cell[2:-1]
    return cell[1:] if cell.startswith("'") else cell


def _parse_number(cell, spelling):
    """The number that a text represents. Returns None if the text is not a number in this format."""
    cell = _plain(cell)
    if len(cell.encode()) > 64 or not re.search("[0-9]", cell):
        return None
    affix = spelling.get("affix")
    inside = cell[1:-1] if len(cell) > 1 and cell[0] == "(" and cell[-1] == ")" else None
    text, sign = _without_sign((cell if inside is None else inside).strip(_BLANK))
    before = affix is not None and affix["before"] and text.startswith(affix["text"])
    if before:
        text = text[len(affix["text"]) :].lstrip(_BLANK)
    text, second = _without_sign(text) if sign is None else (text, None)
    digits = re.match(f"[0-9.,_'’{_BLANK}]*", text).group()
    rest = text[len(digits) :]
    if not digits or digits[0] not in "0123456789.,":
        return None
    spaced = digits[-1] in _BLANK
    exponent = re.match("[eEdD][+-]?[0-9]+", rest)
    exponent = exponent.group() if exponent else ""
    rest = rest[len(exponent) :]
    if exponent and spaced:
        return None
    rest = rest.lstrip(_BLANK)
    after_minus = rest != "" and rest[0] in _MINUS
    rest = rest[1:].lstrip(_BLANK) if after_minus else rest
    last_minus = rest != "" and rest[-1] in _MINUS
    rest = rest[:-1].rstrip(_BLANK) if last_minus else rest
    after = rest != ""
    if after and not (affix and rest == affix["text"] and (affix["after"] or spaced and affix["spaced"])):
        return None
    signs = [sign is not None or second is not None, after_minus, last_minus, inside is not None]
    if sum(signs) > 1 or before and after or affix and not (before or after or affix["bare"]):
        return None
    mark = "." if spelling["decimal"] == "point" else ","
    whole, _, fraction = digits.rstrip(_BLANK).partition(mark)
    whole = _ungrouped(whole, spelling.get("group"))
    if whole is None or not whole and not fraction or not re.fullmatch("[0-9]*", fraction):
        return None
    negative = sign or second or after_minus or last_minus or inside is not None
    number = float(f'{"-" if negative else ""}{whole}.{fraction}e{exponent[1:] or 0}')
    return number if math.isfinite(number) else None


def _parse_grouped(cell, spelling):
    """The number of a cell with groups of thousands, if the numbers had none when the model was fitted. Returns None if
    the separator of the groups could be a decimal mark, as in 1,120."""
    if spelling.get("group") is not None:
        return None
    mark, other, group = (".", ",", "comma") if spelling["decimal"] == "point" else (",", ".", "point")
    groups = ["space", "apostrophe"] + ([group] if mark in cell or cell.count(other) > 1 else [])
    numbers = (_parse_number(cell, {**spelling, "group": group}) for group in groups)
    return next((number for number in numbers if number is not None), None)


_GROUPS = {"comma": ",", "point": ".", "space": _BLANK, "apostrophe": "'’", "underscore": "_"}


def _ungrouped(whole, group):
    if re.fullmatch("[0-9]*", whole):
        return whole
    if group is None:
        return None
    groups = re.split(f"[{re.escape(_GROUPS[group])}]", whole)
    if len(groups) < 2 or not all(re.fullmatch("[0-9]+", part) for part in groups):
        return None
    first, middle, last = groups[0], groups[1:-1], groups[-1]
    western = len(first) <= 3 and all(len(part) == 3 for part in middle)
    indian = group == "comma" and len(first) <= 2 and all(len(part) == 2 for part in middle)
    in_groups = len(last) == 3 and (western or indian) and not first.startswith("0")
    return "".join(groups) if in_groups or group == "underscore" else None


@functools.lru_cache(None)
def _levels(at):
    """The places of categories by name and by meaning. Returns None if two categories have the same meaning."""
    levels, by_key = COLUMNS[at]["levels"], {}
    for place, level in enumerate(levels):
        by_key[_key(level)] = None if _key(level) in by_key else place
    return {level: place for place, level in enumerate(levels)}, by_key


def _category(at, cell, unseen):
    column = COLUMNS[at]
    if isinstance(cell, bool):
        text = "true" if cell else "false"
    elif isinstance(cell, (int, float)):
        text = None if cell != cell else format(decimal.Decimal(repr(cell)), "f")
        text = text[:-2] if text is not None and text.endswith(".0") else text
    elif cell is None:
        text = None
    else:
        text = str(cell)
    text = None if text is None else _text(column, text)
    if text is None:
        if not column["missing"] and unseen == "error":
            raise ValueError(f'column `{column["name"]}`: the value is missing, but no value was missing when the model was fitted')
        return len(column["levels"]) if column["missing"] else None
    places, by_key = _levels(at)
    place = places.get(text)
    place = by_key.get(_key(text)) if place is None else place
    if place is None and unseen == "error":
        raise ValueError(f'column `{column["name"]}`: the model has not seen the category {text!r}')
    return place


def _key(label):
    """The meaning of a category. 1 and 1.0 have the same meaning, as do True and true, and b'a' and a. 1E3 is a code."""
    label = label.strip(_BLANK)
    for quote in "'\"":
        if label.startswith("b" + quote) and label.endswith(quote) and len(label) > 3:
            label = label[2:-1]
            break
    if label.lower() in ("true", "false") and label.isascii():
        return "truth", label.lower()
    digits = label[1:] if label[:1] in ("+", "-") else label
    if len(label.encode()) <= 64 and not re.match("0[0-9]|[0-9]+[eE][0-9]+$", digits):
        if re.fullmatch("[0-9]+", digits) and -(2**127) <= int(label) < 2**127:
            return "integer", int(label)
        if re.fullmatch(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", digits):
            number = float(label)
            if number.is_integer() and abs(number) < 2**53:
                return "integer", int(number)
            if math.isfinite(number):
                return "number", number
    return "text", label
