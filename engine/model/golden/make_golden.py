#!/usr/bin/env python3
"""Writes the golden encodings that golden_test.cc compares with: pip install tokenizers==0.23.1; python3 make_golden.py

X.txt: one case a line, the text in hex, then its ids, as Hugging Face's tokenizers (the oracle) gives them.
X.json: the small tokenizers that exercise what the embedded model's does not.
"""
import json
import pathlib
import random

from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).parent
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")

HAND = [
    "", " ", "  ", "\n", "\n\n \n", " \t a", "a  ", "a   b", "\r\n\r\n  x", "It's 12345 o'clock, they'LL've DON'T",
    "'s's'S'\u017f'\u017ft'RE'Re'vE", "don\u2019t \u2018quote\u2019 \u201cx\u201d", "1234567890 \u0661\u0662\u0663\u0664 \u2167\u2168 \u00b2\u00bd\u2460",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002  \u3053\u3093\u306b\u3061\u306f \uc548\ub155\ud558\uc138\uc694", "e\u0301a\u0308\u0323 n\u0303", "\u200d\u200b\ufeff\u00ad",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f3f3\ufe0f\u200d\U0001f308 \U0001f1e9\U0001f1ea", "a\u0085b \u0085 c\u00a0\u00a0d\u1680e\u180ef\u2003g\u2028\u2029h\u3000i",
    "\x00\x01\x02\x7f\x0b\x0c\x1c\x1d", "\t\t\tif (x != y) { return z[0]++; } // ok\r\n", "<|begin_of_text|>Emma<|end_of_text|>",
    "<|end_of_text|<|end_of_text|>>", "<|begin_of_text|><|begin_of_text|>  ", " <|a|> <|a|>b <|a <tool>  <tool> x<tool>", "\ue000\uf8ff\U000f0000",
    "Mr. Bennet was so odd a mixture of quick parts, sarcastic humour, reserve, and caprice",
    " " * 100, "\n" * 50 + "x", "a" * 200, "ab" * 100 + " " * 7 + "c", "\u00e9\u00e8\u00ea \u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u05e2\u05d1\u05e8\u05d9\u05ea \u0939\u093f\u0928\u094d\u0926\u0940 \u0e44\u0e17\u0e22",
]
POOL = (list("aeiostnrhTHEM") * 3 + list("     \n\r\t") + list("'\".,;!?-_()<>|{}&#@\\/") + list("0123456789") +
        ["'s", "'LL", "'ve", " the", "\r\n", "  ", "\u0085", "\u00a0", "\u1680", "\u180e", "\u2003", "\u2028", "\u3000", "\u200b",
         "\ufeff", "\u0301", "\u0308", "\u064b", "\u0661", "\u2167", "\u00bd", "\u00df", "\u017f", "\u4e2d", "\u3042", "\uac00", "\u0e01",
         "\U0001f600", "\u200d", "\ufe0f", "\U0001f3fd", "\U00010348", "\U0001d54f", "\U0001d7d8", "\ue000", "\ufffd", "\x00", "\x1f", "\x7f", "\u20ac",
         "<|a|>", "<tool>", "<|end_of_text|>"])


def cases():
    rng = random.Random(7)
    drawn = ["".join(rng.choice(POOL) for _ in range(rng.randint(1, 40))) for _ in range(300)]
    return HAND + drawn


def write_cases(name, tokenizer):
    lines = []
    for text in cases():
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        lines.append(text.encode().hex() + "".join(f" {i}" for i in ids) + "\n")
    (HERE / f"{name}.txt").write_text("".join(lines))


def small(name, pre_tokenizer, ignore_merges):
    """A tokenizer of about 500 tokens over the cases themselves, so that its merges are met."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    tokenizer.pre_tokenizer = pre_tokenizer
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=500, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([t for t in cases() if "<" not in t], trainer)
    tokenizer.add_special_tokens(["<|a|>", "<|a|>b", "<|end_of_text|>"])
    tokenizer.add_tokens([AddedToken("<tool>", normalized=True), AddedToken("<too", normalized=True)])
    path = HERE / f"{name}.json"
    path.write_text(json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=True, separators=(",", ":")) + "\n")
    write_cases(name, Tokenizer.from_file(str(path)))


if __name__ == "__main__":
    write_cases("austen-10m", Tokenizer.from_file(str(HERE / "../../models/austen-10m/tokenizer.json")))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    split = pre_tokenizers.Split(Regex(LLAMA3), behavior="isolated", invert=False)
    small("llama3-style", pre_tokenizers.Sequence([split, byte_level]), ignore_merges=True)
    digits = pre_tokenizers.Digits(individual_digits=True)
    small("digits-style", pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)]), False)
    small("prefix-space", pre_tokenizers.ByteLevel(add_prefix_space=True), ignore_merges=False)
