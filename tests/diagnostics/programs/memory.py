"""Writes of which the derivative would be lost."""

import array
import collections
import io

import adjoint as ad
import numpy as np

best = 0.0
BUFFER = np.zeros(3)
BYTES = io.BytesIO()


#: ad.grad(assigned_in_a_derivative_inside)(2.0)
def assigned_in_a_derivative_inside(x):
    def energy(y):
        global best
        best = y * y
        return best * y

    return ad.grad(energy)(x) * best  # error[AD0302]: the function that is differentiated here changes a variable or object from outside


#: ad.grad(shuffled)(np.ones(3), np.random.default_rng(0))
def shuffled(x, rng):
    rng.shuffle(x)  # error[AD0303]: 'shuffle' is handed memory that varies, and may write it
    return x[0]


#: ad.grad(grows_backwards)(2.0, 4)
def grows_backwards(x, n):
    items = [x * i for i in range(n)]
    total = 0.0
    for item in reversed(items):
        if item > x:
            items.append(item * x)  # error[AD0306]: a loop around runs through what is changed here
        total += item
    return total


#: ad.grad(dict_grows)({"a": 1.0, "b": 2.0})
def dict_grows(table):
    total = 0.0
    for key in table:
        table[key + "!"] = 2.0  # error[AD0306]: a loop around runs through what is changed here
        total += table[key]
    return total


#: ad.grad(put_on_typed_array)(2.0)
def put_on_typed_array(x):
    table = array.array("d")
    table.append(x * x)  # error[AD0307]: 'append' belongs to an object that is not looked into, and may store what it is handed
    return table[0] * x


#: ad.value_and_grad(hands_out_a_deque, has_aux=True)(2.0)  # error[AD0301]: a 'deque' that is made inside the function is handed out
def hands_out_a_deque(x):
    queue = collections.deque([x])
    return x * x, queue


#: ad.grad(stored_in_set)(2.0)
def stored_in_set(x):
    return sum({x, x * 2})  # error[AD0307]: what varies is put into a set here


#: ad.grad(float_into_integers)(2.0)
def float_into_integers(x):
    y = np.array([0, 0, 0])
    y[0] = x * x  # error[AD0408]: a float is stored into an array of int64, which cuts it off
    return y.sum() * x


#: ad.grad(float_into_integers_in_place)(2.0)
def float_into_integers_in_place(x):
    y = np.arange(3)
    y += x  # error[AD0213]: an array of int64 cannot take floats in place
    return y.sum() * x


#: ad.grad(overlapping, wrt=(0, 1))(*[BUFFER, BUFFER])  # error[AD0303]: arguments 0 and 1 share memory, and the function writes one
def overlapping(x, out):
    for i in range(3):
        out[i] = x[i] * 2.0
    return out.sum()


#: ad.grad(unknown_kind_in_place)(2.0, 3)
def unknown_kind_in_place(x, n):
    total = 0.0
    for i in range(n):
        total = total + x * np.ones(2) if i else x
    before = total
    total *= 2.0  # error[AD0401]: in this call 'total' is an array, which something else may have, too; a number was expected
    return np.sum(total * before)


#: ad.grad(sums_of_what_changes)([1.0, 2.0])
def sums_of_what_changes(values):
    own = [value * value for value in values]
    for total, i in zip(map(abs, own), (v * 2 for v in own)):  # error[AD0305]: what the items are computed from changes while they are gone through
        own[1] = total + i
    return own[1]


#: ad.grad(generator_argument)(i * 1.0 for i in range(3))
def generator_argument(values):  # error[AD0305]: argument 0 is an iterator of class 'generator'
    return sum(values)


#: ad.grad(iterator_argument)(iter([1.0, 2.0]))
def iterator_argument(values):  # error[AD0305]: argument 0 is an iterator of class 'list_iterator'
    total = 0.0
    for value in values:
        total += value
    return total


#: ad.grad(table_of_a_row)(np.ones(3))
def table_of_a_row(x):
    row = x * x
    table = np.broadcast_to(row, (3, 3))  # error[AD0303]: this is a view that is followed as a value only, and the array is written later
    row[0] = 2.0
    return table.sum()


#: ad.grad(windows_of_a_signal)(np.ones(5))
def windows_of_a_signal(x):
    signal = x * x
    windows = np.lib.stride_tricks.sliding_window_view(signal, 2)  # error[AD0303]: this is a view that is followed as a value only, and the array is written later
    signal *= 2.0
    return windows.sum()


#: ad.grad(shuffled_copy)(np.ones(3), np.random.default_rng(0))
def shuffled_copy(x, rng):
    y = x.copy()
    rng.shuffle(y)  # error[AD0303]: 'shuffle' is handed memory that varies, and may write it
    return y[0] * 2.0


#: ad.grad(written_by_an_unknown_method)(np.ones(3))
def written_by_an_unknown_method(x):
    y = x.copy()
    y.byteswap(True)  # error[AD0303]: 'byteswap' is handed memory that varies, and may write it
    return y[0] * 2.0


#: ad.grad(view_by_another_type)(np.ones(4))
def view_by_another_type(x):
    y = x.copy()
    z = y.view(np.int64)  # error[AD0303]: 'view' takes the memory of an array that varies for something else
    z[0] = 2.0
    return y.sum()


#: ad.grad(shape_assigned)(np.ones(4))
def shape_assigned(x):
    y = [x.copy()]
    y[0].shape = (2, 2)  # error[AD0303]: the attribute 'shape' of an array is assigned
    return y[0][0].sum()


#: ad.grad(strides_made_up)(np.ones(4))
def strides_made_up(x):
    y = x * x
    pairs = np.lib.stride_tricks.as_strided(y, (2, 2), (8, 8))  # error[AD0303]: this is a view that is followed as a value only, and the array is written later
    pairs[0] = 2.0
    return y.sum()


#: ad.grad(copy_that_is_not_known)(np.ones(4), True)
def copy_that_is_not_known(x, flag):
    y = x * 2.0
    for i in range(3):
        z = np.array(y, copy=i > 0)  # error[AD0303]: whether this copies is not known before it runs
        z[0] = 2.0
    return y.sum()


#: ad.grad(variable_assigned_by_recursion)(np.ones(4), 3)
def variable_assigned_by_recursion(x, n):
    total = 0.0

    def visit(i):
        nonlocal total
        if i >= 0:
            total += x[i] * x[i]
            visit(i - 1)

    visit(n)  # error[AD0303]: 'visit' calls itself and assigns a variable from outside
    return total


class Link:
    def __init__(self, value, following):
        self.value = value
        self.following = following


#: ad.grad(prints_a_link)([1.0, 2.0])
def prints_a_link(values):
    head = None
    for value in values:
        head = Link(value, head)
    print(head)  # error[AD0301]: an object of the class 'Link', whose objects refer to each other, is handed on as a whole
    return head.value * values[0]


#: ad.grad(comes_back_from_a_buffer)(np.ones(3))
def comes_back_from_a_buffer(x):
    BYTES.seek(0)
    BYTES.write(x * 2.0)  # error[AD0303]: 'write' is handed memory that varies, and may write it
    return np.sum(np.frombuffer(BYTES.getvalue()))


#: ad.grad(comes_back_beside_others)(2.0)
def comes_back_beside_others(x):
    numbers = bytes(np.array([x, x * x]))  # error[AD0201]: the body of 'bytes' is not visible here
    total = 0.0
    for place, number in zip(range(3), numbers, strict=False):
        total += place * number
    return total


#: ad.grad(made_a_set)(np.ones(3))
def made_a_set(x):
    return max(set(x * x))  # error[AD0307]: what varies is put into a set here
