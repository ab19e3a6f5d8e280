"""Results in a notebook."""

from __future__ import annotations

import sys
from html.parser import HTMLParser

import pytest

from pytest_jsonmatch import ConfigurationError, compare_corpus, compare_json

EXPECTED = {"shop": "Corner Bakery", "items": [{"price": 4.2}], "total": None}
ACTUAL = {
    "shop": "<script>alert(1)</script>\u202e\x1b[31m",
    "items": [{"price": 4.2}],
    "tip": [1],
    "<b>\u202e": 1,
}
RESULT = compare_json(ACTUAL, EXPECTED, metric="pairwise_f1")
RUN = compare_corpus([ACTUAL, EXPECTED], [EXPECTED, EXPECTED], metric="pairwise_f1")


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text.append(data)


def read(html):
    reader = Reader()
    reader.feed(html)
    return reader


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_leaves_as_a_data_frame(library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    frame = RESULT.to_dataframe(library)
    assert type(frame).__module__.partition(".")[0] == library
    assert list(frame["path"]) == [field.path for field in RESULT.field_results]
    assert list(frame["status"]) == [field.status for field in RESULT.field_results]
    assert list(frame["score"]) == [field.score for field in RESULT.field_results]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_fields_of_a_corpus_as_a_data_frame(library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    frame = RUN.to_dataframe(library)
    assert dict(zip(frame["path"], frame["matches"], strict=True))["shop"] == 1
    assert len(frame) == len(RUN.per_field)


def test_values_keep_their_types_in_pandas():
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = RESULT.to_dataframe("pandas")
    expected = dict(zip(frame["path"], frame["expected"], strict=True))
    assert expected["items[].price"] == 4.2
    assert expected["shop"] == "Corner Bakery"


def test_what_is_imported_goes_first(monkeypatch):
    class Frame(dict):
        pass

    fake = type(sys)("polars")
    fake.DataFrame = lambda columns, strict: Frame(columns)
    monkeypatch.setitem(sys.modules, "polars", fake)
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    assert type(RESULT.to_dataframe()) is Frame
    # A column with values of several types is text, as JSON.
    assert set(map(type, RESULT.to_dataframe()["expected"])) == {str, type(None)}


def test_neither_is_installed(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("pytest_jsonmatch.engine.result.notebook.import_module", missing)
    with pytest.raises(ConfigurationError, match="to_dataframe needs pandas or polars: pip install pandas"):
        RUN.to_dataframe()
    with pytest.raises(ConfigurationError, match="to_dataframe needs polars: pip install polars"):
        RUN.to_dataframe("polars")


def test_a_library_that_is_none():
    with pytest.raises(ConfigurationError, match="library must be one of pandas, polars; got 'dask'"):
        RESULT.to_dataframe("dask")


@pytest.mark.parametrize(
    ("result", "head"), [(RESULT, "pairwise_f1: score "), (RUN, "pairwise_f1: 2 records, mean F1 ")]
)
def test_a_notebook_shows_the_figures_by_field(result, head):
    html = result._repr_html_()
    reader = read(html)
    assert set(reader.tags) == {"div", "p", "table", "thead", "tbody", "tr", "th", "td"}
    assert reader.text[0].startswith(head)
    shown = {path.replace("\u202e", "\\u202e") for path in result.per_field}
    assert '["<b>\\u202e"]' in shown < set(reader.text)
    assert html.isprintable()


def test_long_tables_are_cut():
    wide = {f"f{number}": number for number in range(80)}
    reader = read(compare_json({}, wide, metric="pairwise_f1")._repr_html_())
    assert reader.tags.count("tr") == 1 + 50
    assert reader.text[-1] == "and 30 more"


def test_no_table_if_there_is_nothing_to_compare():
    assert read(compare_json({}, {}, metric="pairwise_f1")._repr_html_()).tags == ["div", "p"]
