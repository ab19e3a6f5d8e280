"""Numbers of a corpus by tags of its records."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import pytest

from pytest_jsonmatch import ConfigurationError, compare_corpus

GOLD = [{"id": n, "meta": {"source": "scan" if n % 3 == 0 else "phone"}, "total": n} for n in range(30)]
ANSWERS = [{**record, "total": record["total"] if record["id"] % 4 else -1} for record in GOLD[:29]]
BY_SOURCE = {"source": "meta.source"}


def source_of(record):
    return {"source": record["meta"]["source"], "even": record["total"] % 2 == 0}


def statistics(run):
    return {**run.to_dict(), "by_tag": None, "records": None}


def alone(name, tags):
    """The corpus of the records that have a tag."""
    kept = [record for record in GOLD if tags(record)[name.partition("=")[0]] == name.partition("=")[2]]
    ids = {record["id"] for record in kept}
    return compare_corpus([each for each in ANSWERS if each["id"] in ids], kept, id="id", keep="none")


@pytest.mark.parametrize("tags", [BY_SOURCE, source_of])
@pytest.mark.parametrize("size", [1, 7, 256])
def test_statistics_by_tag_are_those_of_the_records_alone(tags, size):
    run = compare_corpus(ANSWERS, GOLD, id="id", tags=tags, chunk_size=size)
    for name in ("source=phone", "source=scan"):
        one, other = run.by_tag[name], alone(name, source_of)
        for statistic in ("mean_f1", "micro_recall", "total_unanswered"):
            assert getattr(one, statistic) == pytest.approx(getattr(other, statistic))
        assert one.per_field == other.per_field
    assert (run.by_tag["source=phone"].total_records, run.total_unanswered) == (20, 1)


@pytest.mark.parametrize("keep", ["all", "worst"])
def test_all_else_is_as_without_tags(keep):
    options = {"id": "id", "keep": keep, "chunk_size": 7}
    plain, run = (compare_corpus(ANSWERS, GOLD, tags=tags, **options) for tags in (None, BY_SOURCE))
    assert statistics(run) == {**statistics(plain), "by_tag": None}
    assert [each.record_id for each in run.records] == [each.record_id for each in plain.records]
    assert [str(each) for each in run.errors] == [str(each) for each in plain.errors]
    assert {each.tags["source"] for each in run.records} == {"phone", "scan"}
    assert plain.by_tag == {}


def test_in_other_processes_and_merged(tmp_path):
    options = {"id": "id", "tags": source_of}
    whole = compare_corpus(ANSWERS, GOLD, **options).to_dict()["by_tag"]
    with ProcessPoolExecutor(1) as executor:
        run = compare_corpus(ANSWERS, GOLD, **options, executor=executor, chunk_size=7)
    assert run.to_dict()["by_tag"] == whole
    halves = [compare_corpus(ANSWERS[half::2], GOLD[half::2], **options) for half in (0, 1)]
    merged = halves[0].merge(halves[1])
    assert merged.by_tag["source=scan"].mean_f1 == whole["source=scan"]["mean_f1"]
    assert merged.by_tag["even=true"].total_records == 15


def test_a_record_without_the_tag_has_none():
    run = compare_corpus([{"a": 1}, {"a": 2}], [{"a": 1, "from": "x"}, {"a": 2}], tags={"source": "from"})
    assert {tag: part.total_records for tag, part in run.by_tag.items()} == {"source=x": 1}


def test_a_number_that_readers_of_json_may_round_is_kept_as_text():
    gold = [{"no": 2**53 + 1, "size": 2**53}]
    (record,) = compare_corpus(gold, gold, tags={"no": "no", "size": "size"}).records
    assert record.tags == {"no": "9007199254740993", "size": 9007199254740992}


@pytest.mark.parametrize(
    ("tags", "reason"),
    [
        (
            "source",
            "tags must be a function of a gold record, or map names to paths, such as {'source': 'meta.source'}, got 'source'",
        ),
        ({"source": 5}, "tags['source'] must name a column of gold records, got 5"),
        (
            {"source": "meta"},
            "record 0: the tag 'source' must be a string, a number, true, false or null, got an object",
        ),
        (lambda _: None, "record 0: tags must map names to values, such as {'source': 'phone'}, got None"),
        (lambda _: {"a=b": 1}, "record 0: a tag name must be text without an equals sign, got 'a=b'"),
        (
            lambda _: {"a": float("nan")},
            "record 0: the tag 'a' must be a string, a number, true, false or null, got nan",
        ),
    ],
)
def test_what_is_no_tag(tags, reason):
    with pytest.raises(ConfigurationError) as caught:
        compare_corpus(ANSWERS, GOLD, id="id", tags=tags)
    assert str(caught.value).startswith(reason)


def test_an_id_is_no_tag(monkeypatch):
    monkeypatch.setattr("pytest_jsonmatch.corpus.scorer._MAX_TAGS", 1_000)
    with pytest.raises(ConfigurationError, match="more than 1,000 tags; a tag is what many records have"):
        compare_corpus([{"n": 1}] * 1_001, ({"n": n} for n in range(1_001)), tags={"n": "n"})
