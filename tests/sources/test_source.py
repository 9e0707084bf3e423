"""The source that is found is that of the code that runs, or it is refused."""

import ast
import asyncio
import functools
import importlib.util
import inspect
import linecache
import math
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import FunctionType

import pytest

from adjoint.diagnostics import DifferentiationError
from adjoint.sources.definitions import find, find_code
from adjoint.sources.matching import ParsedFile
from texts import run_text


def code_of(fn):
    """The exact text of the definition that is found."""
    source = find(fn)
    lines = "".join(linecache.getlines(source.file))
    return ast.get_source_segment(lines, source.node)


def refused(fn):
    with pytest.raises(DifferentiationError) as caught:
        find(fn)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


@pytest.fixture
def module(tmp_path):
    """Imports a module from its text."""
    count = 0

    def make(text, name=None):
        nonlocal count
        count += 1
        path = tmp_path / f"{name or f'made_{count}'}.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return load(path)

    return make


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def cell(text, name="<cell 1>", namespace=None, flags=0):
    """Runs a text as notebooks do."""
    return run_text(text, name, namespace, flags)


def plain(x):
    return x * x


def test_a_function_with_its_place():
    source = find(plain)
    assert source.name == "plain"
    assert source.file == __file__
    assert source.code is plain.__code__
    assert source.node.lineno == plain.__code__.co_firstlineno
    span = source.span(source.node.body[0])
    assert (span.line, span.column, span.end_line, span.end_column) == (source.node.lineno + 1, 4, span.line, 16)
    heading = source.heading
    assert (heading.line, heading.column, heading.end_column) == (source.node.lineno, 0, len("def plain"))


def test_what_was_found_is_kept():
    assert find(plain) is find(plain)


def test_columns_count_characters(module):
    source = find(module("def f(α):\n    β = 'é'; return α * 2\n").f)
    span = source.span(source.node.body[1])
    assert (span.column, span.end_column) == (13, 25)


def test_nested_functions():
    def outer(k):
        def inner(x):
            return k * x

        return inner

    assert code_of(outer(2.0)).startswith("def inner(x):")


def test_two_functions_of_one_name():
    if True:

        def f(x):
            return x

        first = f

        def f(x):
            return x

    assert find(first).node.lineno < find(f).node.lineno


def test_lambdas_of_one_line():
    fs = [lambda x: x, lambda x: x, lambda x: x + 1.0, lambda y: y + 1.0]
    assert [code_of(f) for f in fs] == ["lambda x: x", "lambda x: x", "lambda x: x + 1.0", "lambda y: y + 1.0"]
    assert len({find(f).node.col_offset for f in fs}) == 4


def test_lambdas_inside_lambdas():
    f = lambda x: lambda y: lambda z: x * y * z
    assert code_of(f) == "lambda x: lambda y: lambda z: x * y * z"
    assert code_of(f(1)) == "lambda y: lambda z: x * y * z"
    assert code_of(f(1)(2)) == "lambda z: x * y * z"


def test_lambdas_in_defaults_calls_and_branches():
    f = lambda g=lambda x: x, h=(lambda x: -x): (g, h)
    g, h = f()
    assert code_of(g) == "lambda x: x"
    assert code_of(h) == "lambda x: -x"
    assert code_of(f).startswith("lambda g=lambda x: x")
    chosen = dict(a=lambda x: x if x > 0 else -x, b=lambda x: x and -x)
    assert code_of(chosen["a"]) == "lambda x: x if x > 0 else -x"
    assert code_of(chosen["b"]) == "lambda x: x and -x"


def test_lambdas_over_several_lines(module):
    made = module("""
        def call(*fs):
            return fs
        fs = call(lambda x: (x +
                             1.0), lambda x: (
            x *
            2.0
        ), lambda x:
            x.real
             .conjugate())
    """)
    assert [ast.unparse(find(f).node.body) for f in made.fs] == ["x + 1.0", "x * 2.0", "x.real.conjugate()"]


def test_lambdas_of_constants():
    fs = [lambda: 1, lambda: 1.0, lambda: (1, 2), lambda: -1.0, lambda: None]
    assert [code_of(f) for f in fs] == ["lambda: 1", "lambda: 1.0", "lambda: (1, 2)", "lambda: -1.0", "lambda: None"]


def test_lambdas_that_capture():
    k = 3.0
    fs = [lambda x: k * x, lambda x: k * x + math.sin(k)]
    assert [code_of(f) for f in fs] == ["lambda x: k * x", "lambda x: k * x + math.sin(k)"]


def test_decorated_functions():
    def doubling(fn):
        @functools.wraps(fn)
        def wrapper(x):
            return 2 * fn(x)

        return wrapper

    @doubling
    def f(x):
        return x

    assert code_of(f).startswith("def wrapper(x):")
    assert code_of(f.__wrapped__).startswith("def f(x):")


def test_decorator_with_a_lambda(module):
    made = module("""
        import functools

        def register(fn):
            return lambda other: (fn, other)

        @register(lambda x: x * x)
        @functools.lru_cache
        def f(x): return x
    """)
    first, second = made.f
    assert code_of(first) == "lambda x: x * x"
    assert code_of(second.__wrapped__).startswith("def f(x): return x")


class Model:
    __scale = 2.0
    act = staticmethod(lambda x: x + 1.0)

    def method(self, x):
        return x * self.__scale

    def outer(self):
        def __inner(__x):
            return super().__init__, __x, dict(__k=1)

        return __inner

    @classmethod
    def made(cls, x):
        return cls, x

    @property
    def value(self):
        return 1.0


def test_methods():
    assert code_of(Model().method).startswith("def method(self, x):")
    assert code_of(Model.method).startswith("def method(self, x):")
    assert code_of(Model.made).startswith("def made(cls, x):")
    assert code_of(Model.act) == "lambda x: x + 1.0"
    assert code_of(Model.value.fget).startswith("def value(self):")


def test_private_names_are_spelt_out():
    assert "self._Model__scale" in ast.unparse(find(Model.method).node)
    inner = find(Model.outer).node.body[0]
    assert ast.unparse(inner) == (
        "def _Model__inner(_Model__x):\n    return (super().__init__, _Model__x, dict(__k=1))"
    )
    assert find(Model().outer()).name == "__inner"


def test_private_names_of_nested_classes(module):
    made = module("""
        class _Outer:
            def f(self):
                class Inner:
                    def g(self):
                        return self.__a
                return Inner

            def k(self):
                return self.__b
            class __Hidden:
                def h(self):
                    return self.__c
            hidden = __Hidden
    """)
    assert "self._Outer__b" in ast.unparse(find(made._Outer.k).node)
    assert "self._Inner__a" in ast.unparse(find(made._Outer().f().g).node)
    assert "self._Hidden__c" in ast.unparse(find(made._Outer.hidden.h).node)


def test_assertions_that_pytest_rewrote():
    def f(x):
        assert x > 0, "positive"
        return x

    assert code_of(f).startswith("def f(x):")


def test_of_a_file_the_statement_and_what_it_calls_of_imports_are_compiled_again():
    text = "import math\nimport os\nfrom os import (\n    path,\n    sep,\n)\n\n\ndef f(x):\n    return math.sin(x)\n"
    lines = text.splitlines(keepends=True)
    file = ParsedFile("program.py", lines, 0)
    namespace = {}
    exec(compile(text, "program.py", "exec"), namespace)
    (node,) = file.definitions_of(namespace["f"].__code__)
    assert node.name == "f" and node.lineno == 9
    assert list(file._parts) == [(8, 10, True)]
    assert file._text(8, 10) == "import math\n" + "\n" * 7 + "".join(lines[8:])


def test_future_imports(module):
    made = module("from __future__ import annotations\ndef f(x: Unknown) -> Other:\n    return x\n")
    assert code_of(made.f).startswith("def f(x: Unknown)")


def test_future_imports_of_an_earlier_cell():
    import __future__

    flags = __future__.annotations.compiler_flag
    f = cell("def f(x: Unknown):\n    return x\n", "<cell future>", flags=flags)["f"]
    assert code_of(f).startswith("def f(x: Unknown)")


def test_cells_of_a_notebook():
    first = cell("def f(x):\n    return x\n", "<cell a>")
    second = cell("def f(x):\n    return 2 * x\n", "<cell b>")
    assert "return x" in code_of(first["f"])
    assert "return 2 * x" in code_of(second["f"])


def test_a_cell_that_awaits():
    text = "import asyncio\ndef f(x):\n    return x\nawait asyncio.sleep(0)\n"
    namespace = {}
    linecache.cache["<cell await>"] = (len(text), None, text.splitlines(True), "<cell await>")
    code = compile(text, "<cell await>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    asyncio.run(FunctionType(code, namespace)())
    assert code_of(namespace["f"]).startswith("def f(x):")


def test_ipython():
    pytest.importorskip("IPython")
    script = """
        from IPython.core.interactiveshell import InteractiveShell
        from adjoint.sources.definitions import find
        import ast
        shell = InteractiveShell.instance()
        shell.run_cell("%time pass\\nk = 2.0\\ndef f(x):\\n    return k * x", store_history=True)
        shell.run_cell("fs = [lambda x: x, lambda x: x + 1]", store_history=True)
        print(ast.unparse(find(shell.user_ns["f"]).node))
        print([ast.unparse(find(f).node) for f in shell.user_ns["fs"]])
    """
    out = run_python("-c", textwrap.dedent(script)).stdout
    assert "def f(x):\n    return k * x" in out
    assert "['lambda x: x', 'lambda x: x + 1']" in out


def run_python(*args):
    source = str(Path(sys.modules["adjoint.sources.definitions"].__file__).parents[2])
    return subprocess.run(
        [sys.executable, *args], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": source}
    )


@pytest.mark.parametrize("first", ["", "from __future__ import annotations"])
def test_without_columns(tmp_path, first):
    script = tmp_path / "script.py"
    script.write_text(
        first
        + textwrap.dedent("""
            import ast
            from adjoint.diagnostics import DifferentiationError
            from adjoint.sources.definitions import find

            f = lambda x: x + 1
            gs = [lambda x: x, lambda x: -x]
            hs = (lambda k: [lambda x: k * x, lambda x: k - x])(2.0)
            print(ast.unparse(find(f).node))
            print(ast.unparse(find(gs[1]).node))
            try:
                find(hs[1])
            except DifferentiationError as error:
                print(error)
        """)
    )
    out = run_python("-X", "no_debug_ranges", str(script)).stdout
    assert out.startswith("lambda x: x + 1\nlambda x: -x\nerror[AD0101]: no source available for '<lambda>'\n")
    assert "several lambdas in the line" in out


def test_raw_code_objects():
    source = find_code(plain.__code__, "another")
    assert isinstance(source.node, ast.FunctionDef)


def test_dispatchers_of_numba():
    numba = pytest.importorskip("numba")
    assert code_of(numba.njit(plain)).startswith("def plain(x):")


def test_flags_that_numba_clears_while_a_profiler_runs():
    def f(x, *rest):
        return x * len(rest)

    code = f.__code__
    cleared = FunctionType(code.replace(co_flags=code.co_flags & 0xFFFE), globals())
    assert code_of(cleared) == code_of(f)
    other = FunctionType(code.replace(co_flags=code.co_flags & 0xFFFE & ~inspect.CO_VARARGS), globals())
    assert refused(other).code == "AD0102"


def test_an_edited_file_is_refused(module, tmp_path):
    made = module("def f(x):\n    return x * 2\n", name="edited")
    linecache.clearcache()
    path = tmp_path / "edited.py"
    path.write_text("def f(x):\n    return x * 3.5\n")
    diagnostic = refused(made.f)
    assert diagnostic.code == "AD0102"
    assert diagnostic.title == "the source of 'f' is not the code that runs"
    # loaded again, it is what it says
    assert "x * 3.5" in code_of(load(path).f)


def test_an_edited_constant_is_refused(module, tmp_path):
    made = module("def f(x):\n    return x in ((1, 0.0), 'a')\ndef g(x):\n    return x * 0.0\n", name="constants")
    linecache.clearcache()
    path = tmp_path / "constants.py"
    path.write_text("def f(x):\n    return x in ((1, -0.0), 'a')\ndef g(x):\n    return x * -0.0\n")
    assert refused(made.f).code == "AD0102"
    assert refused(made.g).code == "AD0102"


def test_a_file_that_no_longer_parses_is_refused(module, tmp_path):
    made = module("def f(x):\n    return x * 2\n", name="broken")
    linecache.clearcache()
    (tmp_path / "broken.py").write_text("def f(x:\n")
    assert refused(made.f).code == "AD0102"


def test_functions_that_only_moved_are_found(module, tmp_path):
    made = module("def f(x):\n    return x * 2\ndef g(x):\n    return x\n", name="moved")
    linecache.clearcache()
    (tmp_path / "moved.py").write_text("# a new comment\n\ndef f(x):\n    return x * 2\ndef g(x):\n    return -x\n")
    assert find(made.f).node.lineno == 3
    assert refused(made.g).code == "AD0102"


def test_the_text_as_imported_is_preferred(module, tmp_path):
    made = module("def f(x):\n    return x * 2\n", name="cached")
    linecache.getlines(made.f.__code__.co_filename)
    (tmp_path / "cached.py").write_text("def f(x):\n    return x * 3.5\n")
    assert find(made.f).node.lineno == 1


def test_no_source():
    namespace = {}
    exec("def f" + "(x):\n    return x + 41.25\n", namespace)
    diagnostic = refused(namespace["f"])
    assert diagnostic.code == "AD0101"
    assert diagnostic.title == "no source available for 'f'"
    assert refused(math.sin).title == "no source available for 'sin'"
    assert refused(functools.partial(plain, 1.0)).code == "AD0101"


@pytest.mark.parametrize("value", [3.0, None, "f", [plain]])
def test_not_a_function(value):
    assert refused(value).code == "AD0103"


def test_generators_and_coroutines():
    def generator(x):
        yield x

    async def coroutine(x):
        return x

    async def both(x):
        yield x

    assert find(generator).name == "generator"
    for fn in coroutine, both:
        diagnostic = refused(fn)
        assert diagnostic.code == "AD0104"
        assert diagnostic.labels[0].text == "it is a coroutine"
        assert diagnostic.span.line == fn.__code__.co_firstlineno


def test_class_bodies_are_not_functions(module):
    text = "class C:\n    a = 1\n"
    body = next(c for c in compile(text, "<cell class>", "exec").co_consts if hasattr(c, "co_code"))
    with pytest.raises(DifferentiationError) as caught:
        find_code(body)
    assert caught.value.diagnostics[0].code == "AD0104"


def test_classes_of_a_program_that_a_profiler_runs(tmp_path: Path) -> None:
    """Its main module is the profiler, which lies among the libraries."""
    program = tmp_path / "program.py"
    program.write_text(
        "import adjoint as ad\n"
        "class Point:\n    def __init__(self, x):\n        self.x = x\n"
        "print(ad.grad(lambda x: Point(x * x).x)(3.0))\n"
    )
    source = str(Path(__file__).parents[2] / "src")
    run = subprocess.run(
        [sys.executable, "-m", "cProfile", "-o", str(tmp_path / "profile"), str(program)],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "6.0\n"
