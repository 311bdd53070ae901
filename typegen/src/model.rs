//! A type as TypeScript thinks of it, between reading a schema and printing.

/// What a schema says, with the definitions it refers to.
#[derive(Debug)]
pub struct Model {
    pub root: Type,
    pub doc: Doc,
    /// The targets of [`Type::Named`].
    pub named: Vec<Named>,
}

/// A part of a schema that is referred to, perhaps by itself.
#[derive(Debug)]
pub struct Named {
    /// The last part of the reference, such as `Node` of `#/$defs/Node`.
    pub name: String,
    pub ty: Type,
    pub doc: Doc,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    Unknown,
    Never,
    Null,
    Boolean,
    Number,
    String,
    /// Ready to print: `"a"`, `5`, `true`.
    Literal(String),
    Array(Box<Type>),
    Tuple(Tuple),
    Object(Object),
    Union(Vec<Type>),
    Intersection(Vec<Type>),
    /// An index into [`Model::named`].
    Named(usize),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tuple {
    pub items: Vec<Type>,
    /// How many of the items must be there.
    pub required: usize,
    /// What may follow them.
    pub rest: Option<Box<Type>>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object {
    pub fields: Vec<Field>,
    /// Any other key, and what is known about it. Where there are fields, TypeScript wants it to
    /// fit all of them, so it is `unknown` then.
    pub others: Option<Box<Others>>,
    /// No other key is allowed: only of interest where there are no fields.
    pub closed: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Others {
    pub ty: Type,
    pub doc: Doc,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub name: String,
    pub optional: bool,
    pub ty: Type,
    pub doc: Doc,
}

/// What is said about a type in a comment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Doc {
    pub text: String,
    /// `minimum` and `5`.
    pub tags: Vec<(String, String)>,
}

impl Doc {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.tags.is_empty()
    }
}

impl Type {
    /// An object that may hold anything.
    pub fn any_object() -> Self {
        Self::Object(Object {
            others: Some(Box::new(Others {
                ty: Self::Unknown,
                doc: Doc::default(),
            })),
            ..Object::default()
        })
    }

    /// One of `members`: flat, without repetition, and simplified where that is certain.
    pub fn union(members: Vec<Self>) -> Self {
        let mut flat: Vec<Self> = Vec::with_capacity(members.len());
        for member in members {
            let inner = match member {
                Self::Union(inner) => inner,
                Self::Never => continue,
                other => vec![other],
            };
            for one in inner {
                if one == Self::Unknown {
                    return Self::Unknown;
                }
                if !flat.contains(&one) {
                    flat.push(one);
                }
            }
        }
        match flat.len() {
            0 => Self::Never,
            1 => flat.swap_remove(0),
            _ => Self::Union(flat),
        }
    }

    /// All of `members` at once. Objects become one object, which reads better.
    pub fn intersection(members: Vec<Self>) -> Self {
        let mut rest: Vec<Self> = Vec::with_capacity(members.len());
        for member in members {
            let inner = match member {
                Self::Intersection(inner) => inner,
                Self::Unknown => continue,
                other => vec![other],
            };
            for one in inner {
                let known = rest
                    .iter()
                    .position(|known| matches!(known, Self::Object(_)));
                match (one, known.map(|at| &mut rest[at])) {
                    (Self::Object(object), Some(Self::Object(known))) => known.merge(object),
                    (one, _) => {
                        if !rest.contains(&one) {
                            rest.push(one);
                        }
                    }
                }
            }
        }
        match rest.len() {
            0 => Self::Unknown,
            1 => rest.swap_remove(0),
            _ if rest.contains(&Self::Never) => Self::Never,
            _ => Self::Intersection(rest),
        }
    }
}

impl Object {
    /// Both objects at once.
    fn merge(&mut self, other: Self) {
        for field in other.fields {
            match self
                .fields
                .iter_mut()
                .find(|known| known.name == field.name)
            {
                None => self.fields.push(field),
                Some(known) => {
                    known.optional &= field.optional;
                    if known.doc.is_empty() {
                        known.doc = field.doc;
                    }
                    if known.ty != field.ty {
                        let both = vec![std::mem::replace(&mut known.ty, Type::Unknown), field.ty];
                        known.ty = Type::intersection(both);
                    }
                }
            }
        }
        // A key that one part does not name may still be named by the other.
        self.others = match (self.others.take(), other.others) {
            (Some(one), Some(two)) => Some(Box::new(Others {
                ty: Type::intersection(vec![one.ty, two.ty]),
                doc: one.doc,
            })),
            (one, two) => one.or(two),
        };
        self.closed |= other.closed;
    }
}
