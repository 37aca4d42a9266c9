/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPK_CLI_PATH_H
#define TOPK_CLI_PATH_H

/* Where the symbolic links at the end of a path lead, whether there is a file or not. The caller releases it.
 */
char *path_follow(const char *path);

#endif /* TOPK_CLI_PATH_H */
