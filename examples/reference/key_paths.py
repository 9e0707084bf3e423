"""The samples of the reference document on key paths: python examples/reference/key_paths.py"""

from collections.abc import Callable

import numpy as np

import adjoint as ad


def relu(x):
    return np.maximum(x, 0.0)


@ad.differentiable
class DenseLayer(ad.KeyPathIterable):
    weight: np.ndarray
    bias: np.ndarray
    activation: ad.NoDerivative[Callable] = relu

    def applied(self, inputs):
        return self.activation(inputs @ self.weight + self.bias)


def ones(*shape):
    return np.ones(shape, np.float32)


parameters = DenseLayer(weight=ones(2, 2), bias=ones(1))
for kp in parameters.all_key_paths():
    print(kp, getattr(parameters[kp], "__name__", parameters[kp]))

gradient = DenseLayer(weight=0.5 * ones(2, 2), bias=0.5 * ones(1))
for kp in parameters.all_writable_key_paths(to=np.float32):
    parameters[kp] -= 0.1 * gradient[kp]
print(parameters.weight, parameters.bias)


@ad.differentiable
class MyMLModel(ad.KeyPathIterable):
    layers: list[DenseLayer]
    final_weight: np.ndarray
    is_training: ad.NoDerivative[bool] = True


dense = [DenseLayer(weight=ones(2, 2), bias=ones(1)) for _ in range(2)]
model = MyMLModel(dense, final_weight=ones(2, 2))
for kp in model.recursively_all_writable_key_paths(to=np.float32):
    model[kp] -= 0.1 * model[kp]
    print(kp, model[kp].tolist())

# The same key paths lead through the model and through its gradient.
layer = DenseLayer(weight=ones(2, 2), bias=ones(2))
layer_gradient = ad.grad(lambda layer: np.sum(layer.applied(ones(2, 2))))(layer)
for kp in ad.all_writable_key_paths(layer_gradient, to=np.float32):
    layer[kp] -= 0.01 * layer_gradient[kp]
print(layer.weight, layer.bias)
print(layer_gradient.weight)

# One part of a model can be what a derivative is taken for.
weight = ad.keypath(MyMLModel).layers[0].weight
loss = lambda model: np.sum(model.layers[1].applied(model.layers[0].applied(ones(1, 2))))
print(ad.grad(loss, wrt=weight)(model))

# Prints:
# .weight [[1. 1.]
#  [1. 1.]]
# .bias [1.]
# .activation relu
# [[0.95 0.95]
#  [0.95 0.95]] [0.95]
# .layers[0].weight [[0.8999999761581421, 0.8999999761581421], [0.8999999761581421, 0.8999999761581421]]
# .layers[0].bias [0.8999999761581421]
# .layers[1].weight [[0.8999999761581421, 0.8999999761581421], [0.8999999761581421, 0.8999999761581421]]
# .layers[1].bias [0.8999999761581421]
# .final_weight [[0.8999999761581421, 0.8999999761581421], [0.8999999761581421, 0.8999999761581421]]
# [[0.98 0.98]
#  [0.98 0.98]] [0.98 0.98]
# [[2. 2.]
#  [2. 2.]]
# [[1.8 1.8]
#  [1.8 1.8]]
