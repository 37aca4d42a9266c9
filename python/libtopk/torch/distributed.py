# SPDX-License-Identifier: Apache-2.0
"""Selection from rows whose elements lie on many ranks, over the process groups of torch.distributed.

    import torch.distributed
    import libtopk.torch.distributed
    torch.distributed.init_process_group("gloo")
    values, indices = libtopk.torch.distributed.topk(x, 10)        # x: this rank's elements of each row

Results are what libtopk.topk(), kth() and select_where() give for the whole rows, bit for bit, for any number of ranks
and any way of dealing out the elements. Ties go by the position in the whole row. c10d's collectives carry lists of
candidates and counters, as bytes and int64: so all types of libtopk go over gloo and NCCL. CPU tensors need a group with
gloo, CUDA tensors one with NCCL. Results have no gradient.

Every rank of the group calls the same function with the same arguments, in the same order; only x, positions given as a
number or an array, a mask, and the context are a rank's own. A rank may have no elements: x then has 0 columns.

group      a process group, None for the default one, a DeviceMesh of one dimension, or a pair (mesh, dimension)
positions  where the elements of this rank lie in the whole row:
           None      behind the elements of the ranks with lower numbers
           a number  element p lies at that number + p. The runs of ranks must not overlap
           "stride"  element p lies at p * ranks + rank: elements are dealt out in turns
           an array  integers of the shape of x, ascending in each row; no two ranks may have the same one, which nothing
                     checks
to         who gets the results:
           "all"     every rank
           a number  that rank of the group; the others get None
           "owner"   rank r gets rows [r * n, (r + 1) * n), of n = ceil(rows / ranks), counted in C order: the results
                     have two dimensions, and the last ranks may have no rows
           "place"   each rank gets those that are its own elements, as InPlace. No element is sent, so k may be large

CPU tensors: what is wrong on one rank, or differs between ranks, is an error on all of them, and says which rank has it.
A wrong group, and a lack of memory, are an exception on that rank alone, while the others wait for the group's timeout.

CUDA tensors: all work is enqueued on the current stream, the number of collectives is fixed, and the host waits for
nothing, so a CUDA graph can capture a call where the group's collectives can be captured; make one call before. Hence
nothing is agreed on: what is wrong on one rank is an exception there alone. Tables that do not ascend, and runs that
overlap, leave results undefined.

A DTensor is refused here: libtopk.torch.topk takes it, and x.to_local() with group=(mesh, dimension) is for the other
functions.

Rows times k must be below 2^31. It needs torch 2.6 or later.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as c10d
from torch import Tensor

from libtopk import _ranks
from libtopk._api import Kth, TopK
from libtopk._ranks import InPlace

if TYPE_CHECKING:
    from collections.abc import Sequence

if not c10d.is_available() or torch.__version__ < "2.6":
    raise ImportError("libtopk.torch.distributed needs torch 2.6 or later, built with torch.distributed; this is torch "
                      f"{torch.__version__}")

__all__ = ["InPlace", "Kth", "TopK", "kth", "quantile", "select_where", "topk"]


def _group_of(group):
    mesh, dimension = group if isinstance(group, tuple) and len(group) == 2 else (group, None)
    if hasattr(mesh, "get_group"):
        return mesh.get_group(dimension)
    if group is c10d.GroupMember.NON_GROUP_MEMBER:
        raise ValueError("this process is not in the group")
    if not isinstance(group, (c10d.ProcessGroup, type(None))):
        raise TypeError(f"group is of type {type(group).__name__}, and can be a process group, None, a DeviceMesh of one "
                        "dimension or a pair of a mesh and a dimension")
    return group


class _Ranks:
    def __init__(self, x, group):
        self.group = _group_of(group)
        self.rank, self.size = c10d.get_rank(self.group), c10d.get_world_size(self.group)
        self.device = x.device if isinstance(x, Tensor) else torch.device("cpu")
        self.is_told = self.device.type != "cuda"

    def tell(self, told):
        if not self.is_told:
            return None
        objects: list[Any] = [None] * self.size
        c10d.all_gather_object(objects, told, self.group)
        return objects

    def take(self, name, array):
        if type(array) not in (Tensor, torch.nn.Parameter):
            raise TypeError(f"{name} is of type {type(array).__name__}, and must be a plain torch.Tensor")
        if array.device != self.device or array.device.type not in ("cpu", "cuda"):
            raise ValueError(f"{name} is on {array.device}, where all tensors are on the CPU or one GPU")
        return array.detach().contiguous()

    def full(self, count, number):
        return torch.full((count,), number, dtype=torch.int64, device=self.device)

    def join(self, arrays):
        return torch.cat([self.full(0, 0), *arrays])

    def sum(self, array):
        if array.numel():
            c10d.all_reduce(array, group=self.group)

    def _room(self, array):
        """Bytes for an array of each rank, and those of this one's: gloo refuses uneven lists, empty ones, and several
        types."""
        sent = array.contiguous().reshape(-1).view(torch.uint8)
        return sent, sent.new_empty(self.size * sent.numel())

    def _arrays(self, room, array):
        return room.view(array.dtype).reshape((self.size, *array.shape))

    def gather(self, array):
        sent, room = self._room(array)
        if sent.numel():
            c10d.all_gather_into_tensor(room, sent, group=self.group)
        return self._arrays(room, array)

    def collect(self, array, root):
        sent, room = self._room(array)
        is_root = self.rank == root
        if sent.numel():
            c10d.gather(sent, list(room.chunk(self.size)) if is_root else None, group=self.group, group_dst=root)
        return self._arrays(room, array) if is_root else None

    def exchange(self, array):
        sent = array.contiguous().reshape(-1).view(torch.uint8)
        room = torch.empty_like(sent)
        if sent.numel():
            c10d.all_to_all_single(room, sent, group=self.group)
        return room.view(array.dtype).reshape(array.shape)


def topk(x: Tensor, k: int, largest: bool = True, sorted: bool = True, *, group: Any = None, to: str | int = "all",
         positions: Any = None, **options: Any) -> TopK | InPlace | None:
    """The k largest or smallest elements of each row of all ranks, with their positions in the whole row.

    x        this rank's elements, (..., length); rows lie along the last dimension
    k        how many of each row; it may exceed the length
    sorted   best first, equal ones by position; False: in any order
    options  order, magnitude, nan and context, as libtopk.topk() has them

    `group`, `to` and `positions` are explained in the module. Returns TopK(values, indices) of tensors (..., k) and
    int64 indices; with "place" InPlace(values, indices, own_k, before): up to min(k, length) results of each row by
    position, int64 own_k of (...) says how many, and `before` how many the ranks with lower numbers have. Raises what
    libtopk.topk() does, and ValueError where ranks differ.
    """
    return _ranks.call_select(_Ranks(x, group), "topk", x, k, largest, sorted, to, positions, options)


def select_where(x: Tensor, k: int, largest: bool = True, sorted: bool = True, *, group: Any = None,
                 to: str | int = "all", positions: Any = None, **options: Any) -> TopK | InPlace | None:
    """As topk(), among the elements that meet a predicate: one of gt, ge, lt, le, eq, ne and between, the same on all
    ranks, or a mask of this rank's elements."""
    return _ranks.call_select(_Ranks(x, group), "select_where", x, k, largest, sorted, to, positions, options)


def kth(x: Tensor, k: int | Sequence[int], largest: bool = True, *, group: Any = None, **options: Any) -> Kth:
    """The k-th largest or smallest element of each row of all ranks, k from 1 on, how many elements rank above it, and
    how many tie with it: on every rank.

    k        a number, or a list of them: results then have one more dimension, the first, for the elements of the list
    options  magnitude, nan and context, as libtopk.kth() has them

    No element is sent, but counters: up to six times 2048 for each row and each k, on a GPU up to five times 8192 where
    there are few rows. Returns Kth(kth, better, equal).
    """
    return _ranks.call_kth(_Ranks(x, group), x, k, largest, options)


def quantile(x: Tensor, q: float | Sequence[float], *, method: str = "lower", group: Any = None,
             **options: Any) -> Tensor:
    """Quantiles of each row of all ranks, on every rank: elements, as torch.quantile() chooses them, of any length.

    q        a number from 0 to 1, or a list of them: results then have one more dimension, the first
    method   of n elements in ascending order, which one stands for q * (n - 1): the one below, "lower", the one above,
             "higher", or the "nearest", of two the one with an even number
    options  magnitude, nan and context, as libtopk.kth() has them: NaN counts as the largest, unless nan is "last",
             which is behind all others either way

    Rows without any elements raise ValueError; those of CUDA tensors have padding as their quantiles.
    """
    return _ranks.call_quantile(_Ranks(x, group), x, q, method, options)
