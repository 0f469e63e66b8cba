// SPDX-License-Identifier: GPL-2.0
/* Marks a place in a shell script for the emulator: smtvm-mark TEXT */
#include <stdio.h>

#include "smtvm_mark.h"

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: smtvm-mark TEXT\n");
		return 2;
	}
	smtvm_mark(argv[1]);
	return 0;
}
