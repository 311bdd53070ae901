//! The module loader: one script, one API, nothing else.

use std::borrow::Cow;
use std::cell::RefCell;

use deno_core::{
    ModuleLoadOptions, ModuleLoadReferrer, ModuleLoadResponse, ModuleLoader, ModuleResolveResponse,
    ModuleSpecifier, ResolutionKind,
};
use deno_error::JsErrorBox;

use super::transpile::{API, import_refusal};

#[derive(Default)]
pub struct Loader {
    script: RefCell<Option<Script>>,
}

struct Script {
    specifier: ModuleSpecifier,
    source_map: Vec<u8>,
}

impl Loader {
    /// Names the script of this run and the way back to its lines.
    pub fn set_script(&self, specifier: ModuleSpecifier, source_map: Vec<u8>) {
        *self.script.borrow_mut() = Some(Script {
            specifier,
            source_map,
        });
    }

    fn is_script(&self, specifier: &str) -> bool {
        self.script
            .borrow()
            .as_ref()
            .is_some_and(|script| script.specifier.as_str() == specifier)
    }
}

fn refuse(specifier: &str) -> JsErrorBox {
    JsErrorBox::type_error(import_refusal(specifier))
}

impl ModuleLoader for Loader {
    fn resolve(
        &self,
        specifier: &str,
        _referrer: &str,
        kind: ResolutionKind,
    ) -> ModuleResolveResponse {
        let found = if specifier == API {
            ModuleSpecifier::parse(pml_ops::MODULE_SPECIFIER).ok()
        } else if matches!(kind, ResolutionKind::MainModule) && self.is_script(specifier) {
            ModuleSpecifier::parse(specifier).ok()
        } else {
            None
        };
        found.ok_or_else(|| refuse(specifier))
    }

    fn load(
        &self,
        specifier: &ModuleSpecifier,
        _referrer: Option<&ModuleLoadReferrer>,
        _options: ModuleLoadOptions,
    ) -> ModuleLoadResponse {
        // The API lives in the snapshot and the script is handed over: whatever gets here is
        // something else.
        ModuleLoadResponse::Sync(Err(refuse(specifier.as_str())))
    }

    fn get_source_map(&self, file_name: &str) -> Option<Cow<'_, [u8]>> {
        let script = self.script.borrow();
        script
            .as_ref()
            .filter(|script| script.specifier.as_str() == file_name)
            .map(|script| Cow::Owned(script.source_map.clone()))
    }
}
