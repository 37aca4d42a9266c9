#!/bin/sh
# torch 2.15.0 with onnx 1.23.2 and onnxscript 0.7.2: a model cannot refuse torch.onnx.export(..., dynamo=True).
# The exporter traces a model in several ways, one after the other, until one succeeds. torch.onnx.is_in_onnx_export() is
# true in the first way and false in a later one. So a model that raises an exception where the function is true is
# exported all the same, without a word and with the branch that is not meant for ONNX.
#
# Output seen:
#   branch of ONNX: adds 1
#   exception in the branch of ONNX: exported, adds 2
#
# That is why libtopk.torch leaves it to torch to say that ONNX has no operator libtopk.topk (python/README.md).
#
# usage: findings/torch_onnx_exceptions.sh        downloads 3 GB; fails if the behaviour is another one
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q torch==2.15.0 onnx==1.23.2 onnxscript==0.7.2 numpy
cat >"$work/export.py" <<'END'
import torch


class Branches(torch.nn.Module):
    def forward(self, x):
        return x + 1 if torch.onnx.is_in_onnx_export() else x + 2


class Refuses(torch.nn.Module):
    def forward(self, x):
        if torch.onnx.is_in_onnx_export():
            raise NotImplementedError("this model is not for ONNX")
        return x + 2


def added(model):
    program = torch.onnx.export(model, (torch.zeros(3),), dynamo=True, verbose=False)
    (number,) = program.model.graph.initializers.values()
    return int(number.const_value.numpy())


print(f"branch of ONNX: adds {added(Branches())}")
print(f"exception in the branch of ONNX: exported, adds {added(Refuses())}")
END
"$work/venv/bin/python" "$work/export.py" >"$work/seen" 2>"$work/errors" || {
    cat "$work/errors"
    exit 1
}
cat "$work/seen"
cat >"$work/expected" <<'END'
branch of ONNX: adds 1
exception in the branch of ONNX: exported, adds 2
END
diff "$work/expected" "$work/seen"
