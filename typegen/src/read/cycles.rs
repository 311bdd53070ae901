//! Breaks cycles of type aliases that TypeScript rejects: names that resolve to nothing but each
//! other.

use crate::type_graph::{NamedType, Tuple, Type, TypeGraph};

/// Removes every direct reference that closes a cycle.
pub fn break_cycles(graph: &mut TypeGraph) {
    let mut state = vec![State::New; graph.named.len()];
    for index in 0..graph.named.len() {
        visit(index, &mut graph.named, &mut state);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

/// Depth-first search over direct references. A reference to an open name closes a cycle.
fn visit(index: usize, named: &mut [NamedType], state: &mut [State]) {
    if state[index] != State::New {
        return;
    }
    state[index] = State::Open;
    for next in direct_references(&named[index].ty) {
        if state[next] == State::Open {
            let ty = std::mem::replace(&mut named[index].ty, Type::Unknown);
            named[index].ty = without(ty, next);
        } else {
            visit(next, named, state);
        }
    }
    state[index] = State::Done;
}

/// The names that the compiler resolves at once when it resolves `ty`. It defers fields and array
/// elements, except elements inside an intersection, which it compares at once.
pub(super) fn direct_references(ty: &Type) -> Vec<usize> {
    let mut names = Vec::new();
    collect(ty, false, &mut names);
    names
}

fn collect(ty: &Type, in_intersection: bool, names: &mut Vec<usize>) {
    match ty {
        Type::Named(index) => names.push(*index),
        Type::Union(members) => members
            .iter()
            .for_each(|one| collect(one, in_intersection, names)),
        Type::Intersection(members) => members.iter().for_each(|one| collect(one, true, names)),
        Type::Array(item) if in_intersection => collect(item, true, names),
        Type::Tuple(tuple) => {
            let rest = tuple.rest.as_deref();
            tuple
                .items
                .iter()
                .chain(rest)
                .for_each(|one| collect(one, in_intersection, names));
        }
        _ => {}
    }
}

/// Removes the references of `ty` to `name`: a member of a union or an intersection is dropped, any
/// other reference becomes `unknown`.
fn without(ty: Type, name: usize) -> Type {
    let keep = |members: Vec<Type>| {
        let kept = members
            .into_iter()
            .filter(|member| *member != Type::Named(name));
        kept.map(|member| without(member, name)).collect::<Vec<_>>()
    };
    match ty {
        Type::Named(index) if index == name => Type::Unknown,
        Type::Union(members) => Type::union(keep(members)),
        Type::Intersection(members) => Type::intersection(keep(members)),
        Type::Array(item) => Type::Array(Box::new(without(*item, name))),
        Type::Tuple(tuple) => Type::Tuple(Tuple {
            items: tuple
                .items
                .into_iter()
                .map(|item| without(item, name))
                .collect(),
            required: tuple.required,
            rest: tuple.rest.map(|rest| Box::new(without(*rest, name))),
        }),
        other => other,
    }
}
