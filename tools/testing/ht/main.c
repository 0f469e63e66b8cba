// SPDX-License-Identifier: GPL-2.0
/*
 * Host tests of SCHED_HT: the runner.
 *
 * usage: ht-test [DIR [SUITE...]]
 * DIR holds expected/ and topologies/. Exit status 0: all passed or skipped.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

static const struct {
	const char *name;
	void (*run)(void);
} suites[] = {
	{ "tables", test_tables },
	{ "words", test_words },
	{ "layout", test_layout },
	{ "reads", test_reads },
	{ "validators", test_validators },
	{ "price", test_price },
	{ "random", test_random },
	{ "machine", test_machine },
	{ "sysfs", test_sysfs },
	{ "tree", test_tree },
};

#define NR_SUITES	(sizeof(suites) / sizeof(suites[0]))

const char *test_dir = ".";

static unsigned int passed, failed, skipped;
static char current[256];
static enum { NO_TEST, RUNNING, FAILED, SKIPPED } status;
static const char *suite;

static void test_end(void)
{
	passed += status == RUNNING;
	failed += status == FAILED;
	skipped += status == SKIPPED;
	status = NO_TEST;
}

void test_begin(const char *fmt, ...)
{
	va_list ap;

	test_end();
	status = RUNNING;
	va_start(ap, fmt);
	vsnprintf(current, sizeof(current), fmt, ap);
	va_end(ap);
}

static void say(const char *what, const char *fmt, va_list ap)
{
	printf("%s: %s: %s: ", what, suite, current);
	vprintf(fmt, ap);
	putchar('\n');
}

void test_fail(const char *fmt, ...)
{
	va_list ap;

	status = FAILED;
	va_start(ap, fmt);
	say("FAIL", fmt, ap);
	va_end(ap);
}

void test_skip(const char *fmt, ...)
{
	va_list ap;

	status = SKIPPED;
	va_start(ap, fmt);
	say("SKIP", fmt, ap);
	va_end(ap);
}

char *test_printed(void (*print)(const struct ht_machine *m, FILE *out),
		   const struct ht_machine *m)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	print(m, out);
	fclose(out);
	return text;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 2; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc < 3;
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc > 1)
		test_dir = argv[1];
	for (i = 0; i < NR_SUITES; i++) {
		if (!is_wanted(suites[i].name, argc, argv))
			continue;
		suite = suites[i].name;
		suites[i].run();
		test_end();
	}
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed || !passed;
}
