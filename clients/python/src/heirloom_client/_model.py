"""Base of the generated response types, and their decoder."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cache, lru_cache
from typing import Any, Literal, TypeVar, Union, cast

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Model:
    """Base of all response types. Fields that this version does not know are in `extra`, because answers may grow."""

    extra: dict[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)


class DecodeError(ValueError):
    """A value has another type than the API description says."""


def decode(kind: type[T], value: object) -> T:
    """Decodes a JSON value as an instance of `kind`."""
    return cast(T, _decoder(kind)(value))


Decoder = Callable[[object], object]


@cache
def _decoder(kind: Any) -> Decoder:
    origin = typing.get_origin(kind)
    arguments = typing.get_args(kind)
    if kind is Any or kind is object or origin is Literal:
        return lambda value: value
    if origin is Union or origin is types.UnionType:
        return _decode_optional([_decoder(each) for each in arguments if each is not type(None)])
    if origin is list:
        return _decode_list(_decoder(arguments[0]))
    if origin is dict:
        return _decode_dict(_decoder(arguments[1]))
    if dataclasses.is_dataclass(kind):
        return _decode_model(cast(type[Any], kind))
    if kind is datetime:
        return _decode_time
    return _decode_plain(cast(type[Any], kind))


def _decode_optional(decoders: list[Decoder]) -> Decoder:
    def decode_value(value: object) -> object:
        if value is None:
            return None
        for decoder in decoders[:-1]:
            try:
                return decoder(value)
            except DecodeError:
                continue
        return decoders[-1](value)

    return decode_value


def _decode_list(decoder: Decoder) -> Decoder:
    def decode_value(value: object) -> object:
        if not isinstance(value, list):
            raise DecodeError(f"expected a list, got {type(value).__name__}")
        return [decoder(item) for item in cast(list[object], value)]

    return decode_value


def _decode_dict(decoder: Decoder) -> Decoder:
    def decode_value(value: object) -> object:
        if not isinstance(value, dict):
            raise DecodeError(f"expected an object, got {type(value).__name__}")
        return {name: decoder(item) for name, item in cast(dict[str, object], value).items()}

    return decode_value


def _decode_model(kind: type[Any]) -> Decoder:
    # Resolved on first use: the module of a model may not be complete yet.
    @lru_cache(maxsize=1)
    def field_decoders() -> tuple[dict[str, Decoder], list[str]]:
        hints = typing.get_type_hints(kind)
        fields = [each for each in dataclasses.fields(kind) if each.name != "extra"]
        required = [each.name for each in fields if each.default is dataclasses.MISSING]
        return {each.name: _decoder(hints[each.name]) for each in fields}, required

    def decode_value(value: object) -> object:
        if not isinstance(value, dict):
            raise DecodeError(f"expected an object for {kind.__name__}, got {type(value).__name__}")
        decoders, required = field_decoders()
        known: dict[str, object] = {}
        extra: dict[str, object] = {}
        for name, item in cast(dict[str, object], value).items():
            if name not in decoders:
                extra[name] = item
                continue
            try:
                known[name] = decoders[name](item)
            except DecodeError as error:
                raise DecodeError(f"{kind.__name__}.{name}: {error}") from None
        missing = [name for name in required if name not in known]
        if missing:
            raise DecodeError(f"{kind.__name__} without {', '.join(missing)}")
        return kind(**known, extra=extra)

    return decode_value


def _decode_time(value: object) -> object:
    if not isinstance(value, str):
        raise DecodeError(f"expected a time, got {type(value).__name__}")
    # `fromisoformat` of Python 3.10 takes neither `Z` nor other numbers of digits than 3 and 6.
    text = re.sub(r"\.(\d+)", lambda match: "." + match[1][:6].ljust(6, "0"), value.replace("Z", "+00:00"))
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise DecodeError(f"no time: {value}") from None
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


def _decode_plain(kind: type[Any]) -> Decoder:
    def decode_value(value: object) -> object:
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise DecodeError(f"expected {kind.__name__}, got {type(value).__name__}")
        return value

    return decode_value
