# SPDX-License-Identifier: Apache-2.0
"""Writes the seed inputs of each fuzzer to FOLDER/NAME, and empties FOLDER/NAME.found for its finds.

usage: make_seeds.py FOLDER"""

import io
import os
import shutil
import struct
import sys
import zipfile


def npy(text, version=1, body=b"\0" * 48):
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + body


def state(number, payload, row_counts, of_position=lambda i: 3 * i):
    """Bytes of problem `number` of fuzz_state.c, as docs/state.md says."""
    type_, element = ((3, 4), (11, 1), (4, 8), (2, 2))[number % 4]
    rows, k_max, index = 1 + number % 3, 0 if number == 7 else 1 + number, 4 if number < 4 else 8
    counts = [min(count, k_max) for count in row_counts[:rows]]
    table = b"".join(struct.pack("<qq", k_max, count) for count in counts)
    positions = b"".join(struct.pack("<q", of_position(i) if i < count else 0)
                         for count in counts for i in range(k_max))
    indices = b"".join((7 * i if payload == 2 and i < count else 0).to_bytes(index, "little")
                       for count in counts for i in range(k_max))
    values = b"".join((i + 1 if i < count else 0).to_bytes(element, "little") for count in counts for i in range(k_max))
    body = table + positions + indices + values
    header = struct.pack("<8sIIQ6IqqqQ", b"topk-acc", 1, 0x01020304, 80 + len(body), type_, number >= 4, 0, 0, 0, 0,
                         rows, k_max, number % 2, payload)
    return bytes([number]) + header + body


def npz(names, comment=b""):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.comment = comment
        for name in names:
            with archive.open(name, "w", force_zip64=True) as member:
                member.write(npy(HEADER % ("<f4", False, "(3, 4)")))
    return file.getvalue()


def safetensors(header):
    return struct.pack("<Q", len(header)) + header + b"\0" * 12


HEADER = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n"
NUMBERS = [b"0", b"-1", b"+12.5", b"1e10", b".5", b"5.", b"-0.0", b"1e-400", b"1e400", b"9007199254740993",
           b"18446744073709551615", b"-9223372036854775808", b"123456789012345678901234567890", b"inf", b"-Infinity",
           b"NaN", b"1.00000000000000011102230246251565404236316680908203125", b"2.2250738585072011e-308", b"x",
           b"17976931348623157" + b"0" * 292, b"0." + b"0" * 330 + b"49406564584124654"]
SEEDS = {
    "npy": [npy(HEADER % ("<f4", False, "(3, 4)")), npy(HEADER % ("|u1", False, "(48,)"), 2),
            npy(HEADER % ("<V2", False, "(24,)"), 3), npy(HEADER % (">f8", True, "()"), body=bytes(range(8))),
            npy(HEADER % (">f4", True, "(3, 4)"), body=bytes(range(48))),
            npy(HEADER % ("|b1", True, "(2, 3, 4)"), body=bytes(range(24))),
            npy(HEADER % ("<i2", False, "(2, 1, 3, 2)"), body=bytes(range(24))), b"\x93NUMPY\x01\x00\xff\xff",
            npy('{"shape": (0,), "fortran_order": False, "descr": "<i8"}')],
    "members": [npz(["a.npy"]), npz(["a.npy", "b.npy"], b"PK\5\6"), npz([]), safetensors(b"{}"),
                safetensors(b'{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}'),
                safetensors(b'{"__metadata__":{"x":"y"},"b":{"shape":[],"data_offsets":[3,4],"dtype":"U8"},'
                            b'"a": {"dtype": "I64", "shape": [0, 2], "data_offsets": [4, 4]}} ')],
    "vecs": [b"", struct.pack("<iff", 2, 1, 2) * 3, struct.pack("<iBBBB", 4, 1, 2, 3, 4) * 2, struct.pack("<i", -1),
             struct.pack("<iff", 2, 1, 2) + struct.pack("<iff", 1, 1, 2)],
    "number": NUMBERS,
    "values": NUMBERS + [b"float32", b"bf16", b"float8_e4m3fn", b"1000", b"-5"],
    "tuning": [b"", b"alpha=64,early_stop=0", b"alpha=-9223372036854775808", b"alpha=9223372036854775808", b"a=1,,b=2",
               b"=4", b"alpha", b"alpha=4x", b"alpha=4,alpha=4", b"early_stop=2,", b"digit_bits=11,alpha=007",
               b",".join(b"%c=%d" % (97 + i, i) for i in range(17)), b"alpha=" + b"0" * 249, b"alpha=" + b"0" * 250],
    "state": [*(state(number, payload, [payload * 2] * 3) for number in range(8) for payload in range(3)),
              state(0, 1, [1], lambda i: 2**31 - 2), state(4, 1, [3, 3], lambda i: 2**63 - 9 + i),
              state(1, 2, [2, 0])[:-1], state(2, 1, [3, 3, 3], lambda i: 5), state(5, 0, [0, 0, 0]) + b"\0"],
    "lines": [b"\0\0\0\5" + b"\n".join(NUMBERS[:8]), b"\0\1\n\00020\t/var\n4096 /usr\n", b"\1\2,\3a,5,b\r\n,-6\n",
              b"\2\3 \x09a b 7\n c  d\t8 e", b"\0\2-\x001-2-3\n--4\n", b"\0\0\0\0\n", b"\0\1e\0002e9\n1e99\n",
              b"\0\x42,\5\"a\"\"\n,\",5\n\"b\",\"6\"\n", b"\0\x81\0\0001.5K\n2MiB x\n3kB\n",
              b"\0\x22\0\4a\n5\x00b 6\r\0", b"\0\x11\0\x009007199254740993 a\n1\n",
              b"\x81\2;\4a;1,5;b\nb; -2,5e3\n", b"\x81\0\0\0,5\n9007199254740993,5\n1.5\n",
              b"\0\3;\x40" + b"some longer field;another one which is long;7;x\n" * 4],
}

for name, seeds in SEEDS.items():
    for folder in (name, name + ".found"):
        path = os.path.join(sys.argv[1], folder)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
    for i, seed in enumerate(seeds):
        with open(os.path.join(sys.argv[1], name, str(i)), "wb") as file:
            file.write(seed)
