/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SMTVM_PATCH_H
#define SMTVM_PATCH_H

/* Makes the function at @from jump to @to. 0, or -1 with errno. */
int smtvm_replace(void *from, const void *to);

#endif
