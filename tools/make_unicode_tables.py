#!/usr/bin/env python3
"""Writes src/text/unicode_tables.cpp from Python's unicodedata and str.lower().

Usage: tools/make_unicode_tables.py > src/text/unicode_tables.cpp
The Unicode version is the interpreter's (Python 3.11: Unicode 14.0). Run it again only to move to another version.
"""
import sys
import unicodedata

ALL = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def ranges(value_of, absent):
    """[(first, last, value)] of maximal runs whose value is not `absent`."""
    runs = []
    for c in ALL:
        value = value_of(c)
        if value == absent:
            continue
        if runs and runs[-1][1] == c - 1 and runs[-1][2] == value:
            runs[-1][1] = c
        else:
            runs.append([c, c, value])
    return runs


def category(c):
    name = unicodedata.category(chr(c))
    if name.startswith("P"):
        return "punctuation"
    return {"Mn": "nonspacing_mark", "Zs": "space", "Zl": "line_end", "Zp": "line_end",
            "Cc": "control", "Cf": "format"}.get(name)


def case_role(c):
    # What str.lower() does to a capital sigma behind the character shows the two properties it looks at.
    cased = (chr(c) + "Σ").lower()[-1] == "ς"
    if cased:
        return "cased"
    return "ignorable" if ("A" + chr(c) + "Σ").lower()[-1] == "ς" else None


def lower_runs():
    """[(first, last, step, delta)]: every step-th character of [first, last] moves by delta."""
    pairs = [(c, ord(chr(c).lower())) for c in ALL if len(chr(c).lower()) == 1 and chr(c).lower() != chr(c)]
    runs = []
    for c, small in pairs:
        if runs:
            first, last, step, delta = runs[-1]
            if small - c == delta and c - last in ((1, 2) if step == 0 else (step,)):
                runs[-1] = [first, c, c - last, delta]
                continue
        runs.append([c, c, 0, small - c])
    return [(first, last, step or 1, delta) for first, last, step, delta in runs]


def decompositions():
    found = []
    for c in ALL:
        text = unicodedata.normalize("NFD", chr(c))
        if text != chr(c) and not 0xAC00 <= c <= 0xD7A3:  # Hangul syllables are computed
            found.append((c, [ord(part) for part in text]))
    return found


def rows(items, per_line):
    items = list(items)
    return "\n".join("    " + " ".join(items[i:i + per_line]) for i in range(0, len(items), per_line))


def table(kind, name, items, per_line):
    return f"constexpr {kind} {name}[] = {{\n{rows(items, per_line)}\n}};\n"


def main():
    expanding = [c for c in ALL if len(chr(c).lower()) != 1]
    assert expanding == [0x130], "lower() expands other characters too: extend append_lower_case()"
    pool, entries = [], []
    for c, parts in decompositions():
        entries.append((c, len(pool), len(parts)))
        pool += parts
    write = sys.stdout.write
    write(f"// Made by tools/make_unicode_tables.py from Unicode {unicodedata.unidata_version}: do not edit.\n"
          "// clang-format off\n\n"
          '#include "text/unicode_tables.h"\n\n'
          "namespace sotto::unicode_tables {\n\nnamespace {\n\n")
    write(table("CategoryRange", "category_ranges",
                (f"{{0x{a:X}, 0x{b:X}, UnicodeCategory::{v}}}," for a, b, v in ranges(category, None)), 2))
    write("\n" + table("CaseRange", "case_ranges",
                       (f"{{0x{a:X}, 0x{b:X}, CaseRole::{v}}}," for a, b, v in ranges(case_role, None)), 3))
    write("\n" + table("ClassRange", "class_ranges",
                       (f"{{0x{a:X}, 0x{b:X}, {v}}}," for a, b, v in
                        ranges(lambda c: unicodedata.combining(chr(c)), 0)), 5))
    write("\n" + table("LowerRange", "lower_ranges",
                       (f"{{0x{a:X}, 0x{b:X}, {s}, {d}}}," for a, b, s, d in lower_runs()), 4))
    write("\n" + table("Decomposition", "decomposition_rows",
                       (f"{{0x{c:X}, {at}, {n}}}," for c, at, n in entries), 5))
    write("\n" + table("char32_t", "decomposition_parts", (f"0x{c:X}," for c in pool), 12))
    write("\n}  // namespace\n\n"
          "std::span<const CategoryRange> categories() { return category_ranges; }\n"
          "std::span<const CaseRange> case_roles() { return case_ranges; }\n"
          "std::span<const ClassRange> combining_classes() { return class_ranges; }\n"
          "std::span<const LowerRange> lower_cases() { return lower_ranges; }\n"
          "std::span<const Decomposition> decompositions() { return decomposition_rows; }\n"
          "std::span<const char32_t> parts() { return decomposition_parts; }\n\n"
          "}  // namespace sotto::unicode_tables\n")


main()
