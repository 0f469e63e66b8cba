class CalibrateError(Exception): pass
def add_arguments(v): pass
def run(o): pass
