"""The engines that parity.py compares with. Each has a name and encode(text), and log_probs(ids) gives [position][id], ln of the law
of the token behind each position. FLOAT_PEERS compute in float32 or better whatever the weights are stored in."""
import pathlib

import numpy as np
from numpy_llama import NumpyLlama, log_softmax

FLOAT_PEERS = ("transformers", "numpy")


class Transformers:
    """A directory or a GGUF file, in float32."""

    def __init__(self, args):
        import torch
        import transformers
        self.torch = torch
        torch.set_num_threads(args.threads)
        transformers.logging.disable_progress_bar()
        path = pathlib.Path(args.peer_model)
        where = {"pretrained_model_name_or_path": str(path)}
        if path.is_file():
            where = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(**where)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(**where, attn_implementation="eager", dtype=torch.float32)
        self.model.eval()
        self.name = f"transformers {transformers.__version__}, torch {torch.__version__}, float32"

    def encode(self, text):
        return self.tokenizer(text)["input_ids"]

    def log_probs(self, ids):
        with self.torch.no_grad():
            logits = self.model(self.torch.tensor([ids]), use_cache=False).logits[0]
        return log_softmax(logits.double().numpy())


class LlamaCpp:
    """A GGUF file. What goes into a product with F16, BF16 or quantised weights is rounded: to F16, BF16 or 8 bits."""

    def __init__(self, args):
        import llama_cpp
        kv = {"f32": llama_cpp.GGML_TYPE_F32, "f16": llama_cpp.GGML_TYPE_F16}[args.peer_kv]
        self.llm = llama_cpp.Llama(model_path=args.peer_model, n_ctx=args.peer_context, n_threads=args.threads,
                                   n_threads_batch=args.threads, logits_all=True, type_k=kv, type_v=kv, verbose=False)
        self.name = f"llama-cpp-python {llama_cpp.__version__}, cache {args.peer_kv}"

    def encode(self, text):
        return self.llm.tokenize(text.encode(), add_bos=True, special=True)

    def log_probs(self, ids):
        self.llm.reset()
        self.llm.eval(ids)
        return log_softmax(np.array(self.llm.scores[:len(ids)], dtype=np.float64))


def open_peer(args):
    if args.peer == "numpy":
        return NumpyLlama(args.peer_model)
    return Transformers(args) if args.peer == "transformers" else LlamaCpp(args)
