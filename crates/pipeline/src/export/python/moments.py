# Dates and times, in microseconds since 1970-01-01

import datetime

_DAY = 86_400_000_000
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_MONTHS = "january february march april may june july august september october november december".split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()


def _moment(column, cell):
    """The timestamp of a cell. Returns None if it is missing."""
    reading = column["reading"]["date"]
    if isinstance(cell, datetime.datetime):
        if cell != cell:
            return None
        offset = cell.utcoffset()
        naive = cell.replace(tzinfo=None)
        if offset is not None:
            naive += datetime.timedelta(minutes=reading["offset"]) - offset
        return (naive - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
    if isinstance(cell, datetime.date):
        return (cell.toordinal() - _EPOCH) * _DAY
    if cell is None or cell != cell:
        return None
    if isinstance(cell, (int, float)):
        if cell in column["missing_numbers"]:
            return None
        day = None
        if reading["order"] == "digits" and cell == int(cell) and 19_000_101 <= cell <= 21_001_231:
            day = _days(int(cell) // 10_000, int(cell) // 100 % 100, int(cell) % 100)
        if day is None:
            _refuse(column, cell, "a date or a time")
        return day * _DAY
    text = _text(column, cell)
    if text is None:
        return None
    for order in (reading["order"], "year-first"):
        parsed = _parse_moment(text, order)
        if parsed is not None:
            if order == "month-first" and not reading.get("points") and _has_doubtful_points(text):
                raise ValueError(
                    f'column `{column["name"]}`: dots separate the parts of {cell!r}, as in dates with the day first, but '
                    "the dates in the fit had the month first and no dots; write the dates as 2024-12-31"
                )
            micros, offset = parsed
            return micros if offset is None else micros + (reading["offset"] - offset) * 60_000_000
    _refuse(column, cell, "a date or a time in the order of the column")


def _has_doubtful_points(text):
    """Whether points separate the parts of a date whose day or month may be first."""
    return re.match("[^0-9]*[0-9]+[.]", text) is not None and _parse_moment(text, "year-first") is None


def _days(year, month, day):
    """Days since 1970-01-01. Returns None if there is no such date."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = [31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if not 1 <= month <= 12 or not 1 <= day <= lengths[month - 1]:
        return None
    # A cycle of the calendar has 400 years.
    cycles, year = divmod(year - 1, 400)
    return datetime.date(year + 1, month, day).toordinal() - _EPOCH + cycles * 146_097


def _year_of(day):
    cycles, day = divmod(day + _EPOCH - 1, 146_097)
    return datetime.date.fromordinal(day + 1).year + cycles * 400


class _Scan:
    """A position in a text."""

    def __init__(self, rest):
        self.rest = rest

    def take(self, text):
        has = self.rest.startswith(text)
        self.rest = self.rest[len(text) :] if has else self.rest
        return has

    def match(self, pattern):
        found = re.match(pattern, self.rest).group()
        self.rest = self.rest[len(found) :]
        return found

    def blanks(self):
        return self.match(f"[{_BLANK}]*") != ""

    def number(self, most):
        digits = self.match("[0-9]*")
        if not 1 <= len(digits) <= most:
            raise _NotAMoment
        return int(digits), len(digits)

    def mark(self):
        mark = self.match("[-/.]?")
        blank, comma = self.blanks(), self.take(",")
        self.blanks()
        if not (mark or blank or comma):
            raise _NotAMoment
        return mark

    def month(self):
        place = _named(self.match("[A-Za-z]*"), _MONTHS)
        if place is None:
            raise _NotAMoment
        self.take(".")
        return place + 1


class _NotAMoment(Exception):
    pass


def _named(word, names):
    word = word.lower()
    short = len(word) in (3, 4)
    return next((at for at, name in enumerate(names) if name == word or short and name.startswith(word)), None)


def _day(value, length):
    if length > 2:
        raise _NotAMoment
    return value


def _year(value, length):
    if length == 4:
        return value
    if length != 2:
        raise _NotAMoment
    return value + (2000 if value <= 68 else 1900)


def _parse_moment(cell, order):
    """The timestamp of a text and its offset from UTC in minutes. Returns None if it is not a timestamp in this order."""
    if len(cell) > 48 or not cell.isascii() or not re.search("[0-9]", cell):
        return None
    scan = _Scan(cell)
    try:
        if order == "time-only":
            micros, offset = _scan_time(scan)
            return (micros, offset) if ":" in cell and not scan.rest and micros < _DAY else None
        day = _scan_date(scan, order)
        if day is None:
            return None
        if not scan.rest:
            return day * _DAY, None
        if not (scan.take("T") or scan.take("t")):
            comma = scan.take(",")
            if not (scan.blanks() or comma or scan.take(":")):
                return None
        micros, offset = _scan_time(scan)
        return None if scan.rest else (day * _DAY + micros, offset)
    except _NotAMoment:
        return None


def _scan_date(scan, order):
    before = scan.rest
    if re.match("[A-Za-z]", before):
        if _named(scan.match("[A-Za-z]*"), _WEEKDAYS) is None:
            scan.rest = before
        else:
            scan.take(".")
            scan.take(",")
            scan.blanks()
    if re.match("[A-Za-z]", scan.rest):
        month = scan.month()
        scan.mark()
        first, length = scan.number(4)
        if length == 4:
            return _days(first, month, 1)
        first = _day(first, length)
        for end in ("st", "nd", "rd", "th"):
            scan.take(end)
        scan.mark()
        return _days(_year(*scan.number(4)), month, first)
    first, length = scan.number(8)
    if length == 8 and (order == "digits" or scan.rest[:1] in ("T", "t")):
        return _days(first // 10_000, first // 100 % 100, first % 100)
    mark = scan.mark()
    if re.match("[A-Za-z]", scan.rest):
        month = scan.month()
        scan.mark()
        last = scan.number(4)
        if length == 4:
            return _days(first, month, _day(*last))
        return _days(_year(*last), month, _day(first, length))
    second = scan.number(2)
    if length == 4:
        if not mark:
            return None
        if mark == "-" and second[1] == 2 and not scan.rest:
            return _days(first, second[0], 1)
        return _days(first, second[0], _day(*scan.number(2))) if scan.take(mark) else None
    if not mark or not scan.take(mark):
        return None
    scan.blanks()
    last = scan.number(4)
    first, second, year = _day(first, length), _day(*second), _year(*last)
    if order == "day-first":
        return _days(year, second, first)
    return _days(year, first, second) if order == "month-first" else None


def _scan_time(scan):
    hour, length = scan.number(6)
    second = micros = 0
    if length in (4, 6):
        seconds = 100 if length == 6 else 1
        second, minute, hour = hour % seconds, hour // seconds % 100, hour // seconds // 100
    else:
        if length > 2 or not scan.take(":"):
            raise _NotAMoment
        minute, _ = scan.number(2)
        if scan.take(":"):
            second, _ = scan.number(2)
            if scan.take(".") or scan.take(","):
                digits = scan.match("[0-9]*")
                if not digits:
                    raise _NotAMoment
                micros = int(digits.ljust(6, "0")[:6])
    scan.blanks()
    if scan.rest[:1] and scan.rest[0] in "aApP":
        half = scan.match("[A-Za-z]*").lower()
        if half not in ("am", "pm") or not 1 <= hour <= 12:
            raise _NotAMoment
        hour = hour % 12 + (12 if half == "pm" else 0)
        scan.blanks()
    ends = hour == 24 and minute == second == micros == 0
    if hour > 23 and not ends or minute > 59 or second > 60:
        raise _NotAMoment
    return ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros, _scan_offset(scan)


def _scan_offset(scan):
    if not scan.rest:
        return None
    if scan.rest in ("Z", "z", "UTC", "GMT"):
        scan.rest = ""
        return 0
    sign = 1 if scan.take("+") else -1
    if sign == -1 and not scan.take("-"):
        raise _NotAMoment
    value, length = scan.number(4)
    if length == 4:
        hours, minutes = value // 100, value % 100
    elif length == 3:
        raise _NotAMoment
    else:
        hours, minutes = value, scan.number(2)[0] if scan.take(":") else 0
    if hours > 14 or minutes > 59:
        raise _NotAMoment
    return sign * (hours * 60 + minutes)


def _sine(share):
    """The sine of a share of a full turn, exact at quarter turns."""
    quarters = 4 * share % 4
    return math.sin(share * math.tau) if quarters % 1 else [0.0, 1.0, 0.0, -1.0][int(quarters)]


def _moment_coordinates(parts, micros):
    day, time = divmod(micros, _DAY)
    weekday, coordinates, cycles = (day + 3) % 7, [], []
    if parts["days"]:
        coordinates.append(day + time / _DAY)
    if parts["time"]:
        cycles.append(time / _DAY)
    if parts["week"]:
        cycles.append(weekday / 7)
    if parts["year"]:
        year = _year_of(day)
        start = _days(year, 1, 1)
        cycles.append((day - start) / (_days(year + 1, 1, 1) - start))
    for share in cycles:
        coordinates += [_sine(share), _sine(share + 0.25)]
    if parts["week"]:
        coordinates.append(1.0 if weekday >= 5 else 0.0)
    return coordinates
