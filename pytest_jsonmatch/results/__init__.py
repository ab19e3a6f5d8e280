"""The results of a run, case by case, which gates check, reports show and files keep."""
