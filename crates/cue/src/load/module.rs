//! The module a directory belongs to: where it begins, and what `cue.mod/module.cue` says.

use base::Symbols;

use super::{Failed, Loader, join, parent};
use crate::syntax::ast::{Decl, DeclId, Expr, File, Label, List, LiteralKind};
use crate::syntax::literal;

/// A module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The absolute path of the directory that holds `cue.mod`.
    pub root: String,
    /// The module's import path without its version; empty if there is no module file.
    pub path: String,
    /// `v0` in `example.com/mod@v0`.
    pub version: String,
    /// The language version the module asks for; empty if it does not.
    pub language: String,
}

impl Module {
    /// Whether the module has a name, so that its packages can be imported.
    pub fn is_named(&self) -> bool {
        !self.path.is_empty()
    }
}

impl Loader<'_> {
    pub(super) fn find_module(&mut self) -> Result<Option<Module>, Failed> {
        let from = self.request.module_from.as_ref();
        let mut directory = from.unwrap_or(&self.request.directory).clone();
        loop {
            let inner = join(&directory, "cue.mod");
            if self.files.files(&inner).is_some() {
                return self.read_module(directory).map(Some);
            }
            let above = parent(&directory).to_owned();
            if above == directory {
                return Ok(None);
            }
            directory = above;
        }
    }

    /// Whether a directory is the root of a module.
    pub(super) fn is_module_root(&self, directory: &str) -> bool {
        self.files.files(&join(directory, "cue.mod")).is_some()
    }

    fn read_module(&mut self, root: String) -> Result<Module, Failed> {
        let path = join(&root, "cue.mod/module.cue");
        let mut module = Module {
            root,
            path: String::new(),
            version: String::new(),
            language: String::new(),
        };
        if self.files.read(&path).is_none() {
            return Ok(module);
        }
        let (file, errors) = self.parse(&path)?;
        if !errors.is_empty() {
            return Err(errors);
        }
        if let Some(name) = text_at(&file, file.decls, &["module"], self.symbols) {
            let (path, version) = name.split_once('@').unwrap_or((&name, ""));
            module.path = path.to_owned();
            module.version = version.to_owned();
        }
        let language = text_at(&file, file.decls, &["language", "version"], self.symbols);
        module.language = language.unwrap_or_default();
        Ok(module)
    }
}

/// The string that a file gives a path of plain fields.
pub(super) fn text_at(
    file: &File,
    decls: List<DeclId>,
    path: &[&str],
    symbols: &Symbols,
) -> Option<String> {
    let (first, rest) = path.split_first()?;
    file.list(decls).find_map(|id| {
        let Decl::Field(field) = file.decl(id) else {
            return None;
        };
        let name = match file.label(field.label).0 {
            Label::Name { symbol, .. } => symbols.name(symbol).to_owned(),
            Label::String { expr } => match file.expr(expr) {
                Expr::Literal { text, .. } => literal::unquote_string(file.str(text)).ok()?,
                _ => return None,
            },
            _ => return None,
        };
        if name != *first {
            return None;
        }
        match file.expr(field.value) {
            Expr::Struct { decls, .. } => text_at(file, decls, rest, symbols),
            Expr::Literal {
                kind: LiteralKind::String,
                text,
            } if rest.is_empty() => literal::unquote_string(file.str(text)).ok(),
            _ => None,
        }
    })
}
