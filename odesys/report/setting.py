r"""A program and its data in formulas: output, maps with their spaces, loss, rule of training, words, samples.

.. math::  f(X) = w^\top X \operatorname{softmax}\big(X^\top W_K^\top W_Q X\big), \qquad
           W_K, W_Q : \mathbb{R}^{d} \to \mathbb{R}^{m} .
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ..derive.motion import STEP_SIZE, Motion, Rule
from ..expr.graph import ONE, ZERO, Node, as_node
from ..model.loss import Loss, as_loss
from ..model.paths import Letter
from ..papers.paper import Formula, Setting
from ..program.data import Data, coordinates
from ..program.expressions import Expr
from ..program.functions import cross_entropy, squared
from ..program.gaussian import Gaussian
from ..program.order import parts
from ..program.program import program_output
from ..program.spaces import ONE_AXIS, Side, Space, Tokens, Units, Words
from ..tex.formula import ProgramTex, formula, letter_tex
from ..tex.latex import name_tex, node_latex
from .setting_words import DataRow, counted, fraction_tex, spread, token_tex, words_formulas

NORMALS_SHOWN = 12
_SLOPE = r"\frac{\partial \mathcal{L}}{\partial THETA}"


def setting_formulas(setting: Setting) -> list[Formula]:
    """The output, the maps and their spaces, the loss, what is trained, and the words."""
    assert isinstance(setting.data, Data) and callable(setting.model)
    outputs = {length: program_output(setting.model, setting.data, length) for length in _lengths(setting.data)}
    out = _output(outputs)
    letters = {part.data.map: part for output in outputs.values() for part in parts(output) if part.op == "map"}
    out += _maps(letters)
    out += _loss(setting, next(iter(outputs.values())))
    out += _training(setting, letters)
    spaces = {side for output in outputs.values() for part in parts(output) for side in (part.rows, part.columns)}
    others = sorted({s for s in spaces if isinstance(s, Words) and s != setting.data.words}, key=lambda s: s.name)
    for words in (setting.data.words, *others):
        out += words_formulas(words.pinned)
    if isinstance(setting.data, Gaussian):
        out.append(_population(setting.data))
    return out


def data_rows(setting: Setting) -> list[DataRow]:
    """Samples: all, or some spread evenly over them."""
    data = setting.data
    assert isinstance(data, Data) and callable(setting.model)
    names, kind = _normals(data), _kind(data, program_output(setting.model, data, _lengths(data)[0]))
    rows = []
    for sample in spread(data.samples):
        written = counted([_token(data.words, token, names) for token in sample.tokens], sample)
        label = f"{sample.label:+d}" if kind == "label" else _target(sample.label, names)
        rows.append(DataRow(",\\ ".join(written), label, fraction_tex(sample.weight), kind))
    return rows


def _kind(data: Data, output: Expr) -> str:
    """What a target is called: a sign is a label, a whole number for several outputs a class."""
    whole = all(isinstance(sample.label, (int, np.integer)) for sample in data.samples)
    if whole and output.rows.size > 1:  # type: ignore[union-attr]
        return "class"
    return "label" if whole and all(abs(sample.label) == 1 for sample in data.samples) else "target"


def _lengths(data: Data) -> list[int]:
    return sorted({len(sample.tokens) for sample in data.samples}, reverse=True)


def _output(outputs: Mapping[int, Expr]) -> list[Formula]:
    """The output; where the formula is another one for other lengths, each length has its own."""
    written: dict[ProgramTex, list[int]] = {}
    for length, output in outputs.items():
        written.setdefault(formula(output), []).append(length)
    out: list[Formula] = []
    for found, lengths in written.items():
        which = "" if len(written) == 1 else f", L = {', '.join(map(str, lengths))}"
        out.append(Formula(f"output{which}", f"f(X) = {found.tex}"))
        out += [Formula(what, tex) for what, tex in found.beside if Formula(what, tex) not in out]
    return out


# ---- maps ----------------------------------------------------------------------------------------------------------


def _maps(letters: Mapping[str, Expr]) -> list[Formula]:
    """One line for all maps between the same spaces."""
    groups: dict[tuple[Side, Side], list[Expr]] = {}
    for expr in letters.values():
        groups.setdefault((expr.rows, expr.columns), []).append(expr)
    taken = {side.name for sides in groups for side in sides if isinstance(side, Space)}
    dimension = "d" if "d" not in taken else "D"
    out = []
    for (rows, columns), exprs in groups.items():
        vectors = ONE_AXIS in (rows, columns)
        names = ",\\ ".join(letter_tex(expr, vectors and columns != ONE_AXIS) for expr in exprs)
        if vectors:
            where = rf"\in {_space(rows if columns == ONE_AXIS else columns, dimension)}"
        else:
            where = rf"\ :\ {_space(columns, dimension)} \to {_space(rows, dimension)}"
        out.append(Formula("maps" if len(exprs) > 1 else "map", f"{names} {where}"))
    return out


def _space(side: Side, dimension: str) -> str:
    if isinstance(side, Words):
        return (
            rf"\mathbb{{R}}^{{{dimension}}}" if side.name == "E" else rf"\mathbb{{R}}^{{{dimension}_{{{side.name}}}}}"
        )
    if isinstance(side, Space):
        return rf"\mathbb{{R}}^{{{name_tex(side.name)}}}"
    assert isinstance(side, (Units, Tokens))
    return r"\mathbb{R}" if side.size == 1 else rf"\mathbb{{R}}^{{{side.size}}}"


def _letter(name: str, letters: Mapping[str, Expr]) -> str:
    """A map, or a velocity beside the maps, by name; a row as the vector it is the transpose of."""
    stem, _, head = name.partition(".")
    expr = letters.get(name, Expr("map", (), ONE_AXIS, ONE_AXIS, Letter(stem, of=head)))
    return letter_tex(expr, expr.rows == ONE_AXIS and expr.columns != ONE_AXIS)


# ---- loss and training ---------------------------------------------------------------------------------------------


def _loss(setting: Setting, output: Expr) -> list[Formula]:
    loss, mean = setting.loss, r"\mathcal{L} = \mathbb{E}\,"
    if not callable(loss) or isinstance(loss, Loss) or hasattr(loss, "free_symbols"):
        value = node_latex(as_loss(loss).value, {})
        return [Formula("loss", rf"{mean}\ell\big(y f(X)\big), \quad \ell(z) = {value}")]
    if loss is squared:
        single = output.rows.size == output.columns.size == 1  # type: ignore[union-attr]
        body = r"\big(f(X) - y\big)^{2}" if single else r"\Vert f(X) - y \Vert^{2}"
        return [Formula("loss", rf"{mean}\frac{{1}}{{2}} {body}")]
    if loss is cross_entropy:
        return [Formula("loss", rf"{mean}\Big(\log \sum_{{k}} e^{{f_{{k}}(X)}} - f_{{y}}(X)\Big)")]
    shape = (output.rows.size, output.columns.size, str(output))  # type: ignore[union-attr]
    f, y = (Expr("target", (), output.rows, output.columns, shape) for _ in range(2))
    written = formula(loss(f, y), {f: "f", y: "y"})
    return [
        Formula("loss", rf"{mean}\ell\big(f(X), y\big), \quad \ell(f, y) = {written.tex}"),
        *(Formula(what, tex) for what, tex in written.beside),
    ]


def _training(setting: Setting, letters: Mapping[str, Expr]) -> list[Formula]:
    given = setting.train.split() if isinstance(setting.train, str) else setting.train
    trained = [name for name in letters if not given or name in given or name.partition(".")[0] in given]
    frozen = [name for name in letters if name not in trained]
    still = r", \quad \text{frozen: } " + _listed(frozen, letters) if frozen else ""
    where = rf", \quad \theta \in \{{{_listed(trained, letters)}\}}{still}"
    rule = setting.rule
    if rule is None or _is_plain(rule):
        turn = rule.turn.name if rule is not None and rule.turn is not None else ""
        return [Formula("training", _moved(r"\theta", Motion(), setting.step, turn, {}) + where)]
    lines = [
        Formula(
            "training", _moved(_letter(name, letters), motion, rule.step, rule.turn.name if rule.turn else "", letters)
        )
        for name, motion in rule.motions.items()
    ]
    return [*lines, *([Formula("frozen", _listed(frozen, letters))] if frozen else [])]


def _is_plain(rule: Rule) -> bool:
    """True if every map moves by its own force alone."""
    return all(
        motion.force is ONE and not motion.on and (not motion.maps or (rule.step and dict(motion.maps) == {name: ONE}))
        for name, motion in rule.motions.items()
    )


def _moved(theta: str, motion: Motion, step: bool, turn: str, letters: Mapping[str, Expr]) -> str:
    """The motion of one map."""
    on = _letter(motion.on, letters) if motion.on else theta
    slope = _SLOPE.replace("THETA", on)
    if turn == "sign descent":
        slope = rf"\operatorname{{sign}} {slope}"
    elif turn == "normalised descent":
        slope = rf"\frac{{1}}{{\Vert \nabla \mathcal{{L}} \Vert}} {slope}"
    terms = [(value, _letter(name, letters)) for name, value in motion.maps.items()]
    if step and not terms:
        terms = [(ONE, theta)]
    text = " + ".join(_multiple(value, name) for value, name in terms)
    if motion.force is not ZERO:
        size = _multiple(motion.force, rf"{name_tex(STEP_SIZE)}\," if step else "")
        text += f" - {size}{slope}" if text else f"-{size}{slope}"
    text = text.replace("+ -", "- ")
    left = rf"{theta}^{{+}}" if step else rf"\frac{{d {theta}}}{{d t}}"
    return f"{left} = {text or '0'}"


def _multiple(factor: Node, tex: str) -> str:
    if factor is ONE:
        return tex
    if factor is -ONE:
        return f"-{tex}"
    shown = node_latex(factor, {})
    several = factor.op == "add" and len(factor.args) > 1
    return (rf"\big({shown}\big)" if several else shown) + rf"\, {tex}"


def _listed(names: Iterable[str], letters: Mapping[str, Expr]) -> str:
    return ",\\ ".join(_letter(name, letters) for name in names)


# ---- data ----------------------------------------------------------------------------------------------------------


def _normals(data: Data) -> dict[str, str]:
    """TeX of the normals of a population, whose symbols have a mark in front."""
    return {f"~{name}": name_tex(name) for name in data.normals} if isinstance(data, Gaussian) else {}


def _population(data: Gaussian) -> Formula:
    shown = [name_tex(name) for name in data.normals[:NORMALS_SHOWN]]
    more = [r"\dots"] if len(data.normals) > NORMALS_SHOWN else []
    return Formula("population", ",\\ ".join([*shown, *more]) + r" \sim \mathcal{N}(0, 1) \quad \text{independent}")


def _token(words: Words, token: Any, names: Mapping[str, str]) -> str:
    """A token as a word, or as a combination of words."""
    if isinstance(token, str):
        return token_tex(token)
    text = ""
    for place, value in coordinates(words, token).items():
        word = token_tex(words.pinned.words[place])
        shown = _multiple_of_word(value, word, names)
        text += f" + {shown}" if text and not shown.startswith("-") else f" {shown}" if text else shown
    return text or "0"


def _multiple_of_word(value: Node, word: str, names: Mapping[str, str]) -> str:
    if value is ONE or value is -ONE:
        return word if value is ONE else f"-{word}"
    shown = _number(value, names)
    several = value.op == "add" and len(value.args) > 1
    return (rf"({shown})" if several else shown) + rf"\, {word}"


def _target(target: Any, names: Mapping[str, str]) -> str:
    """A sign, a class, a number, a vector, or one of them per position."""
    target = target.split() if isinstance(target, str) and len(target.split()) > 1 else target
    if isinstance(target, (tuple, list, np.ndarray)):
        return r"\big(" + ",\\ ".join(_target(value, names) for value in target) + r"\big)"
    return _number(target, names)


def _number(value: Any, names: Mapping[str, str]) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, (int, np.integer, Fraction)):
        return fraction_tex(value if isinstance(value, Fraction) else Fraction(int(value)))
    node = as_node(value)
    if node.op == "num" and isinstance(node.args[0], float):
        return f"{node.args[0]:.6g}"
    return node_latex(node, names)
