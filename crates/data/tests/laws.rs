//! Laws of reading and writing, on random input: what is written reads back as the same value in
//! each format; nothing makes a reader panic.

use base::{SourceId, Sources, Span, Symbols};
use data::write::{self, Writer};
use data::{Format, NodeId, Number, Options, Reading, Tree, TreeBuilder};
use proptest::prelude::*;

/// A value to be written.
#[derive(Clone, Debug)]
enum Plain {
    Null,
    Bool(bool),
    Number(String),
    String(String),
    List(Vec<Plain>),
    Map(Vec<(String, Plain)>),
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{0,12}",
        "[-+0-9._:eExobTZ ]{1,10}",
        "[ \n\t#:a'\"|>-]{0,8}",
        "(~|null|yes|no|y|n|on|<<|true|\\.inf|=|!|&a|\\*a|---|\\.\\.\\.)",
        "[a-z\u{85}\u{a0}\u{2028}\u{feff}\u{1f600}\r]{0,4}",
    ]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        "-?(0|[1-9][0-9]{0,40})",
        "-?(0|[1-9][0-9]{0,5})\\.[0-9]{1,8}(e[+-]?[0-9]{1,3})?",
        "-?[1-9]e[+-]?[0-9]{1,9}",
    ]
    .prop_filter("-0 is 0", |text| text != "-0")
}

fn plain(null: bool) -> impl Strategy<Value = Plain> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(move |b| if null { Plain::Null } else { Plain::Bool(b) }),
        any::<bool>().prop_map(Plain::Bool),
        number().prop_map(Plain::Number),
        text().prop_map(Plain::String),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Plain::List),
            map(inner),
        ]
    })
}

fn map(inner: impl Strategy<Value = Plain>) -> impl Strategy<Value = Plain> {
    prop::collection::vec((text(), inner), 0..5).prop_map(|mut fields| {
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        fields.dedup_by(|a, b| a.0 == b.0);
        Plain::Map(fields)
    })
}

fn root_map(null: bool) -> impl Strategy<Value = Plain> {
    map(plain(null))
}

fn is_int(text: &str) -> bool {
    !text.contains(['.', 'e'])
}

fn write(writer: &mut impl Writer, value: &Plain) {
    match value {
        Plain::Null => writer.null(),
        Plain::Bool(value) => writer.bool(*value),
        Plain::Number(text) => writer.number(Number {
            text,
            is_int: is_int(text),
        }),
        Plain::String(text) => writer.string(text),
        Plain::List(items) => {
            writer.begin_list();
            items.iter().for_each(|item| write(writer, item));
            writer.end_list();
        }
        Plain::Map(fields) => {
            writer.begin_map();
            for (name, value) in fields {
                writer.key(name);
                writer.comment("a remark");
                write(writer, value);
            }
            writer.end_map();
        }
    }
}

fn build(builder: &mut TreeBuilder, symbols: &mut Symbols, value: &Plain) -> NodeId {
    let span = Span::new(SourceId(0), 0..0);
    match value {
        Plain::Null => builder.null(span),
        Plain::Bool(value) => builder.bool(span, *value),
        Plain::Number(text) => builder.number(
            span,
            Number {
                text,
                is_int: is_int(text),
            },
        ),
        Plain::String(text) => builder.string(span, text),
        Plain::List(items) => {
            let items: Vec<_> = items.iter().map(|i| build(builder, symbols, i)).collect();
            builder.list(span, &items)
        }
        Plain::Map(fields) => {
            let mut built = Vec::new();
            for (name, value) in fields {
                let value = build(builder, symbols, value);
                built.push(builder.field(span, symbols.intern(name), value));
            }
            builder.map(span, &built)
        }
    }
}

fn tree(symbols: &mut Symbols, value: &Plain) -> Tree {
    let mut builder = TreeBuilder::new(SourceId(0), "".into());
    let root = build(&mut builder, symbols, value);
    builder.finish(root)
}

/// Reads a text that was written and compares it with what was meant.
fn reads_back(format: Format, written: &str, value: &Plain) -> Result<(), TestCaseError> {
    let mut symbols = Symbols::new();
    let wanted = tree(&mut symbols, value);
    let options = Options::default();
    let parsed = data::parse(format, SourceId(0), written.into(), &mut symbols, &options);
    prop_assert!(
        parsed.findings.is_empty(),
        "{written}\n{:?}",
        parsed.findings
    );
    let [found] = parsed.documents.as_slice() else {
        return Err(TestCaseError::fail(format!("not one document: {written}")));
    };
    prop_assert!(
        found.equal(found.root(), &wanted, wanted.root()),
        "{written}\nwanted {value:?}"
    );
    // Each span of a leaf lies in the text, each string reads from it.
    for id in (0..found.len()).map(|id| NodeId(u32::try_from(id).expect("small"))) {
        prop_assert!(written.get(found.span(id).range()).is_some());
    }
    Ok(())
}

/// Reads anything in every format; only a panic or a wild span is wrong.
fn survives(text: &str) -> Result<(), TestCaseError> {
    for format in [Format::Json, Format::JsonLines, Format::Yaml, Format::Toml] {
        for reading in [Reading::Strict, Reading::Reference] {
            let mut sources = Sources::new();
            let mut symbols = Symbols::new();
            let id = sources.add("x", text);
            let text = sources.get(id).text().clone();
            let parsed = data::parse(format, id, text, &mut symbols, &Options { reading });
            for finding in &parsed.findings {
                prop_assert!(!finding.labels.is_empty());
                for label in &finding.labels {
                    prop_assert!(label.span.start <= label.span.end);
                }
            }
            for tree in &parsed.documents {
                let mut yaml = write::Yaml::new();
                write::node(&mut yaml, tree, tree.root(), &symbols);
                yaml.finish();
                if reading == Reading::Strict {
                    prop_assert!(tree.equal(tree.root(), tree, tree.root()));
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn json_reads_back(value in plain(true)) {
        for mut writer in [write::Json::compact(), write::Json::indented(4)] {
            write(&mut writer, &value);
            let written = writer.finish();
            reads_back(Format::Json, &written, &value)?;
            if let Err(error) = serde_json::from_str::<serde_json::Value>(&written) {
                prop_assert!(error.to_string().contains("out of range"), "{error}: {written}");
            }
        }
    }

    #[test]
    fn yaml_reads_back(value in plain(true)) {
        let mut writer = write::Yaml::new();
        write(&mut writer, &value);
        reads_back(Format::Yaml, &writer.finish(), &value)?;
    }

    #[test]
    fn toml_reads_back(value in root_map(false)) {
        for mut writer in [write::Toml::new(), write::Toml::sorted()] {
            write(&mut writer, &value);
            let written = writer.finish().expect("no null and a map");
            reads_back(Format::Toml, &written, &value)?;
        }
    }

    #[test]
    fn json_is_yaml(value in plain(true)) {
        let mut writer = write::Json::indented(2);
        write(&mut writer, &value);
        let written = writer.finish();
        let mut symbols = Symbols::new();
        let options = Options::default();
        // JSON's numbers beyond a double are strings in YAML; only that it is read counts here.
        let parsed = data::parse(Format::Yaml, SourceId(0), written.as_str().into(), &mut symbols, &options);
        let long = written.split('"').any(|part| part.chars().count() > 900);
        prop_assert!(long || parsed.findings.is_empty(), "{written}\n{:?}", parsed.findings);
    }

    #[test]
    fn any_text_is_survived(text in any::<String>()) {
        survives(&text)?;
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        survives(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn any_syntax_is_survived(text in "([-?:,{}\\[\\]#&*!|>'\"%@`=.<\n\t ]|a|1|&a|\\*a|!default|<<: |\\[\\[|---\n|\\.\\.\\.\n){0,60}") {
        survives(&text)?;
    }

    #[test]
    fn good_text_gone_bad_is_survived(
        value in root_map(false),
        at in any::<prop::sample::Index>(),
        cut in 0usize..4,
        junk in "[-:\"'{}\\[\\]&*!#\n\t \u{0}é]{0,3}",
    ) {
        let mut json = write::Json::indented(1);
        write(&mut json, &value);
        let mut yaml = write::Yaml::new();
        write(&mut yaml, &value);
        let mut toml = write::Toml::new();
        write(&mut toml, &value);
        for text in [json.finish(), yaml.finish(), toml.finish().expect("writable")] {
            let chars: Vec<char> = text.chars().collect();
            let at = at.index(chars.len() + 1);
            let mut bad: String = chars.iter().take(at).collect();
            bad.push_str(&junk);
            bad.extend(chars.iter().skip(at + cut));
            survives(&bad)?;
        }
    }
}
