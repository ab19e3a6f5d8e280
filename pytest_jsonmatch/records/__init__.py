"""Data as records: files in any form, lists, functions and data frames, by column, in pairs."""
