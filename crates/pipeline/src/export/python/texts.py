# Texts

@functools.lru_cache(None)
def _terms(at, group):
    """The place of each listed term of a group of n-grams, or None if terms are hashed, and the row count of each place."""
    terms = COLUMNS[at]["ngrams"][group]
    if "hashed" in terms:
        return None, terms["hashed"]["rows"]
    return {term: place for place, term in enumerate(terms["listed"]["terms"])}, terms["listed"]["rows"]


def _weights(at, cell):
    """The weight of each known n-gram of a text by its place: TF-IDF, with a norm for each group."""
    column = COLUMNS[at]
    if cell is None or cell != cell:
        return
    if not isinstance(cell, str):
        _refuse(column, cell, "text")
    text = _text(column, cell)
    if text is None:
        return
    text, first = "".join(letter.lower() for letter in text), 0
    for group, terms in (("words", _words), ("characters", _characters)):
        places, rows = _terms(at, group)
        counts = {}
        for term in terms(text):
            place = _slot(term, len(rows)) if places is None else places.get(term)
            if place is not None:
                counts[place] = counts.get(place, 0) + 1
        count = column["ngrams"]["rows"]
        idf = {place: 1 + math.log((1 + count) / (1 + rows[place])) for place in counts}
        weights = {place: (1 + math.log(counts[place])) * idf[place] for place in sorted(counts)}
        norm = math.sqrt(sum(weight * weight for weight in weights.values()))
        for place, weight in weights.items():
            yield first + place, weight * math.sqrt(0.5) / norm
        first += len(rows)


def _slot(term, slots):
    code = 0xCBF29CE484222325
    for byte in term.encode():
        code = (code ^ byte) * 0x100000001B3 % 2**64
    return (code ^ code >> 32) & slots - 1


def _characters(text):
    for piece in re.findall(f"[^{_BLANK}]+", text):
        piece = f" {piece} "
        for length in range(2, 6):
            for start in range(len(piece) - length + 1):
                yield piece[start : start + length]


def _words(text):
    before = None
    for word in _divided(text):
        yield word
        if before is not None:
            yield f"{before} {word}"
        before = word


def _divided(text):
    """The words of a text by the rules of Unicode (UAX 29). A word has a letter or a digit."""
    starts = WORD_CLASSES["first"]
    capital = []
    for letter in text:
        at = bisect.bisect_right(starts, ord(letter)) - 1
        capital.append(WORD_CLASSES["class"][at] if at >= 0 and ord(letter) <= WORD_CLASSES["last"][at] else "o")
    classes, start = [of.lower() for of in capital], 0
    for end in range(1, len(text) + 1):
        if end == len(text) or _is_boundary(text, classes, end):
            if any("A" <= of <= "Z" for of in capital[start:end]):
                yield text[start:end]
            start = end


def _is_boundary(text, classes, at):
    """Whether the text is divided before a place. Letters of class x belong to the letter before them."""
    last, this = classes[at - 1], classes[at]
    if "r" in (last, this):
        return text[at - 1 : at + 1] != "\r\n"
    if this == "x" or last == this == "s":
        return False

    def other(place, step):
        while 0 <= place < len(classes) and classes[place] == "x":
            place += step
        return place, classes[place] if 0 <= place < len(classes) else "r"

    place, last = other(at - 1, -1)
    if last == "r":
        return True
    second_last, next_one = other(place - 1, -1)[1], other(at + 1, 1)[1]
    if last in "ah" and this in "ah" or last in "ahn" and this in "ahn":
        return False
    if last in "ah" and this in "lmq" and next_one in "ah" or second_last in "ah" and last in "lmq" and this in "ah":
        return False
    if last == "h" and (this == "q" or this == "d" and next_one == "h"):
        return False
    if second_last == "h" and last == "d" and this == "h":
        return False
    if second_last == "n" and last in "umq" and this == "n" or last == "n" and this in "umq" and next_one == "n":
        return False
    return not (last == this == "k" or this == "e" and last in "ahnke" or last == "e" and this in "ahnk")
