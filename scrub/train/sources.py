"""The natural sentences that the model learns from: npm packages nlp-corpus, de-corpus, fr-corpus, it-corpus (MIT)."""

import glob
import json
import os
import re
from collections import Counter

WORK = os.environ.get("ENTITIES_WORK", "target/entities")
FOREIGN = ("de", "fr", "it")
# The first files are held out: no word and no sentence of them is in the model.
HELD_OUT = 5
FOREIGN_FILES = 42


def files(package):
    """(number, sentences) of each file of a package."""
    found = []
    for path in glob.glob(f"{WORK}/{package}/package/builds/doc-*.json"):
        number = int(path.split("-")[-1].removesuffix(".json"))
        with open(path) as file:
            sentences = [s if isinstance(s, str) else s[0] for s in json.load(file)]
        found.append((number, sentences))
    return sorted(found)


def english():
    return ((n, s.strip()) for n, sentences in files("nlp-corpus") for s in sentences if 12 < len(s.strip()) < 600)


def foreign(language):
    for number, sentences in files(f"{language}-corpus"):
        if 2 <= number < FOREIGN_FILES:
            yield from (s.strip() for s in sentences if 12 < len(s.strip()) < 500)


def common_words():
    """Words that are written in lower case at least three times."""
    counts = Counter()
    for number, sentence in english():
        if number >= HELD_OUT:
            counts.update(re.findall(r"(?<![\w'])[a-z]{2,}(?!\w)", sentence))
    for language in FOREIGN:
        for sentence in foreign(language):
            counts.update(re.findall(r"(?<![\w'])[^\W\d_A-Z]{2,}(?!\w)", sentence))
    return {word for word, count in counts.items() if count >= 3} | {"nan", "una"}
