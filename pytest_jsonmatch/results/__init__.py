"""Results of a whole run, case by case: what gates judge, reports show and files keep."""
