r"""A model and its data in formulas, written from the objects the systems are derived from.

Programs are written in `odesys.report.program_setting`; an `AttentionModel` as

.. math::  f(X) = \sum_s \varsigma_s\,\sigma(H_s(X) + b_s), \qquad
           H_s(X) = \mathrm{pool}_l \sum_h u_s(x_h)\,p^s_{lh}, \qquad p^s_{l\cdot} = \mathrm{softmax}(\dots) .
"""

from __future__ import annotations

from ..expr.graph import Node
from ..model.attention import AttentionModel, FixedVector, Head, Neurons
from ..model.loss import as_loss
from ..model.paths import chain_tex, head_mark, score_path, value_path, word_tex
from ..papers.paper import Formula, Setting
from ..program.data import Data
from ..tex.latex import node_latex
from .program_setting import program_formulas, program_rows
from .setting_words import DataRow, counted, fraction_tex, spread, token_tex, words_formulas


def setting_formulas(setting: Setting) -> list[Formula]:
    """The model, what is trained, and the loss."""
    model = setting.model
    if not isinstance(model, AttentionModel):
        return program_formulas(setting)
    out = [Formula("output", rf"f(X) = {_output(model)}")]
    out += [Formula("head", _head_value(model, k)) for k in _distinct_heads(model)]
    out += [Formula("attention", _attention(model, k)) for k in _distinct_heads(model)]
    if isinstance(model.value.output, FixedVector):
        square = node_latex(model.value.output.square, {})
        out.append(Formula("frozen output vector", rf"{_a(model)}^\top {_a(model)} = {square}"))
    loss = as_loss(setting.loss)
    out.append(
        Formula(
            "loss",
            rf"\mathcal{{L}} = \mathbb{{E}}\,\ell\big(y f(X)\big), \quad \ell(z) = "
            rf"{node_latex(loss.value, {})}",
        )
    )
    moves = ",\\ ".join(_map_tex(name) for name in setting.train)
    rule = (
        r"\theta^{+} = \theta - \eta\,\frac{\partial \mathcal{L}}{\partial \theta}"
        if setting.step
        else r"\frac{d \theta}{d t} = -\frac{\partial \mathcal{L}}{\partial \theta}"
    )
    frozen = [name for name in model.weights if name not in setting.train]
    still = r", \quad \text{frozen: } " + ",\\ ".join(map(_map_tex, frozen)) if frozen else ""
    out.append(Formula("training", rf"{rule}, \quad \theta \in \{{{moves}\}}{still}"))
    return out + words_formulas(model.words)


def data_rows(setting: Setting) -> list[DataRow]:
    """Samples of the distribution: all, or some spread evenly over it."""
    if isinstance(setting.data, Data):
        return program_rows(setting)
    chosen = [(sample, [token_tex(token) for token in sample.tokens]) for sample in spread(setting.data.samples)]
    return [
        DataRow(",\\ ".join(counted(words, sample)), f"{sample.label:+d}", fraction_tex(sample.weight))
        for sample, words in chosen
    ]


def _map_tex(name: str) -> str:
    base, _, index = name.partition("_")
    return f"{base}_{{{index}}}" if index else base


def _index(mark: str) -> str:
    return f"_{{{mark}}}" if mark else ""


def _distinct_heads(model: AttentionModel) -> range:
    """Heads differ in weights only, so one formula stands for all when they are many."""
    return range(len(model.heads) if len(model.heads) <= 2 else 1)


def _output(model: AttentionModel) -> str:
    text = ""
    for k, head in enumerate(model.heads):
        sign = "-" if head.sign < 0 else "+" if text else ""
        text += f" {sign} {_activated(head, rf'H{_index(head_mark(model, k))}(X)')}"
    return text.strip()


def _activated(head: Head, inner: str) -> str:
    bias = node_latex(head.bias, {})
    shifted = inner if bias == "0" else f"{inner} {bias}" if bias.startswith("-") else f"{inner} + {bias}"
    if head.activation == "linear":
        return shifted if shifted == inner or head.sign > 0 else rf"\big({shifted}\big)"
    return rf"\mathrm{{relu}}\big({shifted}\big)"


def _a(model: AttentionModel) -> str:
    assert isinstance(model.value.output, FixedVector)
    return word_tex(model.value.output.name)


def _head_value(model: AttentionModel, k: int) -> str:
    mark = head_mark(model, k)
    pool = r"\frac{1}{L}\sum_{l=1}^{L}" if model.pooling == "mean" else r"\sum_{l=1}^{L}"
    chain = chain_tex(model, k, value_path(model))
    weight = rf"p^{{{mark}}}_{{lh}}" if mark else "p_{lh}"
    output = model.value.output
    if isinstance(output, Neurons):
        inner = rf"\sum_{{h=1}}^{{L}} \big({chain}\, x_h\big)_i\, {weight}"
        inner = inner if output.activation == "linear" else rf"\mathrm{{relu}}\Big({inner}\Big)"
        readout = "a_{l i}" if output.per_position else "a_i"
        body = rf"\sum_{{i=1}}^{{{output.size}}} {readout}\, {inner}"
    else:
        left = rf"{_a(model)}^\top " if isinstance(output, FixedVector) else ""
        body = rf"\sum_{{h=1}}^{{L}} {left}{chain}\, x_h\, {weight}"
    return rf"H{_index(mark)}(X) = {pool} {body}"


def _attention(model: AttentionModel, k: int) -> str:
    mark = head_mark(model, k)
    weight = rf"p^{{{mark}}}_{{l h}}" if mark else "p_{l h}"
    scale = node_latex(model.scale, {}) if isinstance(model.scale, Node) else str(model.scale)
    factor = "" if scale == "1" else scale + r"\, "
    chain = chain_tex(model, k, score_path(model))
    power = [rf"\exp\big({factor}x_{{{i}}}^\top {chain}\, x_l\big)" for i in ("h", "i")]
    return rf"{weight} = \frac{{{power[0]}}}{{\sum_{{i=1}}^{{L}} {power[1]}}}"
