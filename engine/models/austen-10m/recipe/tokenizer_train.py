"""Train the byte-level BPE of the embedded model and encode the corpus.

Reads corpus.txt; writes tokenizer.json (Hugging Face layout) and train.bin / val.bin (uint16 ids), all in the current folder.
A document is a run of paragraphs of at least 120 words: <|begin_of_text|> text <|end_of_text|>.
Every 20th document is held out.  Needs: regex.
"""
import array
import collections
import json

import regex

VOCAB_SIZE = 4096
BOS, EOS = "<|begin_of_text|>", "<|end_of_text|>"
WORDS_PER_DOCUMENT = 120
HOLD_OUT_EVERY, HOLD_OUT_OFFSET = 20, 7
PRE_TOKENIZER = regex.compile(
    r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""")


def byte_to_unicode():
    """GPT-2's reversible map from bytes to printable characters."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {b: chr(b) for b in printable}
    for offset, b in enumerate(b for b in range(256) if b not in table):
        table[b] = chr(256 + offset)
    return dict(sorted(table.items()))


BYTES = byte_to_unicode()


def symbols(word):
    return [BYTES[b] for b in word.encode()]


def merge_once(sequence, pair):
    merged, i = [], 0
    while i < len(sequence):
        if i + 1 < len(sequence) and (sequence[i], sequence[i + 1]) == pair:
            merged.append(sequence[i] + sequence[i + 1])
            i += 2
        else:
            merged.append(sequence[i])
            i += 1
    return merged


def train_merges(text, n_merges):
    words = collections.Counter(PRE_TOKENIZER.findall(text))
    sequences = [(symbols(word), count) for word, count in words.items()]
    counts, places = collections.Counter(), collections.defaultdict(set)
    for i, (sequence, count) in enumerate(sequences):
        for pair in zip(sequence, sequence[1:]):
            counts[pair] += count
            places[pair].add(i)
    merges = []
    for _ in range(n_merges):
        best = max(counts.items(), key=lambda item: (item[1], item[0]))[0]
        merges.append(best)
        for i in list(places[best]):
            sequence, count = sequences[i]
            for pair in zip(sequence, sequence[1:]):
                counts[pair] -= count
            sequence = merge_once(sequence, best)
            sequences[i] = (sequence, count)
            for pair in zip(sequence, sequence[1:]):
                counts[pair] += count
                places[pair].add(i)
        del counts[best]
    return merges


def make_encoder(merges, vocab):
    rank = {pair: i for i, pair in enumerate(merges)}
    cache = {}

    def encode_word(word):
        sequence = symbols(word)
        while len(sequence) > 1:
            pair = min(zip(sequence, sequence[1:]), key=lambda p: rank.get(p, len(rank)))
            if pair not in rank:
                break
            sequence = merge_once(sequence, pair)
        return [vocab[s] for s in sequence]

    def encode(text):
        ids = []
        for word in PRE_TOKENIZER.findall(text):
            if word not in cache:
                cache[word] = encode_word(word)
            ids += cache[word]
        return ids

    return encode


def documents(text):
    paragraphs, n_words = [], 0
    for paragraph in filter(None, text.split("\n")):
        paragraphs.append(paragraph)
        n_words += len(paragraph.split())
        if n_words >= WORDS_PER_DOCUMENT:
            yield "\n".join(paragraphs)
            paragraphs, n_words = [], 0
    if paragraphs:
        yield "\n".join(paragraphs)


def tokenizer_json(vocab, merges):
    def special(text):
        return {"id": len(vocab) + (text == EOS), "content": text, "single_word": False, "lstrip": False,
                "rstrip": False, "normalized": False, "special": True}
    byte_level = {"type": "ByteLevel", "trim_offsets": True, "use_regex": True}

    def template(*pieces):
        return [{"SpecialToken" if piece == BOS else "Sequence": {"id": piece, "type_id": type_id}}
                for piece, type_id in pieces]
    bos_first = {"type": "TemplateProcessing", "single": template((BOS, 0), ("A", 0)),
                 "pair": template((BOS, 0), ("A", 0), (BOS, 1), ("B", 1)),
                 "special_tokens": {BOS: {"id": BOS, "ids": [len(vocab)], "tokens": [BOS]}}}
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [special(BOS), special(EOS)], "normalizer": None,
            "pre_tokenizer": {**byte_level, "add_prefix_space": False}, "post_processor": bos_first,
            "decoder": {**byte_level, "add_prefix_space": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                      "vocab": vocab, "merges": [f"{a} {b}" for a, b in merges]}}


def main():
    text = open("corpus.txt", encoding="utf-8").read()
    merges = train_merges(text, VOCAB_SIZE - len(BYTES) - 2)
    vocab = {}
    for token in [*BYTES.values(), *(a + b for a, b in merges)]:
        vocab[token] = len(vocab)
    bos, eos = len(vocab), len(vocab) + 1
    with open("tokenizer.json", "w", encoding="utf-8") as f:
        json.dump(tokenizer_json(vocab, merges), f, ensure_ascii=False, indent=0)
    encode = make_encoder(merges, vocab)
    splits = {"train": array.array("H"), "val": array.array("H")}
    for i, document in enumerate(documents(text)):
        split = "val" if i % HOLD_OUT_EVERY == HOLD_OUT_OFFSET else "train"
        splits[split].extend([bos, *encode(document), eos])
    for name, ids in splits.items():
        with open(name + ".bin", "wb") as f:
            ids.tofile(f)
        print(name, len(ids), "tokens")


if __name__ == "__main__":
    main()
