"""Labels the English sentences with spaCy's model: labels.jsonl, which corpus.py reads. Takes minutes."""

import json

import spacy

from sources import WORK, english

nlp = spacy.load(f"{WORK}/model", exclude=["parser", "tagger", "lemmatizer", "attribute_ruler", "senter"])
rows = list(english())
with open(f"{WORK}/labels.jsonl", "w") as file:
    for (number, text), document in zip(rows, nlp.pipe((text for _, text in rows), batch_size=128)):
        spans = [(e.start_char, e.end_char, e.label_) for e in document.ents]
        file.write(json.dumps([number, text, spans], ensure_ascii=False) + "\n")
