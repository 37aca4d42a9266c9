# SPDX-License-Identifier: Apache-2.0
"""--device where there is no GPU: none of these tests sees one, whatever the machine has."""

import harness
from harness import npy_header, pack


class NoDevice(harness.Case):
    def setUp(self):
        super().setUp()
        self.file = self.write("x.npy", npy_header("<f4", (4,)) + pack("f", [2, 4, 1, 3]))

    def test_cuda_says_why_not(self):
        for device in ("cuda", "cuda:0", "cuda:7"):
            for arguments in (["select", self.file, "-k", 1], ["kth", self.file, "-k", 1],
                              ["where", self.file, "--gt", 1], ["mask", self.file, "--gt", 1],
                              ["explain", self.file, "-k", 1], ["info"]):
                with self.subTest(device=device, command=arguments[0]):
                    self.fails("--device cuda: .*CUDA.*", *arguments, "--device", device)
            self.fails("--device cuda: .*CUDA.*", "select", "-", "-k", 1, "--device", device, stdin=b"1\n2\n")

    def test_nothing_is_written(self):
        self.fails("--device cuda: .*", "select", self.file, "-k", 1, "--device", "cuda", "--values",
                   self.path("out.npy"))
        with self.assertRaises(FileNotFoundError):
            self.read("out.npy")

    def test_auto_is_the_cpu(self):
        for device in ([], ["--device", "auto"], ["--device", "cpu"]):
            self.prints("1\t4\n", "select", self.file, "-k", 1, *device)
            self.prints("4\t0\t1\n", "kth", self.file, "-k", 1, *device)
            self.prints("1\t4\n", "where", self.file, "--gt", 3, *device)
            self.prints("0\n1\n0\n0\n", "mask", self.file, "--gt", 3, *device)
            self.assertIn(b"\ndevice    cpu\n", harness.topk("explain", self.file, "-k", 1, *device).out)
            self.assertIn(b"\nchosen    cpu\n", harness.topk("info", *device).out)

    def test_names(self):
        for name in ("", "gpu", "CUDA", "cuda:", "cuda:N", "cuda:-1", "cuda:1.0", "cuda:2147483648", "cpu:0"):
            self.fails("--device: '%s' is none of auto, cpu, cuda, cuda:N" % name, "info", "--device", name, status=2)

    def test_info(self):
        fields = dict(line.split(None, 1) for line in harness.topk("info").out.decode().splitlines())
        self.assertIn("CUDA", fields["cuda"])
        self.assertNotIn("cuda:0", fields)


if __name__ == "__main__":
    harness.main()
