#!/bin/sh
# TopK of 64-bit integers answers with numbers that nobody gave it: OpenVINO 2026.4.1 with numpy 2.4.6, on a CPU.
#
# The operation TopK is specified for int64, and inputs and outputs are arrays of it. The plugin for CPUs computes with the
# low 32 bits of each integer, without a word: 2^53 and 2^53 + 1 become 0 and 1, so that 7 is the greatest. One expects
# the numbers themselves, or a refusal. It concerns ids, times in nanoseconds, and hashes.
#
# Seen:
#   of [9007199254740992, 9007199254740993, 9007199254740991, 7] the two greatest: [7, 1] at [3, 1]
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q openvino==2026.4.1 numpy==2.4.6
"$venv/bin/python" - <<'P'
import numpy
import openvino
import openvino.opset13 as operations

given = numpy.array([[2**53, 2**53 + 1, 2**53 - 1, 7]])
elements = operations.parameter([1, 4], numpy.int64)
best = operations.topk(elements, operations.constant(numpy.int64(2)), 1, "max", "value", "i64", True)
model = openvino.Model([best.output(0), best.output(1)], [elements], "two greatest")
values, places = openvino.Core().compile_model(model, "CPU")([given]).values()
print("of", given[0].tolist(), "the two greatest:", values[0].tolist(), "at", places[0].tolist())
assert values.dtype == numpy.int64 and values.tolist() == [[7, 1]] and places.tolist() == [[3, 1]]
P
