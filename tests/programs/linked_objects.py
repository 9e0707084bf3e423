"""Objects that refer to each other, made while the program runs: linked lists, trees, graphs."""

import copy
import heapq
from collections import deque
from dataclasses import dataclass
from typing import Optional

import adjoint as ad
from programs.registry import program


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


class DNode:
    __slots__ = ("next", "prev", "val")

    def __init__(self, val):
        self.val = val
        self.prev = None
        self.next = None


class DList:
    def __init__(self):
        self.head = None
        self.tail = None
        self.n = 0

    def push_back(self, v):
        node = DNode(v)
        if self.tail is None:
            self.head = self.tail = node
        else:
            node.prev = self.tail
            self.tail.next = node
            self.tail = node
        self.n += 1
        return node

    def remove(self, node):
        if node.prev is not None:
            node.prev.next = node.next
        else:
            self.head = node.next
        if node.next is not None:
            node.next.prev = node.prev
        else:
            self.tail = node.prev
        self.n -= 1

    def __len__(self):
        return self.n

    def backwards(self):
        cur = self.tail
        while cur:
            yield cur.val
            cur = cur.prev


@program([1.0, 2.0, 3.0, 4.0])
def doubly(xs):
    d = DList()
    nodes = []
    for x in xs:
        nodes.append(d.push_back(x * x))
    d.remove(nodes[1])
    d.remove(nodes[3])
    s = 0.0
    for i, v in enumerate(d.backwards()):
        s += (i + 1) * v
    return s * len(d)


class BST:
    class _N:
        def __init__(self, k):
            self.key, self.left, self.right = k, None, None

    def __init__(self):
        self.root = None

    def insert(self, k):
        if self.root is None:
            self.root = BST._N(k)
        else:
            self._insert(self.root, k)

    def _insert(self, node, k):
        if k < node.key:
            if node.left is None:
                node.left = BST._N(k)
            else:
                self._insert(node.left, k)
        else:
            if node.right is None:
                node.right = BST._N(k)
            else:
                self._insert(node.right, k)

    def inorder(self):
        return self._inorder(self.root)

    def _inorder(self, node):
        if node is None:
            return []
        return self._inorder(node.left) + [node.key] + self._inorder(node.right)

    def height(self):
        def h(n):
            return 0 if n is None else 1 + max(h(n.left), h(n.right))

        return h(self.root)

    def min(self):
        n = self.root
        while n.left:
            n = n.left
        return n.key

    def contains(self, k):
        n = self.root
        while n is not None:
            if k == n.key:
                return True
            n = n.left if k < n.key else n.right
        return False


@program([2.0, 1.0, 3.0, 2.5])
def bst_class(xs):
    t = BST()
    for x in xs:
        t.insert(x)
    s = 0.0
    for i, k in enumerate(t.inorder()):
        s += (i + 1) * k * k
    return s * t.height() + t.min() + (1.0 if t.contains(3.0) else 0.0)


@dataclass
class Expr:
    op: str
    left: Optional["Expr"] = None
    right: Optional["Expr"] = None
    value: float = 0.0


def evaluate(e):
    if e.op == "num":
        return e.value
    a = evaluate(e.left)
    b = evaluate(e.right)
    if e.op == "+":
        return a + b
    return a * b


@program(1.5, "3 4 + 2 * 5 +")
def expression_tree(x, text):
    stack = []
    for tok in text.split():
        if tok in "+*":
            r = stack.pop()
            l = stack.pop()
            stack.append(Expr(tok, l, r))
        else:
            stack.append(Expr("num", value=float(tok) * x))
    return evaluate(stack.pop())


class TreeNode:
    def __init__(self, name, mass):
        self.name = name
        self.mass = mass
        self.children = []
        self.parent = None

    def add(self, child):
        child.parent = self
        self.children.append(child)
        return child

    def total(self):
        return self.mass + sum(c.total() for c in self.children)

    def depth(self):
        d, n = 0, self
        while n.parent is not None:
            n = n.parent
            d += 1
        return d


@program([1.0, 2.0, 3.0, 4.0])
def general_tree(xs):
    root = TreeNode("root", xs[0])
    cur = root
    for i, x in enumerate(xs[1:]):
        child = cur.add(TreeNode("n", x * x))
        if i % 2 == 0:
            cur = child
    return root.total() * cur.depth()


@program([1.0, 2.0, 3.0, 4.0])
def bfs(xs):
    root = TreeNode("r", xs[0])
    for x in xs[1:]:
        root.add(TreeNode("c", x)).add(TreeNode("g", x * x))
    q = deque([root])
    s, w = 0.0, 1.0
    while q:
        n = q.popleft()
        s += w * n.mass**2
        w += 1.0
        for c in n.children:
            q.append(c)
    return s


class GNode:
    def __init__(self, name):
        self.name = name
        self.value = 0.0
        self.edges = []


@program([1.0, 2.0, 3.0], [(0, 1), (1, 2), (0, 2)])
def graph(xs, edges):
    nodes = [GNode(i) for i in range(len(xs))]
    for n, x in zip(nodes, xs):
        n.value = x
    for a, b in edges:
        nodes[a].edges.append(nodes[b])
    s = 0.0
    for n in nodes:
        for m in n.edges:
            s += n.value * m.value**2
    return s


class HNode:
    def __init__(self, freq, left=None, right=None):
        self.freq, self.left, self.right = freq, left, right

    def __lt__(self, other):
        return self.freq < other.freq


@program([0.1, 0.2, 0.3, 0.45])
def huffman(fs):
    heap = []
    for f in fs:
        heapq.heappush(heap, HNode(f))
    while len(heap) > 1:
        a = heapq.heappop(heap)
        b = heapq.heappop(heap)
        heapq.heappush(heap, HNode(a.freq + b.freq, a, b))

    def cost(n, d):
        if n.left is None:
            return n.freq * d
        return cost(n.left, d + 1) + cost(n.right, d + 1)

    return cost(heap[0], 0) ** 2


class Stack:
    def __init__(self):
        self.top = None

    def push(self, v):
        self.top = Node(v, self.top)

    def pop(self):
        if self.top is None:
            raise IndexError("empty")
        v = self.top.value
        self.top = self.top.next
        return v

    def is_empty(self):
        return self.top is None


@program([1.0, 2.0, 3.0, 4.0])
def linked_stack(xs):
    s = Stack()
    for x in xs:
        s.push(x)
    t = 0.0
    while not s.is_empty():
        t = t * 0.5 + s.pop() ** 2
    return t


@program([1.0, 2.0, 3.0, 4.0])
def stack_raises(xs):
    s = Stack()
    for x in xs:
        s.push(x * x)
    t = 0.0
    try:
        while True:
            t = t * 0.5 + s.pop()
    except IndexError:
        t *= 2.0
    return t


def merge(a, b):
    dummy = Node(0.0)
    tail = dummy
    while a and b:
        if a.value <= b.value:
            tail.next, a = a, a.next
        else:
            tail.next, b = b, b.next
        tail = tail.next
    tail.next = a or b
    return dummy.next


def from_list(xs):
    head = None
    for x in reversed(xs):
        head = Node(x, head)
    return head


@program([1.0, 3.0, 5.0], [2.0, 4.0])
def merged_lists(xs, ys):
    n = merge(from_list(xs), from_list(ys))
    s, w = 0.0, 1.0
    while n:
        s += w * n.value**2
        w += 1.0
        n = n.next
    return s


@program([1.0, 3.0, 5.0, 2.0])
def middle(xs):
    head = from_list(xs)
    slow = fast = head
    while fast is not None and fast.next is not None:
        slow = slow.next
        fast = fast.next.next
    return slow.value**2 + head.value


@program([1.0, 3.0, 5.0, 2.0])
def written_through_alias(xs):
    head = from_list(xs)
    second = head.next
    second.value *= 3.0
    second.next.value = second.value**2
    return head.next.value * head.next.next.value + head.value


@program([1.0, 3.0, 5.0, 2.0])
def shared_nodes(xs):
    tail = from_list(xs)
    a = Node(xs[0] ** 2, tail)
    b = Node(xs[1] ** 2, tail)
    a.next.value *= 2.0
    return b.next.value * b.value * (1.0 if a.next is b.next else 5.0) * (7.0 if a is b else 1.0)


@program([1.0, 3.0, 5.0, 2.0])
def cyclic(xs):
    head = from_list(xs)
    n = head
    while n.next is not None:
        n = n.next
    n.next = head
    s, n = 0.0, head
    for i in range(10):
        s = s * 0.9 + n.value**2
        n = n.next
    return s


@program([1.0, 3.0, 5.0, 2.0])
def none_attr_raises(xs):
    head = from_list(xs)
    s = 0.0
    n = head
    try:
        while True:
            s += n.value**2
            n = n.next
    except AttributeError:
        s *= 2.0
    return s


class Segment:
    def __init__(self, lo, hi, total, left=None, right=None):
        self.lo, self.hi, self.total, self.left, self.right = lo, hi, total, left, right


def seg_build(xs, lo, hi):
    if hi - lo == 1:
        return Segment(lo, hi, xs[lo])
    mid = (lo + hi) // 2
    l, r = seg_build(xs, lo, mid), seg_build(xs, mid, hi)
    return Segment(lo, hi, l.total + r.total, l, r)


def seg_query(s, a, b):
    if b <= s.lo or s.hi <= a:
        return 0.0
    if a <= s.lo and s.hi <= b:
        return s.total
    return seg_query(s.left, a, b) + seg_query(s.right, a, b)


def seg_update(s, i, v):
    if s.left is None:
        s.total = v
        return
    if i < s.left.hi:
        seg_update(s.left, i, v)
    else:
        seg_update(s.right, i, v)
    s.total = s.left.total + s.right.total


@program([1.0, 3.0, 5.0, 2.0, 4.0])
def segment_tree(xs):
    t = seg_build(xs, 0, len(xs))
    a = seg_query(t, 1, 4)
    seg_update(t, 2, xs[0] * xs[1])
    return a * seg_query(t, 0, 3) + t.total


@program([1.0, 2.0, 3.0])
def list_of_heads(xs):
    heads = [None] * 2
    for i, x in enumerate(xs):
        heads[i % 2] = Node(x * x, heads[i % 2])
    s = 0.0
    for h in heads:
        while h is not None:
            s = s * 1.5 + h.value
            h = h.next
    return s


def chain(xs):
    head = None
    for x in xs:
        head = Node(x * x, head)
    return head


@program([1.0, 2.0, 3.0])
def list_copied(xs):
    hs = []
    h = None
    for x in xs:
        h = Node(x, h)
        hs.append(h)
    gs = copy.copy(hs)
    gs2 = list(hs)
    gs3 = hs[:]
    gs[0].value *= 3.0
    gs2.pop()
    return hs[0].value * gs[0].value + gs3[-1].value + len(gs2)


@program([1.0, 2.0, 3.0])
def inner_grad(xs):
    def f(v):
        h = None
        for i in range(3):
            h = Node(v * (i + 1), h)
        s = 0.0
        while h:
            s += h.value**3
            h = h.next
        return s

    h = chain(xs)
    s = 0.0
    while h:
        s += ad.grad(f)(h.value) * h.value
        h = h.next
    return s


@program([1.0, 2.0, 3.0])
def inner_grad_captures(xs):
    h = chain(xs)

    def f(v):
        n = h
        s = 0.0
        while n:
            s += n.value * v * v
            n = n.next
        return s

    return ad.grad(f)(xs[0])


@program([3.0, 1.0, 2.0])
def sorted_by_key(xs):
    hs = []
    h = None
    for x in xs:
        h = Node(x, h)
        hs.append(h)
    hs.sort(key=lambda n: n.value)
    o = sorted(hs, key=lambda n: -n.value)
    m = max(hs, key=lambda n: n.value)
    return hs[0].value * 5 + o[0].value * 7 + m.value**2


@program([3.0, 1.0, 2.0])
def in_list(xs):
    seen = []
    h = chain(xs)
    while h is not None and h not in seen:
        seen.append(h)
        h = h.next
    return sum(n.value for n in seen) * len(seen)


@program([3.0, 1.0, 2.0])
def tuples_of_nodes(xs):
    pairs = []
    h = None
    for x in xs:
        p = h
        h = Node(x, h)
        pairs.append((p, h))
    s = 0.0
    for a, b in pairs:
        s += b.value**2 if a is None else a.value * b.value
    return s


class E:
    def __init__(self, v, prev=None):
        self.v, self.prev = v, prev

    def __eq__(self, o):
        return self.v == o.v

    def __add__(self, o):
        return E(self.v + o.v, self)

    def __len__(self):
        return 0 if self.prev is None else 1 + len(self.prev)


@program([3.0, 1.0, 2.5])
def own_equality(xs):
    h = None
    for x in xs:
        h = E(x, h)
    a = h
    while a.prev is not None:
        a = a.prev
    t = h + a
    return t.v * (2.0 if h == a else 3.0) * (5.0 if h is a else 7.0) * len(h)


class Base:
    def __init__(self, v):
        self.v = v

    def area(self):
        return self.v


class Sub(Base):
    def __init__(self, v, nxt=None):
        super().__init__(v)
        self.nxt = nxt

    def area(self):
        return super().area() ** 2

    @property
    def double(self):
        return 2 * self.v

    @classmethod
    def make(cls, v):
        return cls(v)


@program([3.0, 1.0, 3.0])
def inheritance(xs):
    h = Sub.make(xs[0])
    for x in xs[1:]:
        h = Sub(x, h)
    s = 0.0
    while isinstance(h, Sub):
        s += h.area() * h.double
        h = h.nxt
    return s


@program(2.0, 4)
def global_counter_nodes(x, n):
    h = None
    for i in range(n):
        if i % 2:
            h = Node(x**i, h)
        elif h is not None:
            h.value += x
    return h.value * h.next.value


@program([1.0, 2.0, 3.0], 2)
def kth_from_end(xs, k):
    h = chain(xs)
    fast = h
    for _ in range(k):
        fast = fast.next
    slow = h
    while fast:
        slow, fast = slow.next, fast.next
    return slow.value


@program([1.0, 2.0, 3.0, 4.0])
def recursive_reverse(xs):
    def rev(n):
        if n is None or n.next is None:
            return n
        r = rev(n.next)
        n.next.next = n
        n.next = None
        return r

    n = rev(chain(xs))
    s, w = 0.0, 1.0
    while n:
        s += w * n.value
        w *= 1.5
        n = n.next
    return s


@program([1.0, 2.0, 3.0, 4.0])
def lru(xs):
    cache = {}
    order = None
    t = 0.0
    for i, x in enumerate(xs):
        k = i % 2
        if k in cache:
            cache[k].value = cache[k].value * x
        else:
            order = Node(x, order)
            cache[k] = order
        t += cache[k].value
    return t


class Branching:
    def __init__(self, v):
        self.v = v
        self.children = {}


def put_below(root, v):
    node = root
    while True:
        side = "left" if v < node.v else "right"
        if side not in node.children:
            node.children[side] = Branching(v)
            return
        node = node.children[side]


def weighted_below(node, depth):
    return node.v**2 * depth + sum(weighted_below(each, depth + 1) for each in node.children.values())


@program([0.3, -1.1, 0.7, 2.0, -0.4])
def tree_with_dicts_of_children(x):
    root = Branching(x[0])
    for v in x[1:]:
        put_below(root, v)
    return weighted_below(root, 1)


class Halves:
    def __init__(self, v):
        self.v = v
        self.kids = [None, None]

    def add(self, v):
        side = 0 if v < self.v else 1
        if self.kids[side] is None:
            self.kids[side] = Halves(v)
        else:
            self.kids[side].add(v)

    def total(self, depth=1):
        return self.v**2 * depth + sum(kid.total(depth + 1) for kid in self.kids if kid is not None)


@program([0.3, -1.1, 0.7, 2.0, -0.4])
def tree_with_places_for_two(x):
    root = Halves(x[0])
    for v in x[1:]:
        root.add(v)
    return root.total()


@program([0.3, -1.1, 0.7])
def empty_places_or_taken_ones(x):
    chained = chain(x)
    kids = [None, None] if x[0] > 0.0 else [chained, None]
    kids[1] = chained
    t = 0.0
    for kid in kids:
        while kid is not None:
            t += kid.value**2
            kid = kid.next
    return t


@program([0.3, -1.1, 0.7])
def pairs_with_an_empty_place(x):
    pairs = [(v, None) for v in x]
    head = None
    for i, v in enumerate(x):
        head = Node(v, head)
        if v > 0.0:
            pairs[i] = (v * 2.0, head)
    return sum([v * (1.0 if kid is None else kid.value) for v, kid in pairs])


@program([0.3, -1.1, 0.7])
def constant_pairs_with_an_empty_place(x):
    pairs, head = [(1.0, None)], None
    for v in x:
        head = Node(v, head)
        pairs.append((2.0, head))
    return sum([v * (x[0] if kid is None else kid.value**2) for v, kid in pairs])


class Chain:
    def __init__(self, value, rest):
        self.value, self.rest = value, rest

    def __iter__(self):
        part = self
        while part is not None:
            yield part.value
            part = part.rest


@program([0.7, -0.3, 1.2])
def objects_that_hand_out_items(xs):
    chain = None
    for x in xs:
        chain = Chain(x * x, chain)
    total = sum(k * a for a, k in zip(chain, (1.0, 2.0, 3.0)))
    for i, a in enumerate(chain):
        total += i * a * a
    return total
