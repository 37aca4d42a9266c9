# SPDX-License-Identifier: Apache-2.0
"""libtopk::topk of DTensors, whose parts lie on the ranks of a mesh.

Where no mesh dimension shards the selected dimension, each rank selects from its own part. Where some do, it selects from
its run of positions, the lists of these ranks are gathered, and each rank selects from them: no other element moves. Lists
are by position and follow one another as the runs do, so elements that tie keep their order. A tensor whose lists would be
larger than its parts is gathered itself.
"""
import torch
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

from libtopk import _torch_operator
from libtopk._torch_operator import operator, result_shape


class _Layout:
    """How a tensor lies on a mesh, and what a selection along `dim` makes of that."""

    def __init__(self, x, dim):
        self.mesh, self.placements = x.device_mesh, x.placements
        self.shape, self.dim = x.shape, dim % max(1, x.dim())
        self.shards = [axis for axis, place in enumerate(x.placements) if self._cuts(place)]
        # torch adds up partial sums, and gathers strided shards.
        self.selected = [place if type(place) is Shard else Replicate() for place in x.placements]
        self.results = [Replicate() if self._cuts(place) else place for place in self.selected]
        self.is_member = self.mesh.get_coordinate() is not None

    def _cuts(self, place):
        return type(place) is Shard and place.dim == self.dim

    def runs(self):
        """The positions of all ranks that share a row, (begin, end) each in order, and which of them is this rank's."""
        runs, own = [(0, self.shape[self.dim] if self.shape else 1)], 0
        for which in self.shards:
            count = self.mesh.size(which)
            runs = [piece for run in runs for piece in _pieces(*run, count)]
            own = own * count + self.mesh.get_local_rank(which)
        return runs, own

    def gathered(self, lists, lengths):
        """The slices of all ranks that share a row, in order. `lists` are arrays of this rank's, `lengths[rank]` long."""
        room, most = [], max(lengths)
        for part in lists:
            room.append(part.new_zeros((most, *part.shape[1:])))
            room[-1][:len(part)] = part
        sent = torch.cat([part.view(torch.uint8).flatten() for part in room])[None]
        if sent.numel():
            ranks = [Shard(0) if which in self.shards else Replicate() for which in range(self.mesh.ndim)]
            sent = DTensor.from_local(sent, self.mesh, ranks, run_check=False).full_tensor()
        else:
            sent = sent.expand(len(lengths), 0)
        for part, received in zip(room, sent.split([part.numel() * part.itemsize for part in room], 1)):
            received = received.clone(memory_format=torch.contiguous_format).flatten()
            whole = received.view(part.dtype).reshape(len(lengths), *part.shape)
            yield torch.cat([one[:length] for one, length in zip(whole, lengths)])

    def placed(self, local, placements, shape):
        if not shape:
            return DTensor.from_local(local, self.mesh, placements, run_check=False)
        stride = torch.empty(shape, device="meta").stride()
        return DTensor.from_local(local, self.mesh, placements, run_check=False, shape=torch.Size(shape), stride=stride)


def _pieces(begin, end, count):
    """The runs that `count` ranks get of a run."""
    each = -(-(end - begin) // count)
    edges = [min(end, begin + each * rank) for rank in range(count + 1)]
    return list(zip(edges, edges[1:]))


def _select_lists(layout, local, k, dim, largest, sorted, order):
    """The k best of whole rows, whose elements lie on several ranks."""
    runs, own = layout.runs()
    lengths = [min(k, end - begin) for begin, end in runs]
    values, indices = operator(local, lengths[own], dim, largest, True, 0, "position")
    lists = [part.movedim(dim, 0).contiguous() for part in (values, indices + runs[own][0])]
    values, indices = (part.movedim(0, dim) for part in layout.gathered(lists, lengths))
    values, slots = operator(values, k, dim, largest, sorted, 0, order)
    return values, indices.gather(dim, slots)


def _dispatched(cls, function, types, given, named=None):
    return _topk(*given, **(named or {}))


def _topk(self, k, dim, largest, sorted, max_iterations, order=None):
    shape, layout = result_shape(self, k, dim), _Layout(self, dim)
    longest = max(end - begin for begin, end in layout.runs()[0]) if layout.is_member else 0
    are_short = min(k, longest) * (self.dtype.itemsize + 8) < longest * self.dtype.itemsize
    by_lists = layout.shards and are_short and not max_iterations
    with torch.no_grad():
        # redistribute() of torch 2.11 refuses a tensor with a gradient here.
        local = self.detach().redistribute(layout.mesh, layout.selected if by_lists else layout.results).to_local()
        if not layout.is_member:
            results = local, local.new_empty(0, dtype=torch.int64)
        elif by_lists:
            results = _select_lists(layout, local, k, layout.dim, largest, sorted, order)
        else:
            results = operator(local, k, layout.dim, largest, sorted, max_iterations, order)
        return tuple(layout.placed(part, layout.results, shape) for part in results)


def _scatter(x, dim):
    """As _torch_operator.scatter_of(): each rank puts values where its own part has their positions."""
    layout = _Layout(x, dim)
    placements = [Replicate() if place.is_partial() else place for place in layout.placements]

    def scatter(values, indices):
        # Each rank uses the values that are its own, so the gradient of a value is a sum over ranks.
        parts = [Partial() if which in layout.shards else place for which, place in enumerate(layout.results)]
        values = values.redistribute(layout.mesh, layout.results).to_local(grad_placements=parts)
        places = indices.redistribute(layout.mesh, layout.results).to_local()
        if layout.is_member:
            values = _scattered(layout, values, places)
        return layout.placed(values, layout.selected, layout.shape).redistribute(layout.mesh, placements)

    return scatter


def _scattered(layout, values, places):
    runs, own = layout.runs()
    begin, end = runs[own]
    shape = list(values.shape)
    if shape:
        shape[layout.dim] = end - begin
    if not layout.shards:
        return _torch_operator.scattered(values, layout.dim, places, shape)
    # Values of other ranks go to a slot behind the run.
    shape[layout.dim] += 1
    places = torch.where((places >= begin) & (places < end), places - begin, end - begin)
    return _torch_operator.scattered(values, layout.dim, places, shape).narrow(layout.dim, 0, end - begin).contiguous()


torch.library.register_torch_dispatch(_torch_operator.NAME, DTensor, _dispatched, lib=_torch_operator.library)
_torch_operator.scatters[DTensor] = _scatter
