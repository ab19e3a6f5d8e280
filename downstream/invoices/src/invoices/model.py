"""A stand-in for a language model: it finds `name: value` lines, and answers with prose around JSON."""

from __future__ import annotations

import asyncio
import json
import re


class OverloadedError(Exception):
    """The model is busy."""


async def complete(letter: str) -> str:
    """Return an answer as a model writes it."""
    await asyncio.sleep(0)
    fields = dict(re.findall(r"^(\w+): (.+)$", letter, re.MULTILINE))
    lines = [
        {"text": text, "amount": float(amount)}
        for text, amount in re.findall(r"^- (.+?), (\d+\.\d\d)$", letter, re.MULTILINE)
    ]
    answer = {**fields, "lines": lines, "total": round(sum(line["amount"] for line in lines), 2)}
    return f"Sure! Here is the invoice:\n\n```json\n{json.dumps(answer, indent=2)}\n```\n"
