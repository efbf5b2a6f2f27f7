//! Layers in the making: each input as a sheet, and what a turn of evaluation makes of a CUE sheet.

use std::rc::Rc;
use std::sync::Arc;

use base::{Diagnostic, SourceId, Span, Symbol};
use cue::Value;
use cue::layered::{Layer, Reference};
use data::NodeId;

use super::Engine;
use crate::document::{Document, Kind};
use crate::effective::Effective;
use crate::extract::{self, Asked, Extracted, Unknown};
use crate::input::{Content, Input};
use crate::literal;
use crate::tier::Tier;

/// One layer in the making.
pub(super) struct Sheet {
    pub(super) document: Document,
    pub(super) cue: Option<CueSheet>,
}

/// What a CUE layer is evaluated from, and what came of it.
pub(super) struct CueSheet {
    pub(super) file: Value,
    pub(super) source: SourceId,
    pub(super) at: Vec<String>,
    /// Whether some reference leads to a value, so that other layers matter to it.
    pub(super) refers: bool,
    pub(super) evaluated: bool,
    pub(super) constraints: Vec<(NodeId, Value)>,
    pub(super) unknown: Vec<Unknown>,
    pub(super) references: Vec<Reference>,
    /// Those of its fields, each of the field that it is written in.
    pub(super) direct: Vec<Reference>,
    /// What its references were bound to.
    pub(super) seen: Option<Rc<Effective>>,
    pub(super) findings: Vec<Diagnostic>,
}

impl CueSheet {
    /// Whether something that its references lead to is not what it was.
    pub(super) fn is_moved(&self, now: Option<&Rc<Effective>>) -> bool {
        match (&self.seen, now) {
            _ if !self.refers => false,
            (Some(seen), Some(now)) => {
                let mut references = self.references.iter();
                references.any(|reference| !now.same_at(seen, &reference.to))
            }
            (None, None) => false,
            _ => true,
        }
    }
}

impl Sheet {
    pub(super) fn refers(&self) -> bool {
        self.cue.as_ref().is_some_and(|cue| cue.refers)
    }
}

impl Engine<'_> {
    pub(super) fn add(&mut self, input: Input) {
        let Input {
            tier,
            content,
            defaults,
        } = input;
        match content {
            Content::Data { tree, kind } => self.sheets.push(Sheet {
                document: Document {
                    defaults,
                    ..Document::new(tier, tree, kind)
                },
                cue: None,
            }),
            Content::Cue(loaded) => self.add_cue(tier, defaults, &loaded),
        }
    }

    pub(super) fn add_cue(&mut self, tier: Tier, defaults: bool, loaded: &cue::load::Loaded) {
        self.findings.extend(loaded.errors.iter().cloned());
        let Some(instance) = loaded.instances.first() else {
            return;
        };
        let files: Vec<_> = instance.files.iter().map(AsRef::as_ref).collect();
        let Some(first) = files.first() else {
            return;
        };
        let source = first.source;
        let may_be_plain = self.options.at.is_none() && !self.options.evaluate_all;
        let plain = match may_be_plain {
            true => literal::read(&files, self.runtime.symbols()),
            false => None,
        };
        if let Some(plain) = plain {
            if !plain.is_all {
                // The rest of the file may be wrong, or hold a schema.
                self.build_reported(tier, loaded, instance, &files);
            }
            self.sheets.push(Sheet {
                document: Document {
                    defaults,
                    ..Document::new(tier, plain.tree, Kind::Cue)
                },
                cue: None,
            });
            return;
        }
        let Some(file) = self.build_reported(tier, loaded, instance, &files) else {
            return;
        };
        self.sheets.push(Sheet {
            document: Document {
                defaults,
                ..Document::new(tier, self.nothing(source), Kind::Cue)
            },
            cue: Some(CueSheet {
                file,
                source,
                at: vec!["values".to_owned()],
                refers: true,
                evaluated: false,
                constraints: Vec::new(),
                unknown: Vec::new(),
                references: Vec::new(),
                direct: Vec::new(),
                seen: None,
                findings: Vec::new(),
            }),
        });
    }

    /// Builds a package and notes its schema; says what is wrong.
    pub(super) fn build_reported(
        &mut self,
        tier: Tier,
        loaded: &cue::load::Loaded,
        instance: &cue::load::Instance,
        files: &[&cue::syntax::ast::File],
    ) -> Option<Value> {
        let source = files.first()?.source;
        let built = self.build(loaded, instance, files);
        let start = Span::new(source, 0..0);
        let file = match built {
            Ok(file) => file,
            Err(errors) => {
                let findings = errors.iter();
                let findings = findings.map(|e| extract::reported_finding(e, start, tier));
                self.findings.extend(findings);
                return None;
            }
        };
        self.config.add(&mut self.runtime, tier, files, file);
        Some(file)
    }

    /// A tree with nothing in it.
    pub(super) fn nothing(&self, source: SourceId) -> data::Tree {
        let text = self.sources.get(source).text().clone();
        let mut builder = data::TreeBuilder::new(source, text);
        let root = builder.map(Span::new(source, 0..0), &[]);
        builder.finish(root)
    }

    /// Builds what a package imports, and the package.
    pub(super) fn build(
        &mut self,
        loaded: &cue::load::Loaded,
        instance: &cue::load::Instance,
        files: &[&cue::syntax::ast::File],
    ) -> Result<Value, cue::runtime::Failed> {
        for import in &loaded.imported {
            let files: Vec<_> = import.files.iter().map(AsRef::as_ref).collect();
            let value = self.runtime.build(&import.path, &files)?;
            let spelled = loaded.spellings.iter();
            for (text, _) in spelled.filter(|(_, path)| **path == import.path) {
                self.runtime.add_package(text, value);
            }
        }
        // A package clause means nothing here: the hidden fields of a layer are its own.
        let own = format!("{} {}", instance.path, self.sheets.len());
        self.runtime.build(&own, files)
    }

    pub(super) fn evaluate_sheet(&mut self, at: usize, effective: Option<&Rc<Effective>>) {
        let Some(Sheet {
            document,
            cue: Some(sheet),
        }) = self.sheets.get(at)
        else {
            return;
        };
        if sheet.evaluated && !sheet.is_moved(effective) {
            return;
        }
        let (file, source, tier) = (sheet.file, sheet.source, document.tier);
        let number = u16::try_from(at).unwrap_or(u16::MAX);
        let start = Span::new(source, 0..0);
        let mut findings = Vec::new();
        let bound = match effective {
            Some(effective) => {
                let owner = |node| effective.owner(node);
                self.runtime.effective(&effective.tree, &owner).map(Some)
            }
            None => Ok(None),
        };
        let named = self.options.at.as_ref().map(|path| {
            let names = path.0.iter().map(|segment| match segment {
                base::Segment::Key(name) => name.clone(),
                base::Segment::Index(index) => index.to_string(),
            });
            names.collect::<Vec<String>>()
        });
        let paths = named.into_iter().map(|path| (path, true));
        let paths = paths.chain([(sheet.at.clone(), false)]);
        let mut layer = None;
        for (path, by_option) in paths {
            let done = match &bound {
                Ok(bound) => {
                    let bound = bound.as_ref();
                    self.runtime.evaluate_layer(file, &path, number, bound)
                }
                Err(errors) => Err(errors.clone()),
            };
            match done {
                Ok(done) => {
                    let found = done.values.is_some();
                    self.at_was_found |= by_option && found;
                    layer = Some(done);
                    if found {
                        break;
                    }
                }
                Err(errors) => {
                    let errors = errors.iter();
                    let told = errors.map(|e| extract::reported_finding(e, start, tier));
                    findings.extend(told);
                    break;
                }
            }
        }
        let extracted = layer.as_ref().and_then(|layer| {
            let asked = (tier, source, layer);
            self.extract(asked, effective.map(AsRef::as_ref))
        });
        let references = layer.map_or_else(Vec::new, |layer| layer.references);
        let Some(Sheet {
            document,
            cue: Some(sheet),
        }) = self.sheets.get_mut(at)
        else {
            return;
        };
        sheet.evaluated = true;
        sheet.refers = !references.is_empty();
        sheet.references = references;
        sheet.seen = effective.cloned();
        sheet.findings = findings;
        if let Some(extracted) = extracted {
            document.tree = Arc::new(extracted.tree);
            document.derived = Arc::new(extracted.derived);
            sheet.constraints = extracted.constraints;
            sheet.unknown = extracted.unknown;
            sheet.direct = extracted.direct;
            sheet.findings.extend(extracted.findings);
        }
    }

    pub(super) fn extract(
        &mut self,
        (tier, source, layer): (Tier, SourceId, &Layer),
        effective: Option<&Effective>,
    ) -> Option<Extracted> {
        let root = layer.values?;
        let guards = match layer.references.is_empty() {
            true => Vec::new(),
            false => self.runtime.guards(),
        };
        let exists = |path: &[Symbol]| effective.is_some_and(|e| e.find(path).is_some());
        let asked = Asked {
            tier,
            source,
            sources: self.sources,
            layer,
            exists: &exists,
            guards: &guards,
        };
        Some(extract::extract(&mut self.runtime, root, &asked))
    }
}
