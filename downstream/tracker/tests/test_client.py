"""The client against a real server: expected values are models, dicts and plain texts."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest
from tracker import Issue, TrackerError

from pytest_jsonmatch import assert_json_match

OPENED = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
LOGIN = Issue(
    number=1,
    title="Login fails",
    web_url="https://tracker.example/1",
    opened_at=OPENED,
    due_on=date(2026, 2, 14),
    time_spent=timedelta(minutes=90),
    labels=["bug", "login"],
)

DARK_MODE = {
    "number": 3,
    "title": "Dark mode",
    "webUrl": "https://tracker.example/3",
    "openedAt": "2026-01-31T12:00:00Z",
    "dueOn": None,
    "timeSpent": "PT0S",
    "labels": ["idea"],
}


def failure(actual, expected, **options):
    with pytest.raises(AssertionError) as caught:
        assert_json_match(actual, expected, **options)
    return str(caught.value).splitlines()


def test_the_service_is_healthy(client):
    assert_json_match(client.health(), "ok")


def test_an_issue_is_the_model(client):
    assert_json_match(client.issue(1), LOGIN)
    assert_json_match(client.raw_issue(1), LOGIN, schema=Issue, validate="require")


@pytest.mark.parametrize(("number", "title"), [(1, "Login fails"), (3, "Dark mode")])
def test_a_title_is_a_text(client, number, title):
    assert_json_match(client.issue(number).title, title)


def test_all_pages_are_read(client, server):
    titles = [issue.title for issue in client.issues()]
    assert_json_match(titles, ["Login fails", "Slow search", "Dark mode"])
    assert_json_match(
        server.requests,
        [{"method": "GET", "path": "/issues?page=1"}, {"method": "GET", "path": "/issues?page=2"}],
    )


def test_issues_of_a_label(client):
    found = [issue.model_dump(mode="json", by_alias=True) for issue in client.issues(label="bug")]
    assert_json_match(found, [LOGIN, {"number": 2, "labels": ["bug"]}], extra="elements")


def test_an_opened_issue_is_sent_and_returned(client, server):
    issue = client.open_issue("Typo", {"docs", "easy"})
    assert_json_match(server.requests[-1]["body"], {"title": "Typo", "labels": ["docs", "easy"]})
    expected = Issue(
        number=4, title="Typo", web_url="https://tracker.example/4", opened_at=OPENED, labels=["docs", "easy"]
    )
    assert_json_match(issue, expected)


def test_refusals_have_texts(client):
    with pytest.raises(TrackerError) as caught:
        client.open_issue("")
    assert_json_match(caught.value.message, "title is empty")
    with pytest.raises(TrackerError) as caught:
        client.issue(7)
    assert_json_match(
        {"status": caught.value.status, "message": str(caught.value)},
        {
            "status": 404,
            "message": "404: not found",
        },
    )


# -- what a developer of the client reads when the service changes -----------------------------------------


def test_a_new_member_may_be_ignored(client, server):
    server.issues[2]["pinned"] = False
    lines = failure(client.raw_issue(3), DARK_MODE)
    assert lines[0] == "pinned (nothing) → false (leaf_f1 0.93 < 1.00)"
    assert '     extra="ignore"' in lines
    assert_json_match(client.raw_issue(3), DARK_MODE, extra="ignore")


def test_a_renamed_member_is_named(client, server):
    server.issues[2]["name"] = server.issues[2].pop("title")
    assert failure(client.raw_issue(3), DARK_MODE)[0] == "title: renamed to name? (leaf_f1 0.86 < 1.00)"


def test_another_order_has_a_rule(client, server):
    server.issues[2]["labels"] = ["ui", "idea"]
    expected = {**DARK_MODE, "labels": ["idea", "ui"]}
    lines = failure(client.raw_issue(3), expected)
    assert lines[0] == "labels: the same elements in another order (leaf_f1 0.75 < 1.00)"
    assert '     fields={"labels": {"align": "unordered"}}' in lines
    assert_json_match(client.raw_issue(3), expected, fields={"labels": {"align": "unordered"}})


def test_a_title_in_another_case_has_a_rule(client, server):
    server.issues[2]["title"] = "Dark Mode"
    lines = failure(client.raw_issue(3)["title"], "Dark mode")
    assert lines[0] == '$ "Dark mode" → "Dark Mode" (leaf_f1 0.00 < 1.00)'
    assert_json_match(client.raw_issue(3)["title"], "Dark mode", fields={"$": {"transform": ["casefold"]}})
    assert '     fields={"$": {"transform": ["casefold"]}}' in lines


@pytest.mark.parametrize("number", [1, 3])
def test_a_response_is_the_saved_one(client, number, expected_json):
    assert_json_match(client.raw_issue(number), expected_json)
