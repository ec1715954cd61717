"""How the documentation site is built: `make docs`, offline, with warnings as errors."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]

from nbclient import NotebookClient  # noqa: E402

import odesys  # noqa: E402

project = "odesys"
author = "The odesys authors"
copyright = "The odesys authors, MIT licence"
version = release = odesys.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "mathml",  # the rest is in _ext
    "reference",
    "examples",
]
exclude_patterns = ["_build", "releasing.md"]
nitpicky = False  # types of the field's libraries are named and not linked

# ---- pages -----------------------------------------------------------------------------------------------------------
html_theme = "furo"
html_title = f"odesys {release}"
FONTS = HERE.parent / "odesys" / "report" / "fonts"  # that of the report, for formulas
html_static_path = ["_static", *([str(FONTS)] if FONTS.is_dir() else [])]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = html_show_sourcelink = False
html_theme_options = {"source_repository": "", "navigation_with_keys": True}
pygments_style, pygments_dark_style = "friendly", "github-dark"
copybutton_prompt_text, copybutton_prompt_is_regexp = r">>> |\.\.\. |\$ ", True
copybutton_exclude = ".linenos, .gp, .go"

# ---- notebooks -------------------------------------------------------------------------------------------------------
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
NotebookClient.startup_timeout = 600  # seconds; a minute is too short where much else runs

# ---- docstrings ------------------------------------------------------------------------------------------------------
default_role = "py:obj"
add_module_names = False
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
