//! Loaded packages into a runtime: what is imported first, then what was asked for.

use base::{Span, Symbols};

use super::module::text_at;
use super::{Instance, Loaded};
use crate::runtime::{Failed, Runtime, Value};
use crate::syntax::ast::{Decl, Label};

impl Instance {
    /// What the hidden fields of the package belong to.
    pub fn identity(&self) -> String {
        match (self.path.as_str(), self.package.as_str()) {
            ("", "") => "_".to_owned(),
            ("", package) => package.to_owned(),
            (path, _) => path.to_owned(),
        }
    }
}

impl Instance {
    /// A plain field that the package has though it has none of the named ones; nothing where embeddings and the like may
    /// bring them in.
    pub fn other_than(&self, names: &[&str], symbols: &Symbols) -> Option<(String, Span)> {
        let mut other = None;
        for file in &self.files {
            for id in file.list(file.decls) {
                match file.decl(id) {
                    Decl::Field(field) => {
                        let Label::Name { symbol, .. } = file.label(field.label).0 else {
                            return None;
                        };
                        let name = symbols.name(symbol);
                        if names.contains(&name) {
                            return None;
                        }
                        if !name.starts_with(['_', '#']) && other.is_none() {
                            other = Some((name.to_owned(), file.decl_span(id)));
                        }
                    }
                    Decl::Package { .. } | Decl::Import { .. } | Decl::Let { .. } => {}
                    _ => return None,
                }
            }
        }
        other
    }

    /// The string that the files give a path of plain fields, as it is written.
    pub fn text_at(&self, path: &[&str], symbols: &Symbols) -> Option<String> {
        let mut files = self.files.iter();
        files.find_map(|file| text_at(file, file.decls, path, symbols))
    }
}

impl Runtime {
    /// Builds imported packages, those that others need first.
    pub fn build_imports(&mut self, loaded: &Loaded) -> Result<(), Failed> {
        for instance in &loaded.imported {
            let files: Vec<_> = instance.files.iter().map(AsRef::as_ref).collect();
            let value = self.build(&instance.path, &files)?;
            let spelled = loaded.spellings.iter();
            for (text, _) in spelled.filter(|(_, path)| **path == instance.path) {
                self.add_package(text, value);
            }
        }
        Ok(())
    }

    /// Builds the first package with all that it imports; says what its hidden fields belong to.
    pub fn build_first(&mut self, loaded: &Loaded) -> Result<Option<(Value, String)>, Failed> {
        self.build_imports(loaded)?;
        let Some(instance) = loaded.instances.first() else {
            return Ok(None);
        };
        let files: Vec<_> = instance.files.iter().map(AsRef::as_ref).collect();
        let identity = instance.identity();
        let value = self.build(&identity, &files)?;
        Ok(Some((value, identity)))
    }
}
