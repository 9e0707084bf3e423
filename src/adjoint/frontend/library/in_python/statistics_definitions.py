"""The meaning of functions of `statistics` in Python that is differentiated."""

from __future__ import annotations

import math
import statistics
from typing import Any


def mean(data: Any) -> Any:
    items = list(data)
    if len(items) < 1:
        raise statistics.StatisticsError("mean requires at least one data point")
    return math.fsum(items) / len(items)


def fmean(data: Any) -> Any:
    items = list(data)
    if len(items) < 1:
        raise statistics.StatisticsError("fmean requires at least one data point")
    return math.fsum(items) / len(items)


def harmonic_mean(data: Any) -> Any:
    items = list(data)
    if len(items) < 1:
        raise statistics.StatisticsError("harmonic_mean requires at least one data point")
    for item in items:
        if item < 0:
            raise statistics.StatisticsError("harmonic mean does not support negative values")
    zeros = [item for item in items if item == 0]
    if len(zeros) > 0:
        return len(items) * math.fsum(zeros) / len(zeros) ** 2
    return len(items) / math.fsum([1 / item for item in items])


def variance(data: Any) -> Any:
    items = list(data)
    if len(items) < 2:
        raise statistics.StatisticsError("variance requires at least two data points")
    middle = math.fsum(items) / len(items)
    return math.fsum([(item - middle) ** 2 for item in items]) / (len(items) - 1)


def pvariance(data: Any) -> Any:
    items = list(data)
    if len(items) < 1:
        raise statistics.StatisticsError("pvariance requires at least one data point")
    middle = math.fsum(items) / len(items)
    return math.fsum([(item - middle) ** 2 for item in items]) / len(items)


def stdev(data: Any) -> Any:
    return math.sqrt(variance(data))


def pstdev(data: Any) -> Any:
    return math.sqrt(pvariance(data))
