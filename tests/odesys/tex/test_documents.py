"""Templates: what is escaped, what is refused, and when Jinja2 is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from odesys.tex.documents import html_templates, plain, tex_templates


def test_latex_text_is_harmless() -> None:
    assert plain("a_b & 50% \\x {y} ^~ ≥ α “q”") == (
        r"a\_b \& 50\% \textbackslash{}x \{y\} \textasciicircum{}\textasciitilde{} \ensuremath{\ge} "
        r"\ensuremath{\alpha} ``q''"
    )
    assert plain("\N{SNOWMAN} \x00\x1b\x0c\N{RIGHT-TO-LEFT OVERRIDE}\n") == "? ?? ? "


def test_html_values_are_escaped_unless_they_are_markup() -> None:
    from markupsafe import Markup

    greet = html_templates("odesys.report", "templates/html").from_string("<p>{{ value }}</p>")
    assert greet.render(value="a < b & c") == "<p>a &lt; b &amp; c</p>"
    assert greet.render(value=Markup("<b>x</b>")) == "<p><b>x</b></p>"


def test_filters_of_the_package() -> None:
    twice = html_templates("odesys.tex", twice=lambda value: 2 * value)
    assert twice.from_string("{{ 21|twice }}").render() == "42" and "twice" not in html_templates("odesys.tex").filters


def test_tex_has_marks_of_its_own() -> None:
    greet = tex_templates("odesys.tex").from_string(
        r"\frac{{1}}{<< tex >>} {% <% if note %><< note|plain >><% endif %>"
    )
    assert greet.render(tex="x_1", note="50 % & more") == r"\frac{{1}}{x_1} {% 50 \% \& more"


@pytest.mark.parametrize(("templates", "text"), [(html_templates, "{{ x }}"), (tex_templates, "<< x >>")])
def test_a_missing_value_is_an_error(templates, text: str) -> None:
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError, match="'x' is undefined"):
        templates("odesys.tex").from_string(text).render()


def test_jinja_is_loaded_only_when_something_is_written() -> None:
    code = "import sys, odesys.cli.commands, odesys.report.write; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
