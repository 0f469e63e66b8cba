-- SPDX-License-Identifier: GPL-2.0
-- One row, and 2 ms of waiting in the server in place of a disk's answer.
\set aid random(1, 100000 * :scale)
SELECT pg_sleep(0.002);
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
