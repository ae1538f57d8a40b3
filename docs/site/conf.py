"""The configuration of Sphinx. The pages come from build/site.pages, where build.py writes them."""

import os

project = "Steadfold"
author = copyright = "The Steadfold developers"
release = version = os.environ["STEADFOLD_VERSION"]

extensions = [
    "myst_nb",  # MyST Markdown, and notebooks that run while the site is built
    "sphinx_design",  # tabs, one per language; markdown.py writes them
]
myst_heading_anchors = 4  # gives headings the same anchors as GitHub does
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_show_tb = True  # a cell that fails is a warning, and build.py makes warnings errors
nb_ipywidgets_js = {}  # pages load no script from other servers

html_theme = "furo"
html_title = "Steadfold"
html_static_path = ["static"]
templates_path = ["templates"]
html_additional_pages = {"search": "search.html"}
html_css_files = ["site.css"]
html_use_index = False
html_copy_source = False  # build.py copies the Markdown of the pages
html_show_sphinx = False
html_show_copyright = False
highlight_language = "text"
# tests/site checks the contrast of these styles; most other styles have too little.
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "github-dark"


def setup(app):
    """Turns off the search index of Sphinx: search.py makes the index that the site uses."""

    def leave_out_search(app):
        app.builder.search = False

    app.connect("builder-inited", leave_out_search)
