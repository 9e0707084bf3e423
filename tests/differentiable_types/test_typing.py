"""Type checkers see what ``@differentiable`` makes of a class, and where key paths lead."""

from pathlib import Path

import pytest

api = pytest.importorskip("mypy.api")

PROGRAM = """
import adjoint as ad

@ad.differentiable
class Layer:
    weight: float
    name: ad.NoDerivative[str] = "layer"
    scale: float = ad.no_derivative(default=2.0)

@ad.differentiable(frozen=True, kw_only=True)
class Model(ad.VectorSpace, ad.Differentiable):
    first: float
    second: float = 0.0

Layer(1.0, "other", scale=3.0)
Layer()  # says: Missing positional argument "weight"
Layer("text")  # says: incompatible type "str"; expected "float"
Model(1.0)  # says: Too many positional arguments
frozen = Model(first=1.0)
frozen.first = 2.0  # says: is read-only
total: Model = frozen + 2.0 * frozen
reveal_type(Layer(1.0).name)  # says: "str"
reveal_type(Layer(1.0).scale)  # says: "float"
reveal_type(ad.keypath(Model, lambda m: m.first))  # says: WritableKeyPath[program.Model, float]
reveal_type(frozen.moved(along=frozen))  # says: program.Model
reveal_type(ad.moved(frozen, along=frozen))  # says: program.Model
reveal_type(ad.with_variables(Layer(1.0), None))  # says: program.Layer
reveal_type(ad.memberwise(Layer, weight=1.0))  # says: program.Layer
path: ad.KeyPath[Layer, float] = ad.keypath(Layer, lambda layer: layer.weight)
reveal_type(path.get(Layer(1.0)))  # says: "float"
path.get(3.0)  # says: expected "Layer"
conforms: ad.Differentiable = frozen
vector: ad.AdditiveArithmetic = frozen
gradient = ad.grad(lambda layer: layer.weight, wrt=path)
"""


def test_type_checkers_see_it(tmp_path, monkeypatch):
    monkeypatch.setenv("MYPYPATH", str(Path(__file__).parents[2] / "src"))
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    output, _, _ = api.run(["--no-error-summary", "--cache-dir", str(tmp_path / "cache"), str(file)])
    said: dict[int, str] = {}
    for line in output.splitlines():
        number = int(line.split(":")[1])
        said[number] = said.get(number, "") + line.replace("builtins.", "")
    expected = {
        number: line.partition("# says: ")[2]
        for number, line in enumerate(PROGRAM.splitlines(), start=1)
        if "# says: " in line
    }
    assert said.keys() == expected.keys(), output
    assert all(text in said[number] for number, text in expected.items()), output
