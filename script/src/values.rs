//! The names that a script uses as values: TypeScript erases an alias that is only used as a type.

use std::collections::HashSet;

use swc_core::atoms::Atom;
use swc_core::ecma::ast::{
    Ident, Module, TsExprWithTypeArgs, TsImportEqualsDecl, TsInterfaceDecl, TsType,
    TsTypeAliasDecl, TsTypeAnn, TsTypeParamDecl, TsTypeParamInstantiation,
};
use swc_core::ecma::visit::{Visit, VisitWith};

/// All names that stand outside of types. A declaration counts, except that of an alias.
pub(crate) fn names_of_values(module: &Module) -> HashSet<Atom> {
    let mut values = Values::default();
    module.visit_with(&mut values);
    values.0
}

#[derive(Default)]
struct Values(HashSet<Atom>);

impl Visit for Values {
    fn visit_ident(&mut self, ident: &Ident) {
        self.0.insert(ident.sym.clone());
    }

    fn visit_ts_import_equals_decl(&mut self, alias: &TsImportEqualsDecl) {
        alias.module_ref.visit_with(self);
    }

    fn visit_ts_type(&mut self, _: &TsType) {}

    fn visit_ts_type_ann(&mut self, _: &TsTypeAnn) {}

    fn visit_ts_type_param_decl(&mut self, _: &TsTypeParamDecl) {}

    fn visit_ts_type_param_instantiation(&mut self, _: &TsTypeParamInstantiation) {}

    fn visit_ts_expr_with_type_args(&mut self, _: &TsExprWithTypeArgs) {}

    fn visit_ts_interface_decl(&mut self, _: &TsInterfaceDecl) {}

    fn visit_ts_type_alias_decl(&mut self, _: &TsTypeAliasDecl) {}
}
