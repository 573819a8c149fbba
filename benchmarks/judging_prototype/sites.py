import pathlib

R = pathlib.Path("WORKHOME")
S = pathlib.Path("WORK")
U = pathlib.Path("/usr/share")
# name: (folder, index, truth css, less css)
SITES = {
    # development: those of the prototype
    "cppreference": (
        U / "cppreference/doc/html",
        None,
        "#firstHeading, #mw-content-text",
        ".t-navbar, #toc",
    ),
    "postgresql": (
        U / "doc/postgresql-doc-15/html",
        "index.html",
        "body",
        ".navheader, .navfooter",
    ),
    "python": (U / "doc/python3.11/html", "index.html", "div.body", ""),
    "apache": (R / "doc/apache2-doc/manual/en", "index.html", "#page-content", "#quickview, .top"),
    "handbook": (
        R / "doc/debian-handbook/html/en-US",
        "index.html",
        "body",
        ".docnav, #banner, p#title",
    ),
    "schools": (
        S / "schools/wpcd",
        None,
        "#firstHeading, h1.firstHeading, #bodyContent",
        "#siteSub, #toc, .printfooter, #contentSub, #jump-to-nav",
    ),
    "linux": (R / "doc/linux-doc-6.1/html", "index.html", "[role=main]", ""),
    "pandas": (
        R / "doc/python-pandas-doc/html",
        "index.html",
        "main",
        ".prev-next-area, .bd-sidebar-secondary, .prev-next-bottom",
    ),
    "openjdk": (R / "doc/openjdk-17-jre-headless/api", "index.html", "main", ""),
    "node": (R / "doc/nodejs/api", "index.html", "#column1", "header, #toc, .header, .toc"),
    "erlang": (R / "doc/erlang-doc", "doc/index.html", "#content", "nav, footer, .footer"),
    "lilypond": (
        R / "doc/lilypond/html/Documentation",
        "index.html",
        "#main, .contents-main",
        "table.nav_table, .nav_table, #footer, #languages, #highlighting-settings, .tocframe",
    ),
    # held out
    "indieweb": (
        S / "sites/indieweb",
        "00000.html",
        "#firstHeading, #mw-content-text",
        "#toc, .toc, .mw-editsection, .printfooter",
    ),
    "forum": (S / "sites/forum", "00000.html", "h1.headline, .comment__text", "", ".comment__text"),
    "news": (S / "news/out", "index.html", "#content, #featured", ".post-info, .paginator"),
    "handbook-ja": (
        R / "doc/debian-handbook/html/ja-JP",
        "index.html",
        "body",
        ".docnav, #banner, p#title",
    ),
    "gimp-zh": (R / "gimp/2.0/help/zh_CN", "index.html", "body", ".navheader, .navfooter"),
    "libreoffice-ja": (R / "libreoffice/help/ja/text", None, "#DisplayArea", ""),
    "gimp-ru": (R / "gimp/2.0/help/ru", "index.html", "body", ".navheader, .navfooter"),
    "rust": (R / "doc/rust-doc/html/std", "index.html", "main", ""),
    "django": (R / "doc/python-django-doc/html", "index.html", "#yui-main", ""),
    "sqlite": (R / "doc/sqlite3", "index.html", "body", "body > .nosearch, .fancy_toc, #toc_sub"),
    "qt": (R / "qt5/doc/qtcore", "qtcore-index.html", ".mainContent", ".sidebar, .navigationbar"),
    "ikiwiki": (R / "doc/ikiwiki/html", "index.html", "#content, .title", ""),
    "git-annex": (
        R / "doc/git-annex/html",
        "index.html",
        "#content, .title, .comment",
        ".comment-header",
    ),
    "octave": (R / "doc/octave/octave.html", "index.html", "body", ".header"),
    "ghc": (
        R / "doc/ghc-doc/html/libraries/base-4.15.1.0",
        "index.html",
        "#content",
        "#table-of-contents, #alphabet, table.info",
    ),
    "glib": (R / "gtk-doc/html/gio", None, "body", ".navigation, .footer"),
    "eigen": (R / "doc/libeigen3-dev/html", "index.html", ".header .title, .contents", ""),
    "libreoffice-fr": (R / "libreoffice/help/fr/text", None, "#DisplayArea", ""),
}
