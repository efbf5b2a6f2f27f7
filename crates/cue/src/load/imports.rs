//! Imports: from a path to the package it means.

use base::Span;

use super::package::import_failed;
use super::{Failed, ImportPath, Instance, Loader, join, plain};

impl Loader<'_> {
    /// Loads everything an instance imports.
    pub(super) fn resolve_imports(&mut self, instance: &mut Instance) -> Result<(), Failed> {
        let mut wanted: Vec<(String, Span)> = Vec::new();
        for file in &instance.files {
            wanted.extend(self.import_paths(file));
        }
        let mut errors = Vec::new();
        for (text, at) in wanted {
            let path = ImportPath::parse(&text);
            if path.is_local() {
                let message = format!("relative import paths not allowed ({text:?})");
                errors.extend(import_failed(plain(message), Some(at)));
                continue;
            }
            if path.is_standard() {
                continue;
            }
            if let Err(failed) = self.import(&path, &text) {
                errors.extend(import_failed(failed, Some(at)));
                continue;
            }
            let identity = path.identity();
            self.spellings.insert(text, identity.clone());
            if !instance.imports.contains(&identity) {
                instance.imports.push(identity);
            }
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }

    /// Loads one imported package, unless that has been done.
    fn import(&mut self, path: &ImportPath, text: &str) -> Result<(), Failed> {
        let identity = path.identity();
        if self.imported.iter().any(|done| done.path == identity) {
            return Ok(());
        }
        if self.loading.contains(&identity) {
            return Err(plain("package import cycle not allowed"));
        }
        self.loading.push(identity);
        let loaded = self.package_with(path, text).and_then(|mut instance| {
            self.resolve_imports(&mut instance)?;
            Ok(instance)
        });
        self.loading.pop();
        self.imported.push(loaded?);
        Ok(())
    }

    /// The package that an argument on the command line names by its path.
    pub(super) fn package_at(&mut self, argument: &str) -> Result<Instance, Failed> {
        let path = ImportPath::parse(argument);
        if path.is_standard() {
            return Err(plain(format!(
                "standard library import path {argument:?} cannot be imported as a CUE package"
            )));
        }
        self.package_with(&path, argument)
    }

    fn package_with(&mut self, path: &ImportPath, text: &str) -> Result<Instance, Failed> {
        let Some(module) = self.module.clone().filter(|module| module.is_named()) else {
            return Err(plain(
                "imports are unavailable because there is no cue.mod/module.cue file",
            ));
        };
        if path.name.is_empty() {
            return Err(plain(format!(
                "cannot determine package name for {text:?}; set it explicitly with ':'"
            )));
        }
        let mut instance = Instance {
            path: path.identity(),
            package: path.name.clone(),
            ..Instance::default()
        };
        let mut directories = Vec::new();
        if let Some(inner) = path.path.strip_prefix(module.path.as_str())
            && (inner.is_empty() || inner.starts_with('/'))
        {
            directories.push(join(&module.root, &format!("./{inner}")));
        }
        for vendored in ["gen", "pkg", "usr"] {
            directories.push(join(
                &module.root,
                &format!("cue.mod/{vendored}/{}", path.path),
            ));
        }
        let mut paths = Vec::new();
        let mut exists = false;
        for directory in directories {
            if self.files.files(&directory).is_none() || self.is_nested(&directory) {
                continue;
            }
            exists = true;
            if instance.directory.is_empty() {
                instance.directory = directory.clone();
            }
            paths.extend(self.files_of_import(&directory, &instance)?);
        }
        if paths.is_empty() {
            let unqualified = &path.path;
            let why = if exists {
                format!(
                    "no files in package directory with package name {:?}",
                    path.name
                )
            } else {
                format!("cannot find module providing package {unqualified}")
            };
            return Err(plain(format!("cannot find package {unqualified:?}: {why}")));
        }
        self.add_files(&mut instance, paths)?;
        Ok(instance)
    }
}
