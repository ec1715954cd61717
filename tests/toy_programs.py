"""Programs of the tests: an `AttentionModel` written line by line, the two-mixture paper, one head on three words."""

from __future__ import annotations

from derivations.two_mixture.dynamics import full_flow
from odesys import AttentionModel, Distribution, FixedVector, Flow, Neurons, gradient_flow, logistic
from odesys.model.loss import as_loss
from odesys.program.data import Data
from odesys.program.expressions import Expr, maps
from odesys.program.functions import relu, softmax
from odesys.program.spaces import Space, Units, Words


def program_flow(model: AttentionModel, data: Distribution, train=None, loss="logistic", rule=gradient_flow) -> Flow:
    """The flow of the program that says what `model` says."""
    words = Words(model.words.words, gram=model.words.gram)
    outputs = [_head(model, words, k) for k in range(len(model.heads))]

    def f(X: Expr) -> Expr:
        total = outputs[0](X)
        for output in outputs[1:]:
            total = total + output(X)
        return total

    return rule(f, Data(words, data.samples), as_loss(loss), train=train)


def _head(model: AttentionModel, words: Words, k: int):
    head, label, output = model.heads[k], model.head_labels[k], model.value.output
    keys, hidden = Space("m"), [Space(f"v{i}") for i in range(len(model.value.maps) - 1)]
    if isinstance(output, FixedVector):
        first = Words(output.name, gram=[[output.square]], name="o")
    else:
        first = Units("n", output.size) if isinstance(output, Neurons) else 1
    spaces = [first, *hidden, words]
    values = [maps(n, spaces[i], spaces[i + 1], of=label) for i, n in enumerate(model.value.maps)]
    assert model.score == ("W_K'", "W_Q")
    W_K, W_Q = maps("W_K W_Q", keys, words, of=label)

    def of(X: Expr) -> Expr:
        attended = X @ softmax(model.scale * (X.T @ W_K.T @ W_Q @ X))
        for value in reversed(values):
            attended = value @ attended
        if isinstance(output, FixedVector):
            attended = first.all.T @ attended
        if isinstance(output, Neurons):
            table = relu(attended) if output.activation == "relu" else attended
            if output.per_position:
                readout = [list(column) for column in zip(*output.readout, strict=True)]
                table = table * readout
                attended = table.sum(0)
            else:
                attended = list(output.readout) @ table
        pooled = attended.mean() if model.pooling == "mean" else attended.sum()
        pooled = pooled + head.bias
        return head.sign * (relu(pooled) if head.activation == "relu" else pooled)

    return of


def two_mixture(samples=None):
    """The program of the two-mixture paper."""
    words, m = Words("c1 c2 v1 v2"), Space("m")

    def head(name):
        w, (W_K, W_Q) = maps("w", 1, words, of=name), maps("W_K W_Q", m, words, of=name)
        return lambda X: relu((w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum() + "b")

    plus, minus = head("p"), head("m")
    return gradient_flow(lambda X: plus(X) - minus(X), Data(words, samples or full_flow().data.samples), logistic)


def pair(rule=gradient_flow, samples=None, **more):
    """One head on three words, two of which are exchanged together with the label."""
    words, m = Words("good bad the"), Space("m")
    w, (W_K, W_Q) = maps("w", 1, words), maps("W_K W_Q", m, words)
    data = Data(words, samples or [("good the", +1), ("bad the", -1)])
    return rule(lambda X: (w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum(), data, logistic, **more)
