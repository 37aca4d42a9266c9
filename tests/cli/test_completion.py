# SPDX-License-Identifier: Apache-2.0
"""What the shells complete, and what they are installed with."""

import os
import shutil
import subprocess
import unittest

import harness

SECONDS = 300 # for a shell that asks the tool twice, however busy the machine is
COMPLETIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../cli/completions")
COMMANDS = ["select", "kth", "where", "count", "mask", "info", "explain", "help"]

# The words before the cursor, the last one unfinished, and what must be offered: exactly that, or all of
# that and nothing that begins otherwise.
EXACTLY = [
    (["s"], ["select"]), (["e"], ["explain"]), (["help", ""], COMMANDS), (["help", "ma"], ["mask"]),
    (["select", "--na"], ["--nan"]), (["select", "--epsilon"], ["--epsilon", "--epsilon-relative"]),
    (["kth", "--un"], []), (["mask", "--bi"], ["--bits"]), (["select", "--piece"], []), (["info", "--t"], ["--threads"]),
    (["select", "x.npy", "-k", "3", "--nan", ""], ["largest", "last"]), (["select", "--ties", "a"], ["any", "all"]),
    (["count", "--device", ""], ["auto", "cpu", "cuda"]), (["select", "--dtype", "bf"], ["bfloat16"]),
    (["explain", "--format", "n"], ["npy", "npz"]), (["select", "--values", ""], []), (["select", "--csv", ""], []),
    (["select", "--threads", "1"], []), (["select", ""], []),
]
ASSIGNED = [("--nan=", "l", ["largest", "last"]), ("--format=", "f", ["fbin", "fvecs"]), ("--dtype=", "u", None)]
DTYPES = ["float16", "bfloat16", "float32", "float64", "float8_e4m3", "float8_e5m2", "int8", "int16", "int32", "int64",
          "uint8", "uint16", "uint32", "uint64"]


class Bash(harness.Case):
    def complete(self, *words, breaks=True):
        """What bash offers, which takes an equals sign for a word of its own."""
        split = []
        for word in words:
            head, sign, tail = word.partition("=")
            split += [part for part in (head, sign) if part] + ([tail] if tail else []) if sign and breaks else [word]
        script = '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _topk "$1"; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", script, "bash", os.path.join(COMPLETIONS, "topk.bash"), harness.TOPK, *split],
                              capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL, timeout=SECONDS)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_words(self):
        for words, expected in EXACTLY:
            with self.subTest(words=words):
                self.assertEqual(sorted(self.complete(*words)), sorted(expected))
        self.assertEqual(sorted(self.complete("select", "--dtype", "")), sorted(DTYPES))

    def test_assigned_words(self):
        for option, begun, expected in ASSIGNED:
            expected = expected or [name for name in DTYPES if name.startswith(begun)]
            self.assertEqual(sorted(self.complete("select", option + begun)), sorted(expected))
            self.assertEqual(sorted(self.complete("select", option + begun, breaks=False)),
                             sorted(option + word for word in expected))
        self.assertEqual(self.complete("select", "--ties="), ["lowest", "any", "all"])

    def test_all_commands_and_options(self):
        offered = self.complete("")
        self.assertEqual([word for word in offered if word[0] != "-"], COMMANDS)
        self.assertIn("--version", offered)
        for command in COMMANDS[:-1]:
            offered = self.complete(command, "-")
            self.assertIn("--device", offered)
            for option in offered:
                if option.startswith("--"):
                    self.assertIn(option, harness.topk(command, "--help").out.decode())
            self.assertEqual("-k" in offered, command in ("select", "kth", "explain"))


class Zsh(harness.Case):
    def complete(self, *words):
        stubs = 'compadd() { print -l -- ${(P)2} }; _files() { }; compset() { PREFIX=${PREFIX#*=} }; '
        script = stubs + 'file=$1; shift; words=("$@"); CURRENT=$#; PREFIX=${@[-1]}; f() { . $file }; f; print -- "|$PREFIX"'
        done = subprocess.run(["zsh", "-fc", script, "zsh", os.path.join(COMPLETIONS, "_topk"), harness.TOPK, *words],
                              capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL, timeout=SECONDS)
        self.assertEqual(done.stderr, "")
        offered, prefix = done.stdout.rsplit("|", 1)
        return [word for word in offered.split() if word.startswith(prefix.rstrip("\n"))]

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_words(self):
        subprocess.run(["zsh", "-n", os.path.join(COMPLETIONS, "_topk")], check=True)
        for words, expected in EXACTLY:
            with self.subTest(words=words):
                self.assertEqual(sorted(self.complete(*words)), sorted(expected))
        for option, begun, expected in ASSIGNED:
            expected = expected or [name for name in DTYPES if name.startswith(begun)]
            self.assertEqual(sorted(self.complete("select", option + begun)), sorted(expected))


if __name__ == "__main__":
    harness.main()
