# SPDX-License-Identifier: GPL-2.0
"""Programs of scripts/ as modules: what is written there is not written twice."""

import functools
import importlib.machinery
import importlib.util
import os
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]


@functools.cache
def script(name):
    """scripts/NAME as a module, whatever its name ends in."""
    path = TOP / "scripts" / name
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_").split(".")[0],
                                                  os.fspath(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module
