# SPDX-License-Identifier: Apache-2.0
"""An output that is the input or another output, by any name, is refused before anything is read or written."""

import os

import harness
from harness import npy_header, npy_read, pack

ARRAYS = [("select", "-k", 2, "--values"), ("select", "-k", 2, "--indices"), ("where", "--gt", 2, "--values"),
          ("where", "--gt", 2, "--indices"), ("mask", "--gt", 2, "--bits")]
PRINTING = [("select", "-k", 2), ("kth", "-k", 2), ("where", "--gt", 2), ("count", "--gt", 2), ("mask", "--gt", 2),
            ("explain", "-k", 2)]


class SameFile(harness.Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("sub"))
        os.symlink(".", self.path("here"))

    def files(self):
        """What each file of the folder holds, and where each link leads."""
        names = sorted(os.listdir(self.folder))
        return {name: os.readlink(self.path(name)) if os.path.islink(self.path(name))
                else os.listdir(self.path(name)) if os.path.isdir(self.path(name)) else self.read(name) for name in names}

    def refused(self, expected, *arguments, **keywords):
        before = self.files()
        self.fails(expected, *arguments, status=2, preexec=lambda: os.chdir(self.folder), **keywords)
        self.assertEqual(self.files(), before)

    def names(self, name):
        """Other names of a file that exists."""
        os.link(self.path(name), self.path("hard-" + name))
        os.symlink(name, self.path("soft-" + name))
        return [name, "./" + name, "sub/.././/" + name, "here/" + name, self.path(name), "hard-" + name, "soft-" + name]


class Input(SameFile):
    def setUp(self):
        super().setUp()
        self.write("x.npy", npy_header("<f4", (4,)) + pack("f", [1, 4, 3, 2]))
        self.write("x.txt", "1\n4\n3\n2\n")

    def test_arrays(self):
        for name in ("x.npy", "x.txt"):
            for other in self.names(name):
                for command, *arguments in ARRAYS:
                    with self.subTest(other=other, command=command, arguments=arguments):
                        self.refused("%s is the input, '%s': choose another file" % (arguments[-1], name), command, name,
                                     *arguments, other)
                        self.refused("%s is the input, '.*': choose another file" % arguments[-1], command, other,
                                     *arguments, name)

    def test_standard_input(self):
        for name, form in (("x.npy", "npy"), ("x.txt", "text")):
            for path in ("-", "/dev/stdin"):
                with open(self.path(name), "rb") as file:
                    self.refused("--values is the input, '.*': choose another file", "select", path, "-k", 1, "--format",
                                 form, "--values", name, stdin=file)

    def test_standard_output(self):
        for name in ("x.npy", "x.txt"):
            for command, *arguments in PRINTING:
                with self.subTest(name=name, command=command), open(self.path(name), "ab") as file:
                    self.refused("standard output is the input, '%s': choose another file" % name, command, name,
                                 *arguments, stdout=file)

    def test_standard_output_that_gets_nothing(self):
        with open(self.path("x.txt"), "ab") as file:
            self.prints(None, "select", self.path("x.txt"), "-k", 1, "--values", self.path("v.npy"), stdout=file)
        self.assertEqual(self.read("x.txt"), b"1\n4\n3\n2\n")
        self.assertEqual(npy_read(self.read("v.npy"))[2], pack("d", [4]))


class Outputs(SameFile):
    def setUp(self):
        super().setUp()
        self.write("x.npy", npy_header("<f4", (4,)) + pack("f", [1, 4, 3, 2]))

    def both(self, values, indices):
        for command in (["select", "x.npy", "-k", 1], ["where", "x.npy", "--gt", 1], ["where", "-", "--gt", 1]):
            with self.subTest(command=command, values=values, indices=indices):
                self.refused("--values and --indices are the same file: choose two", *command, "--values", values,
                             "--indices", indices)

    def test_existing(self):
        self.write("o.npy", b"precious")
        for other in self.names("o.npy"):
            self.both("o.npy", other)
            self.both(other, "o.npy")

    def test_missing(self):
        for other in ("o.npy", "./o.npy", "sub/.././/o.npy", "here/o.npy", self.path("o.npy")):
            self.both("o.npy", other)
            self.both(other, "o.npy")

    def test_links_to_a_missing_one(self):
        os.symlink("sub/o.npy", self.path("link"))
        os.symlink(self.path("link"), self.path("link-to-link"))
        for a, b in (("link", "sub/o.npy"), ("link", "link-to-link"), ("here/link-to-link", "sub/../sub/o.npy")):
            self.both(a, b)
            self.both(b, a)

    def test_nothing_is_read(self):
        reader, writer = os.pipe()
        os.write(writer, b"1\n2\n")
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            self.refused("--values and --indices are the same file: choose two", "select", "-", "-k", 1, "--values",
                         "o.npy", "--indices", "./o.npy", stdin=pipe)
            self.assertEqual(pipe.read(), b"1\n2\n")


class Allowed(SameFile):
    def setUp(self):
        super().setUp()
        self.file = self.write("x.npy", npy_header("<f4", (4,)) + pack("f", [1, 4, 3, 2]))

    def test_files_that_many_may_share(self):
        with open("/dev/null", "r+b") as null:
            self.prints(None, "select", "-", "-k", 1, stdin=null, stdout=null)
            self.prints(None, "select", "/dev/null", "-k", 1, stdin=null, stdout=null)
        for command in (["select", self.file, "-k", 1], ["where", self.file, "--gt", 1], ["where", "/dev/null", "--gt", 1]):
            self.prints("", *command, "--values", "/dev/null", "--indices", "/dev/null")

    def test_other_files(self):
        self.write("v.npy", b"old")
        os.symlink("v.npy", self.path("link.npy"))
        for values, indices in (("v.npy", "sub/v.npy"), ("new.npy", "sub/new.npy"), ("link.npy", "i.npy")):
            self.prints("", "select", self.file, "-k", 1, "--values", self.path(values), "--indices", self.path(indices))
            self.assertEqual(npy_read(self.read(values))[2], pack("f", [4]))
            self.assertEqual(npy_read(self.read(indices))[2], pack("q", [1]))


if __name__ == "__main__":
    harness.main()
