"""Types of elements, by name: which ones a function accepts, and which one its result has."""

from __future__ import annotations

FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})
SIGNED = frozenset({"int8", "int16", "int32", "int64"})
UNSIGNED = frozenset({"uint8", "uint16", "uint32", "uint64"})
EVERY = FLOATS | SIGNED | UNSIGNED | {"bool"}

_WIDER = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}


def expect(function: str, dtype: str, accepted: frozenset[str]) -> None:
    """Fails unless a function accepts elements of this type."""
    if dtype not in accepted:
        names = ", ".join(sorted(accepted))
        raise TypeError(f"{function} does not accept elements of {dtype}: convert them to one of {names}")


def wide(dtype: str) -> str:
    """The type of 32 bits or more in which elements are combined."""
    return _WIDER.get(dtype, dtype)


def summed(dtype: str) -> str:
    """The type of a sum or product."""
    if dtype in FLOATS:
        return dtype
    return "uint64" if dtype in UNSIGNED else "int64"


def real(dtype: str) -> str:
    """The type of a mean."""
    return dtype if dtype in FLOATS else "float64"


def full(dtype: str) -> str:
    """The type of 32 bits or more to which elements are converted if no kernel reads shorter ones."""
    return "float32" if dtype in ("float16", "bfloat16") else wide(dtype)


def scanned(op: str, dtype: str) -> str:
    """The type of the results of a scan of elements of a full type."""
    return summed(dtype) if op in ("sum", "prod") else dtype
