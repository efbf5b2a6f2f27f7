//! Which files make a package.

use std::sync::Arc;

use base::Diagnostic;

use super::import_path::is_local;
use super::{
    Failed, ImportPath, Instance, LOAD, Loader, join, parent, plain, relative, sort_paths,
};
use crate::syntax::ast::File;

/// Why a file of a directory is not part of the package.
struct Left {
    path: String,
    reason: String,
}

/// The files of one directory that are CUE, with their packages.
struct Listed {
    path: String,
    package: String,
    file: Arc<File>,
    errors: Vec<Diagnostic>,
}

impl Loader<'_> {
    /// The packages that one argument names.
    pub(super) fn packages_of(&mut self, argument: &str) -> Result<Vec<Instance>, Failed> {
        let path = ImportPath::parse(argument);
        let name = if path.explicit {
            path.name.as_str()
        } else {
            ""
        };
        if path.path.is_empty() || is_local(&path.path) || path.path.starts_with('/') {
            let local = if path.path.is_empty() {
                "."
            } else {
                &path.path
            };
            if let Some((before, _)) = local.split_once("...") {
                return self.packages_below(before, argument, name);
            }
            let directory = join(&self.request.directory, local);
            let shown = relative(&self.request.directory, &directory);
            if self.files.files(&directory).is_none() {
                return Err(plain(format!("cannot find package {:?}", shown)));
            }
            self.check_nested(&directory, argument)?;
            if name.is_empty() {
                self.check_one_package(&directory, local)?;
            }
            return match self.package_in(&directory, name)? {
                Some(instance) => Ok(vec![instance]),
                None => Err(plain(format!("cue: {shown:?} matched no packages"))),
            };
        }
        let instance = self.package_at(argument)?;
        Ok(vec![instance])
    }

    /// A directory of another module cannot be imported as part of this one.
    fn check_nested(&self, directory: &str, argument: &str) -> Result<(), Failed> {
        if self.is_nested(directory) {
            return Err(plain(format!(
                "cannot determine import path for {argument:?} (directory is in a nested module)"
            )));
        }
        Ok(())
    }

    /// Whether another module begins between this module's root and a directory.
    pub(super) fn is_nested(&self, directory: &str) -> bool {
        let Some(module) = self.module.as_ref().filter(|module| module.is_named()) else {
            return false;
        };
        let mut at = directory.to_owned();
        while at != module.root && at != "/" {
            if self.files.read(&join(&at, "cue.mod/module.cue")).is_some() {
                return true;
            }
            at = parent(&at).to_owned();
        }
        false
    }

    /// Without a name given, the files of a directory must agree on one, unless one of them has
    /// the name of the directory.
    fn check_one_package(&mut self, directory: &str, local: &str) -> Result<(), Failed> {
        let wanted = ImportPath::parse(local).name;
        let mut first: Option<(String, String)> = None;
        let mut clash = None;
        for listed in self.listed(directory)?.0 {
            if listed.package.is_empty() || self.exclusion(&listed.file)?.is_some() {
                continue;
            }
            if listed.package == wanted {
                return Ok(());
            }
            let name = listed.path.rsplit('/').next().unwrap_or("").to_owned();
            match &first {
                None => first = Some((listed.package, name)),
                Some((package, file)) if *package != listed.package && clash.is_none() => {
                    clash = Some((package.clone(), file.clone(), listed.package, name));
                }
                Some(_) => {}
            }
        }
        let Some((a, file_a, b, file_b)) = clash else {
            return Ok(());
        };
        let root = self.module.as_ref().map(|module| module.root.clone());
        let root = root.unwrap_or_else(|| self.request.directory.clone());
        let place = relative(&root, directory);
        let place = place.strip_prefix("./").unwrap_or(&place);
        Err(plain(format!(
            "found packages {a:?} ({file_a}) and {b:?} ({file_b}) in {place:?}"
        )))
    }

    /// All packages of a directory and those below it.
    fn packages_below(
        &mut self,
        before: &str,
        pattern: &str,
        name: &str,
    ) -> Result<Vec<Instance>, Failed> {
        let top = before
            .rsplit_once('/')
            .map_or(".", |(directory, _)| directory);
        let top = if top.is_empty() { "." } else { top };
        let mut pending = vec![join(&self.request.directory, top)];
        let root = pending.first().cloned().unwrap_or_default();
        let mut found = Vec::new();
        while let Some(directory) = pending.pop() {
            if directory != root && self.is_module_root(&directory) {
                continue;
            }
            if name.is_empty() {
                self.check_one_package(&directory, "...")?;
            }
            // Directories without files of a package are passed over.
            match self.package_in(&directory, name) {
                Ok(instance) => found.extend(instance),
                Err(errors) => {
                    let empty = |e: &Diagnostic| {
                        e.message.starts_with("build constraints exclude")
                            || e.message.starts_with("no CUE files in")
                    };
                    if !errors.iter().all(empty) {
                        return Err(errors);
                    }
                }
            }
            let inner = self.files.directories(&directory);
            let wanted = inner.into_iter().filter(|name| {
                !name.starts_with(['.', '_']) && name != "cue.mod" && name != "testdata"
            });
            let mut next: Vec<String> = wanted.map(|name| join(&directory, &name)).collect();
            next.reverse();
            pending.extend(next);
        }
        if found.is_empty() {
            let shown = pattern
                .strip_prefix("./")
                .map_or(pattern.to_owned(), |p| format!("./{p}"));
            return Err(plain(format!("cue: {shown:?} matched no packages")));
        }
        Ok(found)
    }

    /// The CUE files of a directory, parsed, and whether it has others.
    fn listed(&mut self, directory: &str) -> Result<(Vec<Listed>, bool, Vec<Left>), Failed> {
        let names = self.files.files(directory).unwrap_or_default();
        let others = !names.is_empty();
        let mut listed = Vec::new();
        let mut left = Vec::new();
        for name in names {
            if !name.ends_with(".cue") {
                continue;
            }
            let path = join(directory, &name);
            let mark = name.chars().next().filter(|&c| c == '.' || c == '_');
            if let Some(mark) = mark {
                left.push(Left {
                    path,
                    reason: format!("filename starts with a '{mark}'"),
                });
                continue;
            }
            let (file, errors) = self.parse(&path)?;
            let package = self.package_name(&file);
            listed.push(Listed {
                path,
                package,
                file,
                errors,
            });
        }
        Ok((listed, others, left))
    }

    /// The package of a directory: the one called `name`, or the only one. None if the directory
    /// holds no files.
    fn package_in(&mut self, directory: &str, name: &str) -> Result<Option<Instance>, Failed> {
        let (listed, others, mut left) = self.listed(directory)?;
        if !others {
            return Ok(None);
        }
        let mut instance = Instance {
            package: name.to_owned(),
            directory: directory.to_owned(),
            ..Instance::default()
        };
        let mut paths = Vec::new();
        let mut errors = Vec::new();
        let mut first_file = String::new();
        for listed in listed {
            if !listed.errors.is_empty() {
                errors.extend(listed.errors);
                continue;
            }
            let base = listed.path.rsplit('/').next().unwrap_or("").to_owned();
            if listed.package.is_empty() {
                left.push(Left {
                    path: listed.path,
                    reason: "no package name".to_owned(),
                });
                continue;
            }
            if let Some(reason) = self.exclusion(&listed.file)? {
                left.push(Left {
                    path: listed.path,
                    reason,
                });
                continue;
            }
            if instance.package.is_empty() {
                instance.package = listed.package.clone();
                first_file = base;
            } else if instance.package != listed.package {
                if !name.is_empty() {
                    left.push(Left {
                        path: listed.path,
                        reason: format!("package is {}, want {name}", listed.package),
                    });
                    continue;
                }
                let place = self.shown(directory);
                return Err(plain(format!(
                    "found packages {:?} ({first_file}) and {:?} ({base}) in {place:?}",
                    instance.package, listed.package
                )));
            }
            if let Some(reason) = by_name(&listed.path) {
                left.push(Left {
                    path: listed.path,
                    reason,
                });
                continue;
            }
            paths.push(listed.path);
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        if !paths.is_empty() || left.iter().any(|l| by_name(&l.path).is_some()) {
            self.add_from_above(&instance, &mut paths)?;
        }
        if paths.is_empty() {
            return Err(plain(self.no_files(directory, &left)));
        }
        instance.path = self.path_of(directory, &instance.package);
        self.add_files(&mut instance, paths)?;
        Ok(Some(instance))
    }

    fn no_files(&self, directory: &str, left: &[Left]) -> String {
        let place = self.shown(directory);
        let base = |l: &Left| l.path.rsplit('/').next().unwrap_or("").to_owned();
        if left.iter().all(|l| base(l).starts_with('_')) {
            return format!("no CUE files in {place}");
        }
        let mut message = format!("build constraints exclude all CUE files in {place}:");
        for l in left {
            let path = self.shown(&l.path);
            let path = match path.strip_prefix("./") {
                Some(hidden) if hidden.starts_with('.') => hidden,
                _ => &path,
            };
            message.push_str(&format!("\n    {path}: {}", l.reason));
        }
        message
    }

    /// Files of the same package in the directories above, up to the module's root.
    fn add_from_above(
        &mut self,
        instance: &Instance,
        paths: &mut Vec<String>,
    ) -> Result<(), Failed> {
        let Some(root) = self.module.as_ref().map(|module| module.root.clone()) else {
            return Ok(());
        };
        let mut directory = instance.directory.clone();
        while directory != root && directory != "/" && !self.is_module_root(&directory) {
            directory = parent(&directory).to_owned();
            for listed in self.listed(&directory)?.0 {
                if listed.package != instance.package || by_name(&listed.path).is_some() {
                    continue;
                }
                if !listed.errors.is_empty() {
                    return Err(listed.errors);
                }
                if self.exclusion(&listed.file)?.is_none() {
                    paths.push(listed.path);
                }
            }
        }
        Ok(())
    }

    /// The files of a directory that are of a package, for an import.
    pub(super) fn files_of_import(
        &mut self,
        directory: &str,
        instance: &Instance,
    ) -> Result<Vec<String>, Failed> {
        let mut paths = Vec::new();
        for listed in self.listed(directory)?.0 {
            if !listed.errors.is_empty() {
                return Err(listed.errors);
            }
            if listed.package == instance.package
                && by_name(&listed.path).is_none()
                && self.exclusion(&listed.file)?.is_none()
            {
                paths.push(listed.path);
            }
        }
        if !paths.is_empty() {
            let here = Instance {
                directory: directory.to_owned(),
                ..instance.clone()
            };
            self.add_from_above(&here, &mut paths)?;
        }
        Ok(paths)
    }

    pub(super) fn add_files(
        &mut self,
        instance: &mut Instance,
        mut paths: Vec<String>,
    ) -> Result<(), Failed> {
        sort_paths(&mut paths);
        let mut errors = Vec::new();
        for path in paths {
            let (file, _) = self.parse(&path)?;
            match self.with_embedded(file, &path) {
                Ok(file) => instance.files.push(file),
                Err(failed) => errors.extend(failed),
            }
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }

    /// The import path of a directory of the module.
    fn path_of(&self, directory: &str, package: &str) -> String {
        let Some(module) = self.module.as_ref().filter(|module| module.is_named()) else {
            return format!(":{package}");
        };
        let inner = directory.strip_prefix(module.root.as_str()).unwrap_or("");
        format!("{}{inner}:{package}", module.path)
    }

    /// The package of files that were given one by one.
    pub(super) fn package_of_files(&mut self) -> Result<Instance, Failed> {
        let mut instance = Instance {
            directory: self.request.directory.clone(),
            of_files: true,
            ..Instance::default()
        };
        let mut errors = Vec::new();
        let mut paths = Vec::new();
        let mut first_file = String::new();
        let mut left = Vec::new();
        for argument in &self.request.files {
            let path = match argument.as_str() {
                "-" => "-".to_owned(),
                path => join(&self.request.directory, path),
            };
            let (file, found) = self.parse(&path)?;
            if !found.is_empty() {
                errors.extend(found);
                continue;
            }
            if let Some(reason) = self.exclusion(&file)? {
                left.push(Left { path, reason });
                continue;
            }
            let base = path.rsplit('/').next().unwrap_or("").to_owned();
            let package = self.package_name(&file);
            if !package.is_empty() {
                if instance.package.is_empty() {
                    instance.package = package;
                    first_file = base;
                } else if instance.package != package {
                    return Err(plain(format!(
                        "found packages {:?} ({first_file}) and {package:?} ({base}) in \".\"",
                        instance.package
                    )));
                }
            }
            if by_name(&path).is_none() {
                paths.push(path);
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        if paths.is_empty() {
            let directory = self.request.directory.clone();
            return Err(plain(self.no_files(&directory, &left)));
        }
        self.add_files(&mut instance, paths)?;
        Ok(instance)
    }
}

/// Whether a file is left out for its name.
fn by_name(path: &str) -> Option<String> {
    ["_test", "_tool"].into_iter().find_map(|suffix| {
        let mode = match suffix {
            "_test" => "test",
            _ => "cmd",
        };
        path.ends_with(&format!("{suffix}.cue"))
            .then(|| format!("{suffix}.cue files excluded in non-{mode} mode"))
    })
}

/// Findings in an import, told where it is imported.
pub(super) fn import_failed(errors: Failed, at: Option<base::Span>) -> Failed {
    let Some(at) = at else {
        return errors;
    };
    let tell = |error: Diagnostic| {
        let mut told = Diagnostic::error(LOAD, format!("import failed: {}", error.message));
        told = told.primary(at, "imported here");
        told.labels.extend(error.labels);
        told
    };
    errors.into_iter().map(tell).collect()
}
