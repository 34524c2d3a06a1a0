"""Makes a site of the documents: adds the README, the changelog, the lists of api.py, and what one can download.

MkDocs calls these functions; https://www.mkdocs.org/dev-guide/plugins/#events describes when.
"""

import ast
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

CHECKOUT = Path(__file__).resolve().parents[2]
MANIFEST = tomllib.loads((CHECKOUT / "blender_manifest.toml").read_text(encoding="utf-8"))
ZIP = f"{MANIFEST['id']}-{MANIFEST['version']}.zip"
"""The download that the site offers, by the name that Blender's tool gives it."""
ADDED = {"index.md": "README.md", "changelog.md": "CHANGELOG.md"}
"""Pages that are documents of the checkout's root."""
API = "<!-- api -->"
"""Where scripting.md gets the lists of properties and operators."""
FILES = "<!-- files -->"
"""Where architecture.md gets the list of files."""
RELEASES = "](../../releases/latest)"
"""Where the README leads to downloads; the site has its own."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The site's address is the one that the manifest names."""
    config.site_url = MANIFEST["website"]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not below docs/."""
    for page, source in ADDED.items():
        files.append(File.generated(config, page, content=below_docs((CHECKOUT / source).read_text())))
    files.append(File.generated(config, ZIP, content=extension()))
    for scene in CHECKOUT.glob("sample_scenes/*.blend"):
        files.append(File.generated(config, f"sample_scenes/{scene.name}", abs_src_path=str(scene)))
    return files


def extension() -> bytes:
    """The extension as a zip, made by the script that makes a release's."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(CHECKOUT / ".ci" / "zip.py"), folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return Path(folder, ZIP).read_bytes()


def below_docs(text: str) -> str:
    """A document of the root as a page: links into docs/ lead beside it, links elsewhere become plain text."""
    text = text.replace("](docs/", "](").replace(RELEASES, f"]({ZIP})")
    return re.sub(
        r"\[([^\]]+)\]\((?!https?://|#)([^)]+)\)", lambda link: link[0] if _is_page(link[2]) else link[1], text
    )


def _is_page(link: str) -> bool:
    return link == ZIP or link.startswith("sample_scenes/") or (CHECKOUT / "docs" / link.partition("#")[0]).exists()


def on_page_markdown(markdown: str, page: Page, **_kwargs) -> str:
    """Put the lists of properties and operators, and of files, where pages have room for them."""
    if page.ancestors and page.ancestors[-1].title == "Evidence":
        # Who searches wants to do something; figures come after it.
        page.meta["search"] = {"boost": 0.3}
    markdown = markdown.replace("](../sample_scenes/", "](sample_scenes/")
    markdown = markdown.replace(FILES, house()) if FILES in markdown else markdown
    return markdown.replace(API, api()) if API in markdown else markdown


def house() -> str:
    """The files of the add-on, each with the first sentence that it says of itself."""
    lines = ["| file | what is in it |", "| --- | --- |"]
    for path in sorted((CHECKOUT / "ik_addon").rglob("*.py")):
        words = ast.get_docstring(ast.parse(path.read_text())) or ""
        said = " ".join(words.partition("\n\n")[0].split())
        lines.append(f"| `{path.relative_to(CHECKOUT / 'ik_addon').as_posix()}` | {said} |")
    return "\n".join(lines)


def api() -> str:
    """The lists, made in a process of its own: Blender stays out of MkDocs' process."""
    command = [sys.executable, str(Path(__file__).with_name("api.py"))]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8").stdout
