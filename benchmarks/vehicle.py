"""A program of a hundred lines, as an engineer would write it: a car that follows a course, in scalars.

Loops, branches, early returns and calls; nothing is written for the sake of differentiation.
"""

import math

GRAVITY = 9.81
AIR_DENSITY = 1.2


def tyre_force(slip, load, stiffness, friction):
    """The lateral force of a tyre: linear at first, saturated beyond."""
    limit = friction * load
    force = stiffness * slip
    if force > limit:
        return limit
    if force < -limit:
        return -limit
    return force * (1.0 - abs(force) / (3.0 * limit))


def engine_torque(speed, throttle):
    """A torque curve in three pieces."""
    revolutions = 40.0 + 9.0 * speed
    if revolutions < 150.0:
        full = 120.0 + 0.8 * revolutions
    elif revolutions < 400.0:
        full = 240.0 - 1e-3 * (revolutions - 300.0) ** 2
    else:
        full = 230.0 * math.exp(-0.01 * (revolutions - 400.0))
    return throttle * full


def drag(speed, area):
    """What the air and the wheels take."""
    return 0.5 * AIR_DENSITY * 0.3 * area * speed * speed + 120.0


def course(distance):
    """The curvature of the road: a straight, a bend, a chicane."""
    if distance < 20.0:
        return 0.0
    if distance < 60.0:
        return 0.015 * math.sin(math.pi * (distance - 20.0) / 40.0)
    return 0.02 * math.sin(0.15 * (distance - 60.0)) * math.exp(-0.01 * (distance - 60.0))


def steering(offset, heading, speed, gain, damping):
    """A driver who looks ahead; the wheel has a stop."""
    wanted = -gain * offset - damping * heading
    scale = 1.0 / (1.0 + 0.05 * speed)
    angle = wanted * scale
    stop = 0.6
    return stop * math.tanh(angle / stop)


def throttle_for(speed, wanted, eagerness):
    """How far the pedal is pressed, between a light braking and all of it."""
    pedal = eagerness * (wanted - speed)
    return max(-0.5, min(1.0, pedal))


def lap_cost(gain, damping, mass=1200.0, friction=0.9, steps=100):
    """The cost of a drive: deviation from the road, discomfort, and lost time."""
    dt = 0.05
    front, rear = 1.2, 1.5
    wheelbase = front + rear
    inertia = mass * front * rear
    load_front = mass * GRAVITY * rear / wheelbase
    load_rear = mass * GRAVITY * front / wheelbase

    speed, sideways, yaw_rate = 12.0, 0.0, 0.0
    offset, heading, distance = 0.4, 0.05, 0.0
    previous = 0.0
    deviation = discomfort = 0.0

    for step in range(steps):
        curvature = course(distance)
        angle = steering(offset, heading, speed, gain, damping)
        wanted = 22.0 - 300.0 * abs(curvature)
        pedal = throttle_for(speed, wanted, 0.4)

        slip_front = angle - math.atan2(sideways + front * yaw_rate, speed)
        slip_rear = -math.atan2(sideways - rear * yaw_rate, speed)
        force_front = tyre_force(slip_front, load_front, 6.0e4, friction)
        force_rear = tyre_force(slip_rear, load_rear, 7.0e4, friction)
        if pedal >= 0.0:
            push = 9.0 * engine_torque(speed, pedal)
        else:
            push = pedal * friction * mass * GRAVITY

        along = (push - drag(speed, 2.1) - force_front * math.sin(angle)) / mass + sideways * yaw_rate
        across = (force_front * math.cos(angle) + force_rear) / mass - speed * yaw_rate
        turning = (front * force_front * math.cos(angle) - rear * force_rear) / inertia

        speed += dt * along
        sideways += dt * across
        yaw_rate += dt * turning
        forward = speed * math.cos(heading) - sideways * math.sin(heading)
        progress = forward / (1.0 - offset * curvature)
        distance += dt * progress
        offset += dt * (speed * math.sin(heading) + sideways * math.cos(heading))
        heading += dt * (yaw_rate - curvature * progress)

        deviation += dt * (offset * offset + 0.5 * heading * heading)
        if step > 0:
            jerk = (across - previous) / dt
            discomfort += dt * jerk * jerk
        previous = across
        if abs(offset) > 5.0:
            return deviation + 1e-4 * discomfort + 100.0 * (steps - step)

    return deviation + 1e-4 * discomfort - 0.01 * distance
