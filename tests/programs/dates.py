"""Dates and spans of time, of which numbers are made."""

import datetime

from programs.registry import program

DAYS = [datetime.date(2020, 1, 1), datetime.date(2020, 7, 1), datetime.date(2021, 1, 1)]


@program(0.05)
def value_of_dated_flows(rate):
    first = DAYS[0]
    return sum(flow / (1 + rate) ** ((day - first).days / 365.0) for flow, day in zip([-100.0, 60.0, 60.0], DAYS))


@program(0.05, [-100.0, 60.0, 60.0], DAYS)
def value_of_dated_flows_given(rate, flows, days):
    return sum(flow / (1 + rate) ** ((day - days[0]).days / 365.0) for flow, day in zip(flows, days))


@program(2.0)
def seconds_between(x):
    span = datetime.datetime(2020, 3, 1, 12) - datetime.datetime(2020, 1, 1)
    return x * span.total_seconds() / 86400 + x**2 * span.days


@program(2.0)
def day_after_day(x):
    day, total = datetime.date(2020, 1, 1), 0.0
    for _ in range(3):
        day = day + datetime.timedelta(days=30)
        total += x**day.month * (day.weekday() + 1)
    return total


@program(2.0)
def parts_of_a_day(x):
    hour, day = datetime.timedelta(hours=1), datetime.timedelta(days=1)
    weight = 2.0 if day > hour else 3.0
    return x * (day / hour) + x**2 * (day // hour) * (hour * 3).seconds * weight
