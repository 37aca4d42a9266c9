#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Two machines on one: network namespaces with a name each, joined by a pair of virtual interfaces. Ranks of one share
memory; ranks of two have TCP alone. Runs a program there, half of the ranks in each. Skipped where the system
does not let this user make such namespaces.

usage: namespaces.py RANKS MPIRUN PROGRAM ARGUMENT...
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
LIMIT_S = 120
NET = "10.213.7"  # nobody else is in these namespaces
# Of Open MPI, on both machines: processors are shared, and whatever the environment says ranks may use TCP.
PARAMETERS = {"plm_rsh_no_tree_spawn": "1", "btl": "self,vader,tcp", "btl_tcp_if_include": f"{NET}.0/24",
              "oob_tcp_if_include": f"{NET}.0/24"}


def call(*command):
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise OSError(f"{' '.join(command)}: {(run.stderr or run.stdout).strip()}")


def join(names):
    """Makes the namespaces, and one network of them."""
    for name in names:
        call("ip", "netns", "add", name)
    call("ip", "link", "add", "veth0", "netns", names[0], "type", "veth", "peer", "name", "veth0", "netns", names[1])
    for number, name in enumerate(names):
        call("ip", "-n", name, "address", "add", f"{NET}.{number + 1}/24", "dev", "veth0")
        call("ip", "-n", name, "link", "set", "lo", "up")
        call("ip", "-n", name, "link", "set", "veth0", "up")
        call("ip", "netns", "exec", name, "unshare", "--uts", "hostname", name)


def launch(names, ranks, mpirun, program, folder):
    """mpirun on the first machine; what it takes for a remote shell enters the other one."""
    shell = pathlib.Path(folder) / "enter"
    shell.write_text('#!/bin/sh\nname=$1\nshift\nexec ip netns exec "$name" unshare --uts sh -c "hostname $name; $*"\n')
    shell.chmod(0o700)
    parameters = [word for name, value in PARAMETERS.items() for word in ("--mca", name, value)]
    half = f"{ranks // 2}"
    command = [mpirun, "--host", f"{names[0]}:{half},{names[1]}:{half}", "--mca", "plm_rsh_agent", shell, *parameters,
               "-n", f"{ranks}", *program]
    return subprocess.run(["ip", "netns", "exec", names[0], "unshare", "--uts", "sh", "-c",
                           f'hostname {names[0]}; exec "$@"', "sh", *command], stdin=subprocess.DEVNULL,
                          timeout=LIMIT_S, check=False, env={name: value for name, value in os.environ.items()
                                                             if name != "OMPI_MCA_btl"}).returncode


def main():
    ranks, mpirun, *program = sys.argv[1:]
    names = [f"topk-{os.getpid()}-{number}" for number in range(2)]
    for tool in ("ip", "unshare", "hostname"):
        if shutil.which(tool) is None:
            print(f"skipped: no {tool} here")
            return SKIPPED
    try:
        try:
            join(names)
        except OSError as error:
            print(f"skipped: {error}")
            return SKIPPED
        with tempfile.TemporaryDirectory() as folder:
            return launch(names, int(ranks), mpirun, program, folder)
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL, check=False)


sys.exit(main())
