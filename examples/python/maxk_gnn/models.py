# SPDX-License-Identifier: Apache-2.0
"""Graph neural networks whose non-linearity keeps the k largest of each row and zeroes the rest (MaxK-GNN).

The rows that are selected from are the hidden features of a node. What is kept is aggregated along the edges, in one of
two ways that give the same sums:
  dense     a sparse matrix, of the edges, times the masked rows
  sparse    k products for each edge, added where the indices say
"""

import torch
from torch import nn
from torch.nn import functional

EDGES_AT_ONCE = 2**17  # bounds the memory of the sparse way: k products and indices for each


class SparseTorch(nn.Module):
    """The (values, indices) of the k largest of each row, by torch.topk."""

    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, x):
        return torch.topk(x, self.k, sorted=False)


class DenseTorch(SparseTorch):
    """The k largest of each row in their places, zeros elsewhere."""

    def forward(self, x):
        values, indices = super().forward(x)
        return torch.zeros_like(x).scatter(-1, indices, values)


def selection(name, k, sparse=False):
    """The module for "torch", "exact", "iterations=N" or "relu"."""
    if name == "relu":
        if sparse:
            raise ValueError("relu has no sparse aggregation: it keeps no fixed number of elements")
        return nn.ReLU()
    if name == "torch":
        return SparseTorch(k) if sparse else DenseTorch(k)
    how, _, iterations = name.partition("=")
    if how == "iterations" and iterations.isdigit() and int(iterations) > 0 or name == "exact":
        from libtopk.torch import MaxK, SparseMaxK  # only here: the other two do without the library
        return (SparseMaxK if sparse else MaxK)(k, max_iterations=int(iterations or 0))
    raise ValueError(f"{name}: expected torch, exact, iterations=N or relu")


class Adjacency:
    """The edges, weighted, as a matrix and as lists. Row: target, column: source. Edges go both ways, sorted."""

    def __init__(self, edges, nodes, weighting, device="cpu"):
        targets, sources = edges.to(device).contiguous()  # as CUDA's matrices need their indices
        if weighting == "symmetric":  # and each node is its own neighbour
            loops = torch.arange(nodes, device=device)
            codes = torch.cat((targets * nodes + sources, loops * (nodes + 1))).sort().values
            targets, sources = codes // nodes, codes % nodes
        degrees = torch.bincount(targets, minlength=nodes)
        weights, backward = {
            "sum": lambda: (torch.ones(len(targets), device=device),) * 2,
            "mean": lambda: (1 / degrees[targets], 1 / degrees[sources]),
            "symmetric": lambda: ((degrees[targets] * degrees[sources]).rsqrt(),) * 2,
        }[weighting]()
        starts = functional.pad(degrees.cumsum(0), (1, 0))
        # Each edge has its reverse, so the transpose has the same pattern: only weights differ.
        self.matrix, self.transpose = (
            torch.sparse_csr_tensor(starts, sources, values, (nodes, nodes), check_invariants=True)
            for values in (weights, backward))
        self.targets, self.sources, self.weights = targets, sources, weights

    def parts(self):
        """(targets, sources, weights) of some edges after another."""
        return zip(*(part.split(EDGES_AT_ONCE) for part in (self.targets, self.sources, self.weights)))


class AggregateDense(torch.autograd.Function):
    @staticmethod
    def forward(context, x, adjacency):
        context.adjacency = adjacency
        return adjacency.matrix @ x

    @staticmethod
    def backward(context, gradient):
        return context.adjacency.transpose @ gradient, None


class AggregateSparse(torch.autograd.Function):
    @staticmethod
    def forward(context, values, indices, adjacency, width):
        context.adjacency = adjacency
        context.save_for_backward(indices)
        sums = values.new_zeros(len(values) * width)
        for targets, sources, weights in adjacency.parts():
            slots = targets[:, None] * width + indices[sources]
            sums.index_add_(0, slots.view(-1), (values[sources] * weights[:, None]).view(-1))
        return sums.view(-1, width)

    @staticmethod
    def backward(context, gradient):
        indices, = context.saved_tensors
        sums = gradient.new_zeros(indices.shape)
        for targets, sources, weights in context.adjacency.parts():
            slots = targets[:, None] * gradient.shape[1] + indices[sources]
            sums.index_add_(0, sources, gradient.reshape(-1)[slots] * weights[:, None])
        return sums, None, None, None


class Layer(nn.Module):
    """Selects, drops, aggregates, combines and normalizes."""

    weighting = None  # of the edges

    def __init__(self, hidden, select, k, dropout, sparse):
        super().__init__()
        self.select = selection(select, k, sparse)
        self.dropout, self.sparse = dropout, sparse
        self.norm = nn.LayerNorm(hidden)
        self.add_parameters(hidden)

    def add_parameters(self, hidden):
        self.linear = nn.Linear(hidden, hidden)

    def forward(self, x, adjacency):
        if self.sparse:
            values, indices = self.select(x)
            values = functional.dropout(values, self.dropout, self.training)
            aggregated = AggregateSparse.apply(values, indices, adjacency, x.shape[1])
            kept = torch.zeros_like(x).scatter(-1, indices, values)
        else:
            kept = functional.dropout(self.select(x), self.dropout, self.training)
            aggregated = AggregateDense.apply(kept, adjacency)
        return self.norm(self.combine(kept, aggregated))


class SageLayer(Layer):
    weighting = "mean"

    def add_parameters(self, hidden):
        self.own, self.neighbours = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden, bias=False)

    def combine(self, kept, aggregated):
        return self.own(kept) + self.neighbours(aggregated)


class GcnLayer(Layer):
    weighting = "symmetric"

    def combine(self, kept, aggregated):
        return self.linear(aggregated)


class GinLayer(Layer):
    weighting = "sum"

    def add_parameters(self, hidden):
        super().add_parameters(hidden)
        self.epsilon = nn.Parameter(torch.zeros(()))

    def combine(self, kept, aggregated):
        return self.linear((1 + self.epsilon) * kept + aggregated)


LAYERS = {"sage": SageLayer, "gcn": GcnLayer, "gin": GinLayer}


class Model(nn.Module):
    """A linear layer, the hidden layers, and a linear layer."""

    def __init__(self, name, columns, classes, select="torch", k=32, hidden=256, layers=3, dropout=0.5, sparse=False):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(columns, hidden), nn.LayerNorm(hidden))
        self.last = nn.Linear(hidden, classes)
        self.layers = nn.ModuleList(LAYERS[name](hidden, select, k, dropout, sparse) for _ in range(layers))

    def forward(self, features, adjacency):
        x = self.first(features)
        for layer in self.layers:
            x = layer(x, adjacency)
        return self.last(x)
