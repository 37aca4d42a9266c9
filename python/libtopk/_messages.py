# SPDX-License-Identifier: Apache-2.0
"""The C library's messages in Python's words, and what to use in place of an option that a function does not have."""
import re

_FIELDS = {  # of the C library's structs; all others are called as Python's options are
    "problem->k_max": "k",
    "problem->length_max": "the length of a row",
    "problem->rows": "the number of rows",
    "problem->row_stride": "the distance between rows",
    "problem->elements_max": "the number of elements of x",
    "problem->type": "the type of x",
    "problem->index_type": "index_dtype",
    "problem->extent_type": "the type of lengths, offsets, begins, ends, groups or k",
    "problem->direction": "largest",
    "problem->rank": "magnitude",
    "problem->order": "sorted",
    "input->values": "x",
    "predicate->kind": "the kind of the predicate",
    "predicate->low.type": "the type of a bound",
    "predicate->high.type": "the type of a bound",
}
_TYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "f8_e4m3": "float8_e4m3fn",
          "f8_e5m2": "float8_e5m2", **{f"{sign[0]}{bits}": f"{sign}{bits}" for sign in ("int", "uint")
                                       for bits in (8, 16, 32, 64)}}
_SHAPES = ("rows along dim", "begins and ends", "offsets")

_RULES = tuple((re.compile(pattern), words) for pattern, words in (
    (r"does not go with shape ([0-2])\b", lambda match: f"does not go with {_SHAPES[int(match[1])]}"),
    (r"\bTOPK_INDEX_I(32|64)\b", r'index_dtype="int\1"'),
    (r"\b(?:problem|input|predicate|routing|options|properties)->(\w+(?:\.type)?)",
     lambda match: _FIELDS.get(match[0], match[1])),
    (r"\bk_max\b", "k"),
    (r"\blength_max =", "chunk_max ="),  # which only accumulators say
    (r"\b(is|not with) ([a-z]+[0-9]+(?:_e[0-9]m[0-9])?)\b",
     lambda match: f"{match[1]} {_TYPES.get(match[2], match[2])}"),
    (r"\b(do|does|this) select\b", r"\1 topk"),
    (r"\bis forced by the problem\b", "is forced by the option method"),
    (r"^this libtopk was built without CUDA$",
     r"\g<0>, as pip builds it where there is no nvcc or no GPU; python/README.md has the commands that build it with"),
))


def in_python(text: str) -> str:
    """A message of the C library, where it names options as Python does."""
    for pattern, words in _RULES:
        text = pattern.sub(words, text)
    return text


PREDICATES = frozenset(("gt", "ge", "lt", "le", "eq", "ne", "between", "mask", "bits"))
_ROUTE, _INIT, _PUSH, _SHARD = 7, 11, 12, 20  # as the core numbers operations; from _INIT on an accumulator's
_OF_ROUTE = {name: words for names, words in (
    ("norm_topk_prob renormalize renormalise normalize normalise norm",
     "weights are always divided by their sum over the chosen experts; for others, use the indices, and take the "
     "weights there from those of all experts (numpy.take_along_axis, torch.gather)"),
    ("n_group num_expert_group num_groups", "use groups"),
    ("topk_group group_topk", "use groups_kept"),
    ("routed_scaling_factor scaling_factor", "use factor"),
    ("e_score_correction_bias correction_bias expert_bias", "use bias"),
    ("scoring_func score_func score_function", "use score and weighing"),
) for name in names.split()}


def _advice(operation, name):
    if name in ("axis", "dim"):
        is_chunk = _INIT <= operation < _SHARD
        return "the rows of a chunk lie along its last dimension" if is_chunk else "rows lie along the last dimension"
    if operation == _ROUTE:
        return _OF_ROUTE.get(name)
    if name in ("descending", "ascending", "reverse"):
        return "use largest"
    if name not in PREDICATES and name != "at_least":
        return None
    if operation == _PUSH:
        return "use mask"
    return "push() takes predicates" if operation >= _INIT else "use select_where(), which takes predicates"


def no_option(operation: int, name: str) -> str:
    """What is said of an option that the operation does not have."""
    advice = _advice(operation, name)
    return f"there is no option '{name}' here" + ("" if advice is None else f": {advice}")
