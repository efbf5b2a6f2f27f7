//! What belongs to a package, which packages an argument names, what imports mean.

use std::collections::BTreeMap;

use base::{Sources, Symbols};
use cue::load::{Loaded, MemoryFiles, Request, Variable, load};
use cue::syntax::{Options, format_file};

struct World {
    files: MemoryFiles,
    request: Request,
}

fn world(files: &[(&str, &str)]) -> World {
    let mut all = MemoryFiles::new();
    for (path, text) in files {
        all.add(format!("/w/{path}"), *text);
    }
    World {
        files: all,
        request: Request {
            directory: "/w".to_owned(),
            ..Request::default()
        },
    }
}

impl World {
    fn packages(mut self, packages: &[&str]) -> World {
        self.request.packages = packages.iter().map(|&p| p.to_owned()).collect();
        self
    }

    fn tags(mut self, tags: &[&str]) -> World {
        self.request.tags = tags.iter().map(|&t| t.to_owned()).collect();
        self
    }

    fn load(&self) -> (Loaded, Sources, Symbols) {
        let (mut sources, mut symbols) = (Sources::new(), Symbols::new());
        let loaded = load(&self.request, &self.files, &mut sources, &mut symbols);
        (loaded, sources, symbols)
    }

    /// Each instance as its path and its files.
    fn shape(&self) -> Vec<String> {
        let (loaded, sources, _) = self.load();
        let told = |e: &base::Diagnostic| e.message.clone();
        if !loaded.errors.is_empty() {
            return loaded.errors.iter().map(told).collect();
        }
        let name = |f: &cue::syntax::ast::File| sources.get(f.source).name().to_owned();
        let show = |i: &cue::load::Instance| {
            let names: Vec<String> = i.files.iter().map(|f| name(f)).collect();
            format!("{} {}", i.path, names.join(" "))
        };
        let instances = loaded.instances.iter().map(show);
        let imported = loaded.imported.iter().map(|i| format!("+ {}", show(i)));
        instances.chain(imported).collect()
    }
}

const MODULE: (&str, &str) = (
    "cue.mod/module.cue",
    "module: \"m.test@v0\"\nlanguage: version: \"v0.9.0\"\n",
);

#[test]
fn a_package_has_files_of_the_directories_above() {
    let world = world(&[
        MODULE,
        ("a.cue", "package p\n"),
        ("other.cue", "package q\n"),
        ("sub/b.cue", "package p\n"),
        ("sub/_c.cue", "package p\n"),
        ("sub/c_test.cue", "package p\n"),
        ("sub/d_tool.cue", "package p\n"),
        ("sub/anonymous.cue", "x: 1\n"),
    ]);
    assert_eq!(
        world.packages(&["./sub"]).shape(),
        ["m.test/sub:p ./a.cue ./sub/b.cue"]
    );
}

#[test]
fn patterns_find_packages_and_pass_over_other_modules() {
    let world = world(&[
        MODULE,
        ("a.cue", "package a\n"),
        ("x/b.cue", "package x\n"),
        ("x/y/c.cue", "package y\n"),
        ("_skipped/d.cue", "package d\n"),
        ("nested/e.cue", "package e\n"),
        ("nested/cue.mod/module.cue", "module: \"n.test\"\n"),
        ("empty/readme.txt", ""),
    ]);
    let want = [
        "m.test:a ./a.cue",
        "m.test/x:x ./x/b.cue",
        "m.test/x/y:y ./x/y/c.cue",
    ];
    assert_eq!(world.packages(&["./..."]).shape(), want);
}

#[test]
fn imports_come_from_the_module_and_from_vendored_packages() {
    let world = world(&[
        MODULE,
        (
            "a.cue",
            "package a\nimport (\n\t\"strings\"\n\t\"m.test/x\"\n\t\"v.test/y:z\"\n)\n",
        ),
        ("x/b.cue", "package x\nimport \"v.test/y:z\"\n"),
        ("cue.mod/pkg/v.test/y/c.cue", "package z\n"),
        ("cue.mod/usr/v.test/y/d.cue", "package z\n"),
    ]);
    assert_eq!(
        world.packages(&["."]).shape(),
        [
            "m.test:a ./a.cue",
            "+ v.test/y:z ./cue.mod/pkg/v.test/y/c.cue ./cue.mod/usr/v.test/y/d.cue",
            "+ m.test/x:x ./x/b.cue",
        ]
    );
}

#[test]
fn what_cannot_be_loaded_is_explained() {
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str);
    let cases: [Case; 8] = [
        (
            &[("a.cue", "package a\n"), ("b.cue", "package b\n")],
            ".",
            "found packages \"a\" (a.cue) and \"b\" (b.cue) in \".\"",
        ),
        (
            &[("a.cue", "x: 1\n")],
            ".",
            "build constraints exclude all CUE files in .:\n    ./a.cue: no package name",
        ),
        (
            &[("a.cue", "package a\n")],
            ".:b",
            "build constraints exclude all CUE files in .:\n    ./a.cue: package is a, want b",
        ),
        (&[("a.txt", "")], ".", "no CUE files in ."),
        (
            &[("a.cue", "@if(x && !y)\npackage a\n")],
            ".",
            "build constraints exclude all CUE files in .:\n    ./a.cue: @if(x && !y) did not match",
        ),
        (
            &[("a.cue", "package a\nimport \"b.test/c\"\n")],
            ".",
            "import failed: imports are unavailable because there is no cue.mod/module.cue file",
        ),
        (
            &[MODULE, ("a.cue", "package a\nimport \"b.test/c\"\n")],
            ".",
            "import failed: cannot find package \"b.test/c\": cannot find module providing package b.test/c",
        ),
        (
            &[
                MODULE,
                ("a/a.cue", "package a\nimport \"m.test/b\"\n"),
                ("b/b.cue", "package b\nimport \"m.test/a\"\n"),
            ],
            "./a",
            "import failed: import failed: import failed: package import cycle not allowed",
        ),
    ];
    for (files, argument, want) in cases {
        assert_eq!(world(files).packages(&[argument]).shape(), [want]);
    }
}

#[test]
fn tags_choose_files_and_set_values() {
    let files = [
        (
            "a.cue",
            "package a\nenv: string @tag(env,short=prod|dev)\nn: int @tag(n,type=int)\n",
        ),
        ("b.cue", "@if(extra)\n\npackage a\n"),
    ];
    let printed = |world: World| {
        let (loaded, _, symbols) = world.load();
        let told = loaded.errors.iter().map(|e| e.message.clone());
        let instances = loaded.instances.iter().flat_map(|i| &i.files);
        let files = instances.map(|f| format_file(f, &symbols, Options::default()));
        told.chain(files).collect::<Vec<_>>().join("---\n")
    };
    let load = |tags: &[&str]| printed(world(&files).packages(&["."]).tags(tags));
    assert!(load(&["env=x", "n=3"]).contains("env: string & \"x\" @tag"));
    assert!(load(&["prod"]).contains("\"prod\""));
    assert!(load(&["extra"]).contains("@if(extra)"));
    assert_eq!(load(&["zz=1"]), "no tag for \"zz\"");
    assert_eq!(load(&["zz"]), "tag \"zz\" not used in any file");
    let number = "invalid number for injection tag \"n\": illegal number start \"x\"";
    assert_eq!(load(&["n=x"]), number);
    let mut with =
        world(&[("a.cue", "package a\nwho: string @tag(who,var=user)\n")]).packages(&["."]);
    let value = Variable::Text("me".to_owned());
    with.request.variables = BTreeMap::from([("user".to_owned(), value)]);
    assert!(printed(with).contains("\"me\""));
}
