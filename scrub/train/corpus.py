"""Writes training.tsv and held_out.tsv, which train.rs reads: texts of templates, and natural sentences with other names."""

import json
import re
from pathlib import Path

import names
from generate import CITIES, COUNTRIES, LISTS, fill, swapped, varied
from sources import FOREIGN, HELD_OUT, WORK, common_words, foreign

TEXTS_OF_A_TEMPLATE = 130
# Sentences with people are rarer than others: each is used so often, with other names.
USES_WITH_PEOPLE = 3
KINDS = {"PERSON": "P", "GPE": "L", "LOC": "L", "ORG": "O"}
TITLE = re.compile(r"\b(Mr|Mrs|Ms|Dr|Miss|Sir|Lord|Lady|President|Senator|Prof)\.? $")
COMMON = common_words()
GIVEN, FAMILY = names.words(LISTS["first"]), names.words(LISTS["last"])
PLACES = {name.lower() for name in COUNTRIES + CITIES}


def line(text, spans):
    at = lambda offset: len(text[:offset].encode())
    escaped = text.replace("\n", "\\n").replace("\t", "\\t")
    return escaped + "\t" + ";".join(f"{at(a)},{at(b)},{kind}" for a, b, kind in spans)


def trimmed(text, start, end):
    """A name without an article, a possessive and signs around it."""
    if text[start:end].lower().startswith("the "):
        start += 4
    possessive = re.search(r"['’]s?$", text[start:end])
    if possessive:
        end -= len(possessive[0])
    inner = text[start:end].strip(" .,\"'“”-()")
    start += text[start:end].find(inner) if inner else 0
    return start, start + len(inner)


def is_sure(text, start, end, kind):
    """Whether a label of spaCy is one to learn from: a person has a known name or a title."""
    words = re.findall(r"[^\W\d_]+", text[start:end])
    if not any(word[0].isupper() for word in words):
        return False
    if kind == "O":
        return len(words) <= 7
    if kind == "L":
        return True
    lower = [word.lower() for word in words]
    known = any((word in GIVEN or word in FAMILY) and word not in COMMON for word in lower)
    short = text[start:end].isupper() and end - start < 4
    return bool(known or TITLE.search(text[:start])) and len(words) <= 4 and not short


def labelled():
    """English sentences with spaCy's labels; those with a label that is not sure are left out."""
    with open(f"{WORK}/labels.jsonl") as file:
        for row in file:
            number, text, entities = json.loads(row)
            if "\\" in text or not text.isprintable() or any(kind == "FAC" for *_, kind in entities):
                continue
            spans = [(*trimmed(text, a, b), KINDS[kind]) for a, b, kind in entities if kind in KINDS]
            covered = {offset for a, b, _ in entities for offset in range(a, b)}
            capitals = re.finditer(r"(?<=[a-z,] )[A-Z][a-z]{2,}", text)
            loose = (m[0].lower() for m in capitals if m.start() not in covered)
            missed = any(word in GIVEN and word not in COMMON and word not in PLACES for word in loose)
            if not missed and all(is_sure(text, *span) for span in spans):
                yield number, text, sorted(spans)


def by_lists(language):
    """German, French and Italian sentences, labelled by the lists of names alone."""
    places = set(LISTS["city"].get(language, [])) | set(CITIES)
    for text in foreign(language):
        if not text.isprintable() or "\\" in text:
            continue
        words = list(re.finditer(r"[^\W\d_]+", text))
        spans, at, sure = [], 0, True
        while at < len(words):
            word, lower = words[at][0], words[at][0].lower()
            if word in places and len(word) > 3:
                spans.append((words[at].start(), words[at].end(), "L"))
            elif word[0].isupper() and lower in GIVEN and lower not in COMMON and len(word) > 2:
                last = at
                while (
                    last + 1 < min(len(words), at + 3)
                    and words[last + 1].start() == words[last].end() + 1
                    and text[words[last].end()] == " "
                    and words[last + 1][0][0].isupper()
                ):
                    last += 1
                if last > at and language == "de" and words[last][0].lower() in COMMON:
                    last -= 1
                sure &= not (last == at == 0 and lower in FAMILY)
                spans.append((words[at].start(), words[last].end(), "P"))
                at = last
            at += 1
        if sure:
            yield text, spans


def main():
    lines, held_out = [], []
    templates = (Path(__file__).parent / "templates.txt").read_text().splitlines()
    for template in templates:
        if template and not template.startswith("#!"):
            for _ in range(TEXTS_OF_A_TEMPLATE):
                lines.append(line(*varied(*fill(template.replace("\\n", "\n")))))
    for number, text, spans in labelled():
        if number < HELD_OUT:
            held_out.append(line(text, spans))
            continue
        uses = USES_WITH_PEOPLE if any(kind == "P" for *_, kind in spans) else 1
        lines += [line(*varied(*swapped(text, spans))) for _ in range(uses)]
    for language in FOREIGN:
        lines += [line(*varied(*swapped(text, spans))) for text, spans in by_lists(language)]
    Path(WORK, "training.tsv").write_text("\n".join(lines) + "\n")
    Path(WORK, "held_out.tsv").write_text("\n".join(held_out) + "\n")
    print(len(lines), "texts to learn from,", len(held_out), "held out")


main()
