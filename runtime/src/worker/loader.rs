//! The module loader: the script and the module `pml`, nothing else. A test may also import files
//! beside it, which the broker reads.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use deno_core::{
    ModuleLoadOptions, ModuleLoadReferrer, ModuleLoadResponse, ModuleLoader, ModuleResolveResponse,
    ModuleSource, ModuleSourceCode, ModuleSpecifier, ModuleType, ResolutionKind,
};
use deno_error::JsErrorBox;
use pml_ops::BrokerClient;
use pml_protocol::Request;
use serde::Serialize;
use serde_json::value::to_raw_value;

use super::connection::Connection;
use pml_script::{
    API_SPECIFIER, Form, SourceMapping, TEST_API_SPECIFIER, import_refusal, is_relative,
    transpile_as,
};

/// The query of a module's specifier that makes it a script which a test runs.
const AS_SCRIPT: &str = "script";

/// The number of refused imports that a loader remembers.
const MAX_REFUSED: usize = 64;

/// Resolves and loads the modules of a run.
#[derive(Default)]
pub struct Loader {
    script: RefCell<Option<ModuleSpecifier>>,
    /// The connection to read imported files over, if this is a test.
    files: RefCell<Option<Rc<Connection>>>,
    loaded: Rc<RefCell<HashMap<String, Loaded>>>,
    /// The messages of refused imports, to recognise the error that one of them became in V8.
    refused: RefCell<Vec<String>>,
}

/// A module as V8 compiled it, and its mapping to the source.
pub struct Loaded {
    pub code: String,
    pub mapping: SourceMapping,
}

impl Loader {
    /// Sets the script of this run.
    pub fn set_script(&self, specifier: ModuleSpecifier, loaded: Loaded) {
        self.loaded
            .borrow_mut()
            .insert(specifier.as_str().to_owned(), loaded);
        *self.script.borrow_mut() = Some(specifier);
    }

    /// Allows imports of files, which the broker reads, and of the module `pml/test`.
    pub fn allow_files(&self, connection: Rc<Connection>) {
        *self.files.borrow_mut() = Some(connection);
    }

    /// Every module that was loaded, by its specifier.
    pub fn loaded(&self) -> std::cell::Ref<'_, HashMap<String, Loaded>> {
        self.loaded.borrow()
    }

    fn is_script(&self, specifier: &str) -> bool {
        let script = self.script.borrow();
        script
            .as_ref()
            .is_some_and(|script| script.as_str() == specifier)
    }

    /// Whether no script is set yet: the worker then runs only its rehearsals.
    fn in_rehearsal(&self) -> bool {
        self.script.borrow().is_none()
    }

    fn in_test(&self) -> bool {
        self.files.borrow().is_some()
    }

    /// The file that a test imports, relative to the importing file, or runs as a script, relative to
    /// the test.
    fn resolve_file(
        &self,
        specifier: &str,
        referrer: &str,
    ) -> Result<Option<ModuleSpecifier>, JsErrorBox> {
        if !self.in_test() || !is_relative(specifier) {
            return Ok(None);
        }
        let referrer = ModuleSpecifier::parse(referrer).ok();
        let file = referrer.filter(|referrer| referrer.scheme() == "file");
        let Some(base) = file.or_else(|| self.script.borrow().clone()) else {
            return Ok(None);
        };
        if climbs_out(base.path(), specifier) {
            return Err(JsErrorBox::type_error(format!(
                "\"{specifier}\" leads out of the folder that the tests run in"
            )));
        }
        Ok(base.join(specifier).ok())
    }

    fn refuse(&self, specifier: &str) -> JsErrorBox {
        let message = import_refusal(specifier, self.in_test());
        let mut refused = self.refused.borrow_mut();
        if refused.len() < MAX_REFUSED {
            refused.push(message.clone());
        }
        JsErrorBox::type_error(message)
    }

    /// Whether an error with this message comes from an import that this loader refused. deno_core
    /// passes only the class and the message of a loader's error on to V8.
    pub fn has_refused(&self, message: &str) -> bool {
        let refused = self.refused.borrow();
        refused.iter().any(|refusal| message.contains(refusal))
    }
}

/// Whether a relative path leads above the root. Joining URLs hides that, because it stops at the
/// root.
fn climbs_out(base: &str, specifier: &str) -> bool {
    let mut depth = base.matches('/').count().saturating_sub(1);
    specifier.split('/').any(|part| match part {
        "." | "" => false,
        ".." => {
            let is_root = depth == 0;
            depth = depth.saturating_sub(1);
            is_root
        }
        _ => {
            depth += 1;
            false
        }
    })
}

impl ModuleLoader for Loader {
    fn resolve(
        &self,
        specifier: &str,
        referrer: &str,
        kind: ResolutionKind,
    ) -> ModuleResolveResponse {
        let found = if specifier == API_SPECIFIER {
            ModuleSpecifier::parse(pml_ops::MODULE_SPECIFIER).ok()
        } else if specifier == TEST_API_SPECIFIER && self.in_test() {
            ModuleSpecifier::parse(pml_ops::TEST_MODULE_SPECIFIER).ok()
        } else if self.in_rehearsal()
            || matches!(kind, ResolutionKind::MainModule) && self.is_script(specifier)
        {
            ModuleSpecifier::parse(specifier).ok()
        } else {
            self.resolve_file(specifier, referrer)?
        };
        found.ok_or_else(|| self.refuse(specifier))
    }

    fn load(
        &self,
        specifier: &ModuleSpecifier,
        _referrer: Option<&ModuleLoadReferrer>,
        _options: ModuleLoadOptions,
    ) -> ModuleLoadResponse {
        // The snapshot contains the module `pml`, and the script is passed as code. Anything else is a
        // file of a test, or refused.
        let files = self.files.borrow().clone();
        let Some(files) = files.filter(|_| specifier.scheme() == "file") else {
            return ModuleLoadResponse::Sync(Err(self.refuse(specifier.as_str())));
        };
        ModuleLoadResponse::Async(Box::pin(load_file(
            files,
            specifier.clone(),
            self.loaded.clone(),
        )))
    }

    fn get_source_map(&self, file_name: &str) -> Option<Cow<'_, [u8]>> {
        let loaded = self.loaded.borrow();
        let module = loaded.get(file_name)?;
        Some(Cow::Owned(module.mapping.source_map()))
    }
}

async fn load_file(
    files: Rc<Connection>,
    specifier: ModuleSpecifier,
    loaded: Rc<RefCell<HashMap<String, Loaded>>>,
) -> Result<ModuleSource, JsErrorBox> {
    let source = read(&files, &specifier).await?;
    let form = match specifier.query() {
        Some(AS_SCRIPT) => Form::TestScript,
        _ => Form::TestModule,
    };
    let path = specifier.path().trim_start_matches('/');
    let module = transpile_as(form, path, &source).map_err(|rejection| {
        JsErrorBox::generic(format!(
            "{path}:{}:{}: {}",
            rejection.line, rejection.column, rejection.message
        ))
    })?;
    let code = module.code.clone();
    let entry = Loaded {
        code: module.code,
        mapping: module.mapping,
    };
    loaded
        .borrow_mut()
        .insert(specifier.as_str().to_owned(), entry);
    Ok(ModuleSource::new(
        ModuleType::JavaScript,
        ModuleSourceCode::String(code.into()),
        &specifier,
        None,
    ))
}

/// The harness message that requests the text of a module.
#[derive(Serialize)]
struct ModuleRequest<'a> {
    module: &'a str,
}

/// Reads a file through the broker: a worker has no file access.
async fn read(files: &Connection, specifier: &ModuleSpecifier) -> Result<String, JsErrorBox> {
    let failed = |message: String| JsErrorBox::generic(message);
    let message = to_raw_value(&ModuleRequest {
        module: specifier.path(),
    })
    .map_err(|error| failed(error.to_string()))?;
    let answer = files.ask(Request::Harness { message }).await;
    let text = answer
        .map_err(|gone| failed(gone.to_string()))?
        .map_err(|failure| failed(failure.message))?;
    serde_json::from_str(text.get()).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::climbs_out;

    #[test]
    fn paths_stay_below_the_root() {
        for (base, specifier, out) in [
            ("/a.test.ts", "./lib.ts", false),
            ("/a.test.ts", "../lib.ts", true),
            ("/sub/a.test.ts", "../lib.ts", false),
            ("/sub/a.test.ts", "../../lib.ts", true),
            ("/sub/a.test.ts", "./deep/../../lib.ts", false),
            ("/sub/a.test.ts", "../sub/../../lib.ts", true),
        ] {
            assert_eq!(climbs_out(base, specifier), out, "{base} {specifier}");
        }
    }
}
