/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Host tests of SCHED_HT: what test files share.
 *
 * A test is a name and a verdict. Nothing is printed for one that passes; a
 * failure says what was expected and how to get it again.
 */
#ifndef _TESTING_HT_TEST_H
#define _TESTING_HT_TEST_H

#include <stdbool.h>
#include <stdio.h>

struct ht_error;
struct ht_machine;

/* The kernel's word, for tables that are the kernel's too. */
#define __maybe_unused	__attribute__((unused))

/* Begins a test; the one before it, if any, is counted. */
__attribute__((format(printf, 1, 2)))
void test_begin(const char *fmt, ...);
/* The present test fails; it may go on and fail again. */
__attribute__((format(printf, 1, 2)))
void test_fail(const char *fmt, ...);
/* The present test cannot run here. */
__attribute__((format(printf, 1, 2)))
void test_skip(const char *why, ...);

#define CHECK(cond, ...)			\
	({					\
		bool ok_ = (cond);		\
						\
		if (!ok_)			\
			test_fail(__VA_ARGS__);	\
		ok_;				\
	})

#define CHECK_STR(got, want) \
	CHECK(strcmp(got, want) == 0, "got \"%s\", expected \"%s\"", got, want)

/* What @print writes about @m, in an allocated string. */
char *test_printed(void (*print)(const struct ht_machine *m, FILE *out),
		   const struct ht_machine *m);
/* Checks that @m, if it could be read, is described as @want; frees it. */
void test_description(struct ht_machine *m, const struct ht_error *err,
		      const char *want);

/* Where expected/ and topologies/ are, without a slash at the end. */
extern const char *test_dir;

void test_tables(void);
void test_words(void);
void test_layout(void);
void test_reads(void);
void test_validators(void);
void test_price(void);
void test_random(void);
void test_machine(void);
void test_sysfs(void);
void test_tree(void);

#endif /* _TESTING_HT_TEST_H */
