"""The code bases that are measured: one part to learn from, one to choose by, one only to report on."""

from __future__ import annotations

from typing import Final, NamedTuple


class CodeBase(NamedTuple):
    """A public repository at a commit."""

    language: str
    repository: str
    commit: str
    part: str  # dev: may be looked into; choose: was reported on once; held: only reported
    below: str = ""  # the folder whose definitions are asked about


CODE_BASES: Final = (
    CodeBase("python", "pallets/click", "2c8cd3ac", "dev", "src/"),
    CodeBase("python", "Textualize/rich", "42899d8a", "dev", "rich/"),
    CodeBase("python", "pallets/flask", "2ac89889", "dev", "src/"),
    CodeBase("python", "encode/httpx", "ae1b9f66", "choose", "httpx/"),
    CodeBase("python", "encode/starlette", "cb8f84f5", "held", "starlette/"),
    CodeBase("python", "pallets/jinja", "5ef70112", "held", "src/"),
    CodeBase("typescript", "colinhacks/zod", "e516c3baf", "dev", "packages/zod/src/"),
    CodeBase("typescript", "reduxjs/redux", "3084fc33", "dev", "src/"),
    CodeBase("typescript", "can1357/oh-my-pi", "adad196f", "dev", "packages/"),
    CodeBase("typescript", "honojs/hono", "28a9c128", "choose", "src/"),
    CodeBase("typescript", "ReactiveX/rxjs", "72bc92191", "held", "src/"),
    CodeBase("typescript", "immerjs/immer", "061c242", "held", "src/"),
    CodeBase("go", "go-chi/chi", "735ae2b", "dev"),
    CodeBase("go", "BurntSushi/toml", "d733fc5", "dev"),
    CodeBase("go", "gin-gonic/gin", "dcaa4296", "dev"),
    CodeBase("go", "gorilla/mux", "db9d1d0", "choose"),
    CodeBase("go", "rs/zerolog", "1396655", "choose"),
    CodeBase("go", "valyala/fasthttp", "f2033078", "held"),
    CodeBase("go", "urfave/cli", "1305a082", "held"),
    CodeBase("rust", "rust-lang/regex", "2b52759", "dev"),
    CodeBase("rust", "tokio-rs/axum", "3d78036d", "dev", "axum"),
    CodeBase("rust", "rust-bakery/nom", "a44b52ed", "choose", "src/"),
    CodeBase("rust", "dtolnay/syn", "8011b1c5", "choose", "src/"),
    CodeBase("rust", "rust-itertools/itertools", "af6d17d", "held", "src/"),
    CodeBase("rust", "clap-rs/clap", "6982fb1c9", "held", "clap_"),
    CodeBase("java", "google/gson", "9835b6f90", "dev", "gson/src/main/"),
    CodeBase("java", "apache/commons-lang", "d15939ef4", "choose", "src/main/"),
    CodeBase("java", "jhy/jsoup", "46b62086", "held", "src/main/"),
    CodeBase("c", "lua/lua", "53b41d0c", "dev"),
    CodeBase("c", "libuv/libuv", "6179e7af", "dev", "src/"),
    CodeBase("c", "jqlang/jq", "579e6f76", "choose", "src/"),
    CodeBase("c", "madler/zlib", "d201f04", "held"),
    CodeBase("c", "tmux/tmux", "c1f947a3c", "held"),
    CodeBase("cpp", "google/leveldb", "78a352f", "dev"),
    CodeBase("cpp", "google/re2", "954656f4", "dev"),
    CodeBase("cpp", "leethomason/tinyxml2", "3dcad8e3", "choose"),
    CodeBase("cpp", "jbeder/yaml-cpp", "c3f8112", "held"),
    CodeBase("cpp", "gabime/spdlog", "62302019", "held"),
)
