//! Replaces intersections of unions that multiply to more combinations than the TypeScript compiler
//! accepts.

use super::cycles::direct_references;
use crate::type_graph::{IndexSignature, NamedType, Type, TypeGraph};

/// Members that an intersection of unions may multiply to.
const MAX_WIDTH: usize = 1_000;

/// Replaces every intersection that is too wide with `unknown`. The graph must be free of direct
/// cycles.
pub fn limit_union_width(graph: &mut TypeGraph) {
    let mut widths = vec![None; graph.named.len()];
    for index in 0..graph.named.len() {
        measure(index, &graph.named, &mut widths);
    }
    for named in &mut graph.named {
        limit(&mut named.ty, &widths);
    }
    limit(&mut graph.root, &widths);
}

/// Measures a name after the names that it refers to.
fn measure(index: usize, named: &[NamedType], widths: &mut [Option<usize>]) -> usize {
    if let Some(width) = widths[index] {
        return width;
    }
    for next in direct_references(&named[index].ty) {
        measure(next, named, widths);
    }
    let width = width_of(&named[index].ty, widths);
    widths[index] = Some(width);
    width
}

fn width_of(ty: &Type, widths: &[Option<usize>]) -> usize {
    match ty {
        Type::Named(index) => widths[*index].unwrap_or(1),
        Type::Boolean => 2,
        Type::Union(members) => members.iter().fold(0, |sum, member| {
            sum.saturating_add(width_of(member, widths))
        }),
        Type::Intersection(members) => members.iter().fold(1, |product, member| {
            product.saturating_mul(width_of(member, widths))
        }),
        _ => 1,
    }
}

fn limit(ty: &mut Type, widths: &[Option<usize>]) {
    if matches!(ty, Type::Intersection(_)) && width_of(ty, widths) > MAX_WIDTH {
        *ty = Type::Unknown;
    }
    match ty {
        Type::Array(item) => limit(item, widths),
        Type::Tuple(tuple) => {
            tuple.items.iter_mut().for_each(|item| limit(item, widths));
            if let Some(rest) = &mut tuple.rest {
                limit(rest, widths);
            }
        }
        Type::Object(object) => {
            object
                .fields
                .iter_mut()
                .for_each(|field| limit(&mut field.ty, widths));
            if let Some(IndexSignature { ty, .. }) = object.index_signature.as_deref_mut() {
                limit(ty, widths);
            }
        }
        Type::Union(members) | Type::Intersection(members) => {
            members.iter_mut().for_each(|member| limit(member, widths));
        }
        _ => {}
    }
}
