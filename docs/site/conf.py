"""Sphinx reads this. The pages come from build/site.pages, where build.py lays them out."""

import os

project = "Steadfold"
author = copyright = "The Steadfold developers"
release = version = os.environ["STEADFOLD_VERSION"]

extensions = [
    "myst_nb",  # MyST Markdown, and notebooks that run while the site is built
    "sphinx_design",  # tabs, one per language; markdown.py writes them
]
myst_heading_anchors = 4  # the anchors that GitHub makes of headings
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_show_tb = True  # a failure is a warning, which is an error
nb_ipywidgets_js = {}  # nothing is loaded from elsewhere

html_theme = "furo"
html_title = "Steadfold"
html_static_path = ["static"]
templates_path = ["templates"]
html_additional_pages = {"search": "search.html"}
html_css_files = ["site.css"]
html_use_index = False
html_copy_source = False  # the Markdown stands beside the pages, see llms.txt
html_show_sphinx = False
html_show_copyright = False
highlight_language = "text"
# tests/site computes their contrast, which few styles have.
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "github-dark"


def setup(app):
    """Sphinx makes no search of its own: see search.py."""

    def leave_out_search(app):
        app.builder.search = False

    app.connect("builder-inited", leave_out_search)
