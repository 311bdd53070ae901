"""Writes words.bin: for each word, how it is used (a cluster of spaCy's vectors) and the lists of names it is in.

The layout is that of `WordTable::read`: entries of six bytes, sorted by hash.
"""

import re
import struct

import numpy
import spacy

import names
from sources import WORK, common_words

CLUSTERS = 255
ROUNDS = 25
GIVEN_NAME, FAMILY_NAME, PLACE, ORGANISATION, COMMON, TITLE = 1, 2, 4, 8, 16, 32
STOP = set(
    """de la le el al of and the di da du van von der den dos del santa saint new north south east west upper lower
    islands island republic city los las""".split()
)
ORGANISATION_WORDS = set(
    """inc ltd llc gmbh corp corporation plc co company group holdings foundation university institute college school bank
    association society agency ministry department council committee commission party press museum hospital clinic club
    union league airlines airways motors industries technologies technology systems solutions services partners associates
    labs laboratories media studios pharma pharmaceuticals energy insurance capital ventures kg ag sa srl spa bv nv oy ab
    as pty llp sons consulting software networks records orchestra authority federation trust organisation organization
    church police court team bros brothers incorporated limited""".split()
)
TITLE_WORDS = set(
    """mr mrs ms miss dr prof professor sir lady lord madam president senator minister chancellor king queen prince princess
    judge justice captain major colonel general sergeant lieutenant officer detective inspector father sister brother uncle
    aunt mayor governor ambassador director chairman chairwoman ceo cto cfo manager coach herr frau monsieur madame
    mademoiselle mme mlle señor señora senor senora sr sra signor signora pan pani don doña engineer author producer singer
    actor actress rev reverend pastor nurse doctor chief secretary""".split()
)


def fnv(word):
    """`hash` of word_table.rs."""
    value = 0x811C9DC5
    for byte in word.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    value = ((value ^ (value >> 15)) * 0x2C1B3C6D) & 0xFFFFFFFF
    return value ^ (value >> 13)


def clusters():
    """The cluster of each word that has a vector: k-means over the directions of the vectors."""
    nlp = spacy.load(f"{WORK}/model")
    vectors, strings = nlp.vocab.vectors, nlp.vocab.strings
    lengths = numpy.linalg.norm(vectors.data, axis=1, keepdims=True)
    directions = vectors.data.astype("f4") / numpy.maximum(lengths, 1e-6)
    keys = [(strings[key], row) for key, row in vectors.key2row.items()]
    form = re.compile(r"[^\W\d_]+(['’][^\W\d_]{3,})?")
    words = [(w, row) for w, row in keys if 2 <= len(w) <= 20 and form.fullmatch(w) and names.is_latin(w)]
    uses = numpy.bincount([row for _, row in words], minlength=len(directions))
    rows = numpy.flatnonzero(uses)
    points, weights = directions[rows], numpy.sqrt(uses[rows]).astype("f4")
    random = numpy.random.default_rng(1)
    centres = points[random.choice(len(points), CLUSTERS, replace=False, p=weights / weights.sum())].copy()
    for _ in range(ROUNDS):
        nearest = (points @ centres.T).argmax(1)
        for cluster in range(CLUSTERS):
            members = nearest == cluster
            if members.any():
                centre = (points[members] * weights[members, None]).sum(0)
                centres[cluster] = centre / numpy.linalg.norm(centre)
            else:
                centres[cluster] = points[random.integers(len(points))]
    of_row = numpy.zeros(len(directions), int)
    of_row[rows] = nearest + 1
    return {word: int(of_row[row]) for word, row in words}


def main():
    lists = names.load()
    cluster = clusters()
    given = names.words(lists["first"]) - STOP
    family = names.words(lists["last"]) - STOP
    places = {word for word in names.words(lists["city"]) - STOP if len(word) > 2}
    common = common_words()
    flags = (
        (given, GIVEN_NAME),
        (family, FAMILY_NAME),
        (places, PLACE),
        (ORGANISATION_WORDS, ORGANISATION),
        (common, COMMON),
        (TITLE_WORDS, TITLE),
    )
    table = {}
    for word in set(cluster).union(*(words for words, _ in flags)):
        lower = word.lower()
        own = cluster.get(word, 0)
        if word == lower:
            flag = sum(bit for words, bit in flags if word in words)
            own = own or cluster.get(word.capitalize(), 0)
            if own or flag:
                table[fnv(word)] = (own, flag)
        elif word[1:].islower() and own != cluster.get(lower, 0):
            # Written like a name, and used otherwise than in lower case.
            table[fnv(word)] = (own, 0)
    with open(f"{WORK}/words.bin", "wb") as file:
        for key in sorted(table):
            file.write(struct.pack("<IBB", key, *table[key]))
    print(len(table), "words")


main()
