/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin of QEMU that prints how many instructions a program has executed, of whatever architecture. Debian
 * has no header of that interface, of which version 1 is meant. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

struct qemu_plugin_tb; /* a block of instructions, executed from the first to the last */

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t plugin,
                                           void (*translated)(uint64_t, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation, void *counter,
                                              uint64_t number);
void qemu_plugin_register_atexit_cb(uint64_t plugin, void (*ended)(uint64_t, void *), void *argument);

enum { ADD = 0 }; /* the operation that adds to a counter */

static uint64_t executed;

static void translated(uint64_t plugin, struct qemu_plugin_tb *block) {
    (void)plugin;
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD, &executed, qemu_plugin_tb_n_insns(block));
}

static void ended(uint64_t plugin, void *argument) {
    (void)plugin, (void)argument;
    (void)fprintf(stderr, "%" PRIu64 " instructions\n", executed);
}

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t plugin, const void *host, int count,
                                                               char **arguments);

int qemu_plugin_install(uint64_t plugin, const void *host, int count, char **arguments) {
    (void)host, (void)count, (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated);
    qemu_plugin_register_atexit_cb(plugin, ended, NULL);
    return 0;
}
