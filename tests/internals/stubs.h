/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_STUBS_H
#define TEST_STUBS_H

/* Runs the checks and returns main's status. Needs the instruction set that it is compiled for. */
int check_stubs(void);

#endif
