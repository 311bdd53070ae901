//! Takes out what TypeScript would not accept: names that mean nothing but each other, and
//! intersections of unions with more combinations than the compiler counts.

use crate::model::{Model, Named, Others, Tuple, Type};

/// Members that an intersection of unions may multiply to.
const MAX_WIDTH: usize = 1_000;

pub fn untie(model: &mut Model) {
    let mut state = vec![State::New; model.named.len()];
    for index in 0..model.named.len() {
        visit(index, &mut model.named, &mut state);
    }
    // Names no longer go in circles, so each can be measured after those it stands on.
    let mut widths = vec![None; model.named.len()];
    for index in 0..model.named.len() {
        measure(index, &model.named, &mut widths);
    }
    for named in &mut model.named {
        narrow(&mut named.ty, &widths);
    }
    narrow(&mut model.root, &widths);
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

/// Follows the names that a name stands for directly. One that is still open is on the way here.
fn visit(index: usize, named: &mut [Named], state: &mut [State]) {
    if state[index] != State::New {
        return;
    }
    state[index] = State::Open;
    for next in immediate(&named[index].ty) {
        if state[next] == State::Open {
            let ty = std::mem::replace(&mut named[index].ty, Type::Unknown);
            named[index].ty = without(ty, next);
        } else {
            visit(next, named, state);
        }
    }
    state[index] = State::Done;
}

/// The names that the compiler may resolve on the way to `ty`. It leaves fields and elements of
/// arrays for later, except elements inside an intersection, which it compares at once.
fn immediate(ty: &Type) -> Vec<usize> {
    let mut names = Vec::new();
    collect(ty, false, &mut names);
    names
}

fn collect(ty: &Type, at_once: bool, names: &mut Vec<usize>) {
    match ty {
        Type::Named(index) => names.push(*index),
        Type::Union(members) => members.iter().for_each(|one| collect(one, at_once, names)),
        Type::Intersection(members) => members.iter().for_each(|one| collect(one, true, names)),
        Type::Array(item) if at_once => collect(item, true, names),
        Type::Tuple(tuple) => {
            let rest = tuple.rest.as_deref();
            tuple
                .items
                .iter()
                .chain(rest)
                .for_each(|one| collect(one, at_once, names));
        }
        _ => {}
    }
}

/// `A | string` where `A` is that very union is `string`; a list of itself is a list of anything.
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

fn measure(index: usize, named: &[Named], widths: &mut [Option<usize>]) -> usize {
    if let Some(width) = widths[index] {
        return width;
    }
    for next in immediate(&named[index].ty) {
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

fn narrow(ty: &mut Type, widths: &[Option<usize>]) {
    if matches!(ty, Type::Intersection(_)) && width_of(ty, widths) > MAX_WIDTH {
        *ty = Type::Unknown;
    }
    match ty {
        Type::Array(item) => narrow(item, widths),
        Type::Tuple(tuple) => {
            tuple.items.iter_mut().for_each(|item| narrow(item, widths));
            if let Some(rest) = &mut tuple.rest {
                narrow(rest, widths);
            }
        }
        Type::Object(object) => {
            object
                .fields
                .iter_mut()
                .for_each(|field| narrow(&mut field.ty, widths));
            if let Some(Others { ty, .. }) = object.others.as_deref_mut() {
                narrow(ty, widths);
            }
        }
        Type::Union(members) | Type::Intersection(members) => {
            members.iter_mut().for_each(|member| narrow(member, widths));
        }
        _ => {}
    }
}
