# SPDX-License-Identifier: GPL-2.0
"""The parts of htbench. host side: cli, machine, results, report; guest side:
agent, rows, columns; pure: stats, columns, table, estimate."""
