"""The program whose derivative the demonstration shows: short, with a loop and a branch."""


def cooling(rate: float, minutes: int) -> float:
    heat = 70.0
    for minute in range(minutes):
        loss = rate * heat
        if heat > 40.0:
            loss += 0.001 * (heat - 40.0) ** 2
        heat -= loss
    return heat
