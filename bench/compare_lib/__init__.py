"""The parts of bench/compare: Python 3.11, standard library only."""
