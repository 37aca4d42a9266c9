#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains graph neural networks with MaxK on a graph, and measures accuracy, time, and the share of the selection.

  train.py --graph debian.npz --model sage --select torch exact iterations=2 iterations=4 relu --csv debian.csv

Training takes the whole graph at once, with Adam. An epoch is a forward pass, a backward pass and a step. Its time is
the median of all epochs but the first ones. In --timed more epochs, after the last test, the selections of the forward
pass are timed. Needs PyTorch; exact and iterations=N need libtopk.
"""

import argparse
import csv
import os
import statistics
import warnings

import torch
from torch.nn import functional

import graphs
from models import LAYERS, Adjacency, Model, selection
from timing import Clock, progress, time_of

WARM_UP = 3  # epochs: memory is allocated, libraries start
COLUMNS = ("graph device model select aggregate k hidden layers epochs seed metric validation test best_epoch "
           "epoch_ms topk_ms topk_share").split()


class Data:
    """The graph on a device."""

    def __init__(self, graph, device):
        self.multi_label, self.classes = graph.multi_label, graph.classes
        self.metric = "micro_f1" if graph.multi_label else "accuracy"
        self.features = torch.from_numpy(graph.features).to(device)
        self.labels = torch.from_numpy(graph.labels).to(device)
        self.edges = torch.from_numpy(graph.edges)
        split = torch.from_numpy(graph.split)
        self.parts = {part: (split == part).nonzero()[:, 0].to(device)
                      for part in (graphs.TRAIN, graphs.VALIDATION, graphs.TEST)}

    def loss(self, outputs):
        train = self.parts[graphs.TRAIN]
        if self.multi_label:
            return functional.binary_cross_entropy_with_logits(outputs[train], self.labels[train].float())
        return functional.cross_entropy(outputs[train], self.labels[train])

    def score(self, outputs, part):
        """Accuracy, or micro-averaged F1."""
        outputs, labels = outputs[self.parts[part]], self.labels[self.parts[part]]
        if not self.multi_label:
            return (outputs.argmax(1) == labels).float().mean().item()
        told = outputs > 0
        return (2 * (told & labels).sum() / (told.sum() + labels.sum()).clamp(min=1)).item()


def train_epoch(model, data, adjacency, optimizer):
    model.train()
    optimizer.zero_grad()
    loss = data.loss(model(data.features, adjacency))
    loss.backward()
    optimizer.step()


@torch.no_grad()
def scores(model, data, adjacency):
    model.eval()
    outputs = model(data.features, adjacency)
    return [data.score(outputs, part) for part in (graphs.VALIDATION, graphs.TEST)]


def run(data, adjacency, options, name, select, seed):
    """One training; a row of the CSV file."""
    device = torch.device(options.device)
    torch.manual_seed(seed)
    model = Model(name, data.features.shape[1], data.classes, select, options.k, options.hidden, options.layers,
                  options.dropout, options.aggregate == "sparse").to(device)
    optimizer = torch.optim.Adam(model.parameters(), options.rate)

    def epoch():
        train_epoch(model, data, adjacency, optimizer)

    clock, times, best = Clock(device), [], (-1, 0, 0)
    for number in range(1, options.epochs + 1):
        clock.begin()
        epoch()
        clock.end()
        times.append(clock.take_ms())
        if number % options.every == 0 or number == options.epochs:
            best = max(best, (*scores(model, data, adjacency), number), key=lambda scored: scored[0])
        progress(f"{name} {select} seed {seed}: {data.metric} {best[0]:.4f}", number, options.epochs)
    epoch_ms = statistics.median(times[WARM_UP:] or times)
    topk_ms, topk_share = time_of([layer.select for layer in model.layers], epoch, device, options.timed)
    return {**vars(options), "model": name, "select": select, "seed": seed, "metric": data.metric,
            "validation": f"{best[0]:.4f}", "test": f"{best[1]:.4f}", "best_epoch": best[2],
            "epoch_ms": f"{epoch_ms:.3f}", "topk_ms": f"{topk_ms:.3f}", "topk_share": f"{topk_share:.4f}"}


def append(path, row):
    new = not os.path.exists(path) or os.path.getsize(path) == 0
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")  # more options than columns
        if new:
            writer.writeheader()
        writer.writerow(row)


def summary(rows):
    """A line for each model and selection: means over seeds, and the standard deviation of the test."""
    yield f"{'model':6}{'select':14}{'seeds':>5}  {rows[0]['metric']:>17}{'epoch ms':>11}{'top-k ms':>10}{'share':>8}"
    for key in dict.fromkeys((row["model"], row["select"]) for row in rows):
        group = [row for row in rows if (row["model"], row["select"]) == key]
        test, epoch, topk, share = ([float(row[column]) for row in group]
                                    for column in ("test", "epoch_ms", "topk_ms", "topk_share"))
        spread = statistics.stdev(test) if len(test) > 1 else 0
        yield (f"{key[0]:6}{key[1]:14}{len(group):5}  {statistics.mean(test):8.4f} ± {spread:.4f}"
               f"{statistics.mean(epoch):11.2f}{statistics.mean(topk):10.2f}{statistics.mean(share):8.1%}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--graph", required=True, help="a file or folder; graphs.py says which")
    add("--model", nargs="+", default=["sage"], choices=LAYERS, help="(default: sage)")
    add("--select", nargs="+", default=["torch"], help="torch, exact, iterations=N, relu (default: torch)")
    add("--aggregate", default="dense", choices=("dense", "sparse"), help="models.py says how (default: %(default)s)")
    add("--k", type=int, default=32, help="elements that are kept of each row (default: %(default)s)")
    add("--hidden", type=int, default=256, help="length of a row (default: %(default)s)")
    add("--layers", type=int, default=3, help="hidden layers (default: %(default)s)")
    add("--dropout", type=float, default=0.5, help="share of selected elements that is dropped (default: %(default)s)")
    add("--rate", type=float, default=0.005, help="Adam's learning rate (default: %(default)s)")
    add("--epochs", type=int, default=200, help="(default: %(default)s)")
    add("--every", type=int, default=1, help="epochs from one evaluation to the next (default: %(default)s)")
    add("--timed", type=int, default=5, help="extra epochs that time the selections (default: %(default)s)")
    add("--seeds", type=int, default=1, help="runs, with seeds 0, 1, ... (default: %(default)s)")
    add("--device", default="cuda" if torch.cuda.is_available() else "cpu", help="(default: %(default)s)")
    add("--csv", help="the file to append a row to for each run")
    options = parser.parse_args()
    if not 1 <= options.k <= options.hidden:
        parser.error("--k must be from 1 to --hidden")
    for name in ("epochs", "every", "timed", "seeds"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be positive")
    for select in options.select:
        try:
            selection(select, options.k, options.aggregate == "sparse")
        except (ImportError, ValueError) as error:
            parser.error(f"--select {select}: {error}")
    return options


def main():
    warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state")
    options, rows = arguments(), []
    data = Data(graphs.load(options.graph), options.device)
    for name in options.model:
        adjacency = Adjacency(data.edges, len(data.features), LAYERS[name].weighting, options.device)
        for select in options.select:
            for seed in range(options.seeds):
                rows.append(run(data, adjacency, options, name, select, seed))
                if options.csv:
                    append(options.csv, rows[-1])
    print(*summary(rows), sep="\n")


if __name__ == "__main__":
    main()
